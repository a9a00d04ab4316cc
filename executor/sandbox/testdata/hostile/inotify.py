# class: ok
# stdout: inotify_init ENOSYS inotify_init1 ENOSYS fanotify EPERM
# denied: fanotify_init
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
def tried(name, fd):
    print(name, "WATCHES" if fd >= 0 else errno.errorcode[ctypes.get_errno()], end=" ")
tried("inotify_init", libc.inotify_init())
tried("inotify_init1", libc.inotify_init1(0))
tried("fanotify", libc.fanotify_init(0x200, 0))  # FAN_REPORT_FID: since Linux 5.13 without a capability
