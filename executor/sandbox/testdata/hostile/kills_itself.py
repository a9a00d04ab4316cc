# class: runtime_error
# signal: SIGKILL
# status: error
import os, signal
os.kill(os.getpid(), signal.SIGKILL)
