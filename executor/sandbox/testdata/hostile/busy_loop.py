# class: cpu_timeout
# status: timeout
# limits: {"cpu_ms": 300}
print("before", end="")
while True: pass
