# class: runtime_error
# denied: socket
# detail: refused before: the system calls socket): ZeroDivisionError
import socket
try: socket.socket()
except OSError: pass
1 / 0
