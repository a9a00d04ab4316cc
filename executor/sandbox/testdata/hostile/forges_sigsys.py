# class: syscall_denied
# signal: SIGSYS
# detail: ended by SIGSYS
import os, signal
os.kill(os.getpid(), signal.SIGSYS)
