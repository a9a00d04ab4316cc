# class: disk_limit
# limits: {"disk_bytes": 4194304}
# /tmp is full, and what the program says is another thing.
import sys
try:
    with open("/tmp/big", "wb") as f:
        while True:
            f.write(b"x" * 65536)
except OSError:
    sys.exit("it did not work")
