# class: ok
# denied: clone
# stdout: []
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def call(nr, *args):
    r = libc.syscall(nr, *args)
    return r, ctypes.get_errno() if r < 0 else 0
through = []
for bit in (0x20000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):
    for high in (0, 1 << 33):
        r, e = call(56, ctypes.c_ulong(bit | 17 | high), 0, 0, 0, 0)
        if r == 0: os._exit(0)
        if (r, e) != (-1, 1): through.append((hex(bit), r, e))
print(through)
