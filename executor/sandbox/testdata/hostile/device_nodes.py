# class: ok
# stdout: none
import os, stat
made = []
for kind in (stat.S_IFBLK, stat.S_IFCHR):
    try: os.mknod("dev", 0o666 | kind, os.makedev(254, 0)); made.append(kind)
    except OSError: pass
print(made or "none")
