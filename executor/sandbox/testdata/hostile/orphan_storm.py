# class: wall_timeout cpu_timeout process_limit
# limits: {"wall_ms": 1500}
import os
while True:
    try:
        if os.fork() == 0:
            if os.fork() == 0: os._exit(0)
            os._exit(0)
        os.waitpid(-1, os.WNOHANG)
    except OSError: pass
