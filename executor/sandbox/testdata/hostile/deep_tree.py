# class: ok
import os
for _ in range(500):
    os.mkdir("d"); os.chdir("d")
open("bottom", "w").write("x")
