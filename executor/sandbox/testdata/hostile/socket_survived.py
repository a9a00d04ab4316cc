# class: ok
# denied: socket
# stdout: EPERM at once
import socket, time
t = time.monotonic()
for f in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK, socket.AF_PACKET if hasattr(socket, "AF_PACKET") else 17, 38, 40):
    try: socket.socket(f, socket.SOCK_STREAM); print("socket of", f)
    except PermissionError: pass
print("EPERM at once" if time.monotonic() - t < 2 else "slow")
