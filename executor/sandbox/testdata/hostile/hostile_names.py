# class: ok
import os
for n in [b"\xff\xfe", b"new\nline", b"-rf", b"a" * 255, "\u202egnp.exe".encode(), b"..hidden", b"\x1b[31m"]:
    open(n, "w").write("x")
