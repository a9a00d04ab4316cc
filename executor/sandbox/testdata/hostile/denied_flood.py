# class: syscall_denied
# status: killed
# limits: {"denied_calls": 500}
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def call(nr, *args):
    r = libc.syscall(nr, *args)
    return r, ctypes.get_errno() if r < 0 else 0
while True: call(41, 2, 1, 0)
