# class: syscall_denied
# signal: SIGSYS
# status: killed
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def call(nr, *args):
    r = libc.syscall(nr, *args)
    return r, ctypes.get_errno() if r < 0 else 0
call(0x40000000 + 39)
