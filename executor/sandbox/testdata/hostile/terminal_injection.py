# class: ok
# denied: ioctl
# stdout: refused
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def call(nr, *args):
    r = libc.syscall(nr, *args)
    return r, ctypes.get_errno() if r < 0 else 0
import fcntl
try: fcntl.ioctl(0, 0x5412, b"x"); print("injected")
except OSError: print("refused")
