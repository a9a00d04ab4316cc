# class: ok
# stdin: secret
# stdout: sealed
import os
try: fd = os.open("/proc/self/fd/0", os.O_RDWR); os.write(fd, b"x"); print("written")
except OSError: print("sealed")
