# class: wall_timeout
# stdout: the last words
# limits: {"wall_ms": 1500}
import time
print("the last words")
time.sleep(100)
