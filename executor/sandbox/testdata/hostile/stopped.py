# class: wall_timeout
# limits: {"wall_ms": 400}
import os, signal
os.kill(os.getpid(), signal.SIGSTOP)
