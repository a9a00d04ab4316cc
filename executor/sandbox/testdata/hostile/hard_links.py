# class: ok
# limits: {"disk_bytes": 8388608}
import os
open("big", "wb").write(b"x" * (6 << 20))
for i in range(500): os.link("big", f"link{i}")
