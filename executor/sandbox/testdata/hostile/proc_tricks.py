# class: ok
# stdout: none
import os
through = []
for p in ["/proc/self/root/../..", "/proc/self/cwd/..", "/proc/thread-self/root", "/proc/1/root/etc"]:
    try:
        if set(os.listdir(p)) & {"root", "home", "var", "boot", "sys"}: through.append(p)
    except OSError: pass
mounts = open("/proc/self/mountinfo").read()
for word in ("cgroup", "callgate", "sysfs", "devpts"):
    if word in mounts: through.append(word)
print(through or "none")
