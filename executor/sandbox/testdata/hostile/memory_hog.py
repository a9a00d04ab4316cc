# class: out_of_memory
# limits: {"memory_bytes": 67108864}
x = []
while True:
    x.append(bytearray(1 << 20))
