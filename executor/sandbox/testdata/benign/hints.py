# stdout: done
# Advice, writing out, options and priorities, as libraries ask for them.
import mmap, os, socket
with open('file', 'w+b') as f:
    f.write(b'a' * 100000)
    f.flush()
    with mmap.mmap(f.fileno(), 0) as m:
        m[0:1] = b'b'
        m.flush()
        for advice in (mmap.MADV_SEQUENTIAL, mmap.MADV_WILLNEED, mmap.MADV_DONTNEED, mmap.MADV_DONTFORK): m.madvise(advice)
    os.fsync(f.fileno())
    os.fdatasync(f.fileno())
    for advice in (os.POSIX_FADV_SEQUENTIAL, os.POSIX_FADV_WILLNEED, os.POSIX_FADV_DONTNEED): os.posix_fadvise(f.fileno(), 0, 0, advice)
    assert os.preadv(f.fileno(), [bytearray(10)], 0) == 10
a, b = socket.socketpair()
a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
os.nice(1)
os.sched_setaffinity(0, os.sched_getaffinity(0))
print('done')
