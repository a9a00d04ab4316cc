# class: runtime_error
# exit: 3
import os
for fd in range(3, 64):
    try: os.write(fd, b"\x02\x00GC" + b"\x00" * 400)
    except OSError: pass
print('{"status":"ok"}')
os._exit(3)
