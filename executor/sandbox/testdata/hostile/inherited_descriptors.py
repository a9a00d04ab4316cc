# class: ok
# stdout: [0, 1, 2]
import os
fds = []
for fd in range(0, 1024):
    try: os.fstat(fd); fds.append(fd)
    except OSError: pass
print(fds)
