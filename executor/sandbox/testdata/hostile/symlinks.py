# class: ok
# skipped: passwd up dir loop
import os
os.symlink("/etc/passwd", "passwd")
os.symlink("../../../../etc", "up")
os.symlink("/", "dir")
os.symlink("loop", "loop")
