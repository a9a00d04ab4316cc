# class: ok
# stdout: 62914560
# skipped: claims/1 claims/7
# files: mapped part
# Files that hold a page each and claim as much as the workspace may hold, together.
import mmap, os
os.mkdir("claims")
for i in range(8):
    with open(f"claims/{i}", "wb") as f:
        f.truncate((60 << 20) // 8 + (1 << 20 if i else 0))
        f.write(b"x")
with open("mapped", "w+b") as f:
    f.truncate(1 << 16)
    m = mmap.mmap(f.fileno(), 1 << 16)
    m[:5] = b"start"
    m.close()
open("part", "wb").write(b"x" * 5000)
print(sum(os.stat(f"claims/{i}").st_size for i in range(8)) - (7 << 20))
