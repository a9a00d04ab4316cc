# class: cpu_timeout
# limits: {"cpu_ms": 400}
import os
for _ in range(4):
    if os.fork() == 0:
        while True: pass
os.wait()
