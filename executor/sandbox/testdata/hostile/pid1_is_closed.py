# class: ok
# stdout: closed
import os
open_ = []
for f in ["mem", "maps", "environ", "fd", "cwd", "exe", "root", "auxv"]:
    p = "/proc/1/" + f
    try:
        (os.listdir if f == "fd" else os.readlink if f in ("cwd", "exe", "root") else lambda p: open(p, "rb").read(1))(p)
        open_.append(f)
    except OSError: pass
print(open_ or "closed")
