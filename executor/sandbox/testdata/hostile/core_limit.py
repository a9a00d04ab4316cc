# class: ok
# denied: prlimit64
# stdout: (1, 1) kept
import resource
import ctypes
print(resource.getrlimit(resource.RLIMIT_CORE), end=" ")
changed = []
libc = ctypes.CDLL(None, use_errno=True)
zero = (ctypes.c_ulong * 2)(0, 0)
for nr, args in ((160, (4, zero)), (160, (ctypes.c_ulong(4 | 1 << 32), zero)), (302, (0, 4, zero, 0)), (302, (0, ctypes.c_ulong(4 | 1 << 40), zero, 0))):
    if libc.syscall(nr, *args) == 0: changed.append(nr)
print(changed or "kept")
