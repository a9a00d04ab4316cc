# stdout: ok
# files: a.txt sub/b.bin
import os, shutil
open("a.txt", "w").write("abc"); os.makedirs("sub"); open("sub/b.bin", "wb").write(bytes(range(256)))
shutil.copy("a.txt", "c.txt"); os.rename("c.txt", "d.txt"); os.link("d.txt", "e.txt"); os.unlink("d.txt"); os.unlink("e.txt")
print("ok")
