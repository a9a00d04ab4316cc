# class: process_limit wall_timeout cpu_timeout
# limits: {"wall_ms": 1500}
import os, signal
for s in range(1, 65):
    try: signal.signal(s, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True:
    try: os.fork()
    except OSError: pass
