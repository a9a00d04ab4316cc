# class: ok
# skipped: hole
# limits: {"file_bytes": 2199023255552}
import os
fd = os.open("hole", os.O_CREAT | os.O_WRONLY)
os.ftruncate(fd, 1 << 40)
os.write(fd, b"x")
