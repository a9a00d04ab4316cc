# class: ok
# stdout: memfd EPERM mmap EPERM syncfs ENOSYS
import ctypes, errno, mmap, os
libc = ctypes.CDLL(None, use_errno=True)
try:
    os.memfd_create("x", 4)
    print("MADE")
except OSError as e:
    print("memfd", errno.errorcode[e.errno], end=" ")
try:
    mmap.mmap(-1, 2 << 20, flags=0x40000 | mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    print("MAPPED")
except OSError as e:
    print("mmap", errno.errorcode[e.errno], end=" ")
print("syncfs", "DONE" if libc.syncfs(os.open(os.__file__, os.O_RDONLY)) == 0 else errno.errorcode[ctypes.get_errno()])
