# class: ok
# stdout: 1 0000000000000000 0000000000000000 2
s = dict(l.split(":\t", 1) for l in open("/proc/self/status").read().splitlines() if ":\t" in l)
print(s["NoNewPrivs"], s["CapEff"], s["CapBnd"], s["Seccomp"])
