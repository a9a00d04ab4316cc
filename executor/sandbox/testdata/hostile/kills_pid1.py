# class: ok
# stdout: still here
import os, signal
for s in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGCHLD, signal.SIGSEGV):
    try: os.kill(1, s)
    except OSError: pass
print("still here")
