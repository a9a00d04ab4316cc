# class: syscall_denied
# denied: socket
import urllib.request
urllib.request.urlopen("http://1.1.1.1/", timeout=5)
