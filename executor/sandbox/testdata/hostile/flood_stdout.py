# class: output_limit
# truncated: stdout
# limits: {"output_bytes": 100000}
import os
while True:
    os.write(1, b"a" * 65536)
