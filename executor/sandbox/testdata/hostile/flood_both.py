# class: output_limit
# limits: {"output_bytes": 100000}
import os
if os.fork() == 0:
    while True: os.write(2, b"e" * 4096)
while True: os.write(1, b"o" * 4096)
