# class: ok
# stdout: ENOSYS
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def call(nr, *args):
    r = libc.syscall(nr, *args)
    return r, ctypes.get_errno() if r < 0 else 0
import errno
print(errno.errorcode[call(900)[1]])
