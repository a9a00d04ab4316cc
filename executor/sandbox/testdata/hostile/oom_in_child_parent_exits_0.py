# class: out_of_memory
# exit: 0
# stdout: child gone, all is well
# limits: {"memory_bytes": 67108864}
import os
pid = os.fork()
if pid == 0:
    open("/proc/self/oom_score_adj").read()
    x = []
    while True:
        x.append(bytearray(1 << 20))
os.waitpid(pid, 0)
print("child gone, all is well")
