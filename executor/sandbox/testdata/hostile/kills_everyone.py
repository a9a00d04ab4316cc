# class: runtime_error
import os, signal
os.kill(-1, signal.SIGKILL)
os.kill(os.getpid(), signal.SIGKILL)
