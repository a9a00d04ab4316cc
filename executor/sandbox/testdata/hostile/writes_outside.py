# class: ok
# stdout: none
import os
done = []
for p in ["/x", "/etc/passwd", "/usr/bin/x", "/usr/lib/python3.11/os.py", "/dev/x", "/proc/self/oom_score_adj", "/proc/1/oom_score_adj", "/proc/sys/kernel/core_pattern", "/bin/sh"]:
    try: open(p, "w").write("x"); done.append(p)
    except OSError: pass
for p in ["/usr/bin", "/etc", "/", "/workspace/..", "/dev"]:
    try: os.mkdir(p + "/made"); done.append(p)
    except OSError: pass
print(done or "none")
