# class: ok
# stdout: ENOSYS
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def call(nr, *args):
    r = libc.syscall(nr, *args)
    return r, ctypes.get_errno() if r < 0 else 0
import errno
r, e = call(435, ctypes.create_string_buffer(88), 88)
if r == 0: os._exit(0)
print(errno.errorcode[e])
