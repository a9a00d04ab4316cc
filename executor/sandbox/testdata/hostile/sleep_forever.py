# class: wall_timeout
# status: timeout
# stdout: before
# limits: {"wall_ms": 1500}
import time
print("before")
time.sleep(1000)
