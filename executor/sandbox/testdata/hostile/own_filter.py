# class: ok
# stdout: prctl EPERM seccomp EPERM socket EPERM
# denied: prctl seccomp socket
# A filter of its own that answers ENOSYS to everything but a few would hide what is denied.
import ctypes, errno, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
code = ctypes.create_string_buffer(struct.pack("HBBIHBBIHBBIHBBI", 0x20, 0, 0, 0, 0x15, 0, 1, 41, 6, 0, 0, 0x7ffc0000, 6, 0, 0, 0x7fff0000))
prog = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 4, ctypes.addressof(code)))
libc.prctl(38, 1, 0, 0, 0)
def tried(name, r):
    print(name, "INSTALLED" if r >= 0 else errno.errorcode[ctypes.get_errno()], end=" ")
tried("prctl", libc.prctl(22, 2, prog))
tried("seccomp", libc.syscall(317, 1, 0, prog))
try:
    socket.socket()
except OSError as e:
    print("socket", errno.errorcode[e.errno])
