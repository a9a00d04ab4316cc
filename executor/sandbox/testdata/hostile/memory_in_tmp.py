# class: out_of_memory disk_limit
# limits: {"memory_bytes": 67108864, "disk_bytes": 1073741824, "file_bytes": 1073741824}
with open("/tmp/big", "wb") as f:
    while True:
        f.write(b"x" * (1 << 20))
