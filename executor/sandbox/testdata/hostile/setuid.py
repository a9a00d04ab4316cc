# class: ok
# stdout: 1000 1000
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def call(nr, *args):
    r = libc.syscall(nr, *args)
    return r, ctypes.get_errno() if r < 0 else 0
for f in (os.setuid, os.setgid):
    for i in (0, 1001, 65534):
        try: f(i); print("became", i)
        except OSError: pass
print(os.getuid(), os.getgid())
