# class: runtime_error
# detail: PermissionError
import socket
socket.socket(socket.AF_UNIX).bind("\0name")
