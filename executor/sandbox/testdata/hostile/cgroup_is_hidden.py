# class: ok
# stdout: hidden
print("hidden" if "callgate" not in open("/proc/self/cgroup").read() else "seen")
