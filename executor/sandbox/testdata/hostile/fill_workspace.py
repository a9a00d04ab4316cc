# class: disk_limit
# limits: {"disk_bytes": 4194304}
with open("big", "wb") as f:
    while True:
        f.write(b"x" * 65536)
