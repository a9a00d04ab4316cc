# class: runtime_error
# signal: SIGXFSZ
import os, signal
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
os.kill(os.getpid(), signal.SIGXFSZ)
