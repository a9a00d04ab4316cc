# class: runtime_error
# detail: refused before: more than 32 processes
import os, time
try:
    while True:
        if os.fork() == 0:
            time.sleep(60)
except BlockingIOError:
    pass
raise ValueError("something else")
