# class: disk_limit
# limits: {"file_bytes": 1048576}
with open("big", "wb") as f:
    for _ in range(100):
        f.write(b"x" * 65536)
