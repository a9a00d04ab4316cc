# class: syscall_denied
# denied: socket
# status: error
import socket
socket.socket()
