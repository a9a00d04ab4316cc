# class: ok
# stdout: none
import os
found = []
for p in ["/etc/shadow", "/root", "/home", "/var", "/sys", "/proc/kallsyms", "/proc/cmdline", "/proc/config.gz", "/proc/sys",
          "/proc/meminfo", "/proc/kcore", "/proc/mounts_host", "/boot", "/run", "/mnt", "/srv", "/dev/vda", "/dev/mem", "/dev/kmsg", "/dev/pts", "/dev/tty", "/sys/fs/cgroup"]:
    if os.path.exists(p): found.append(p)
print(found or "none")
