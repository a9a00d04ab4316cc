# class: process_limit
# stdout: refused
import os, time
try:
    while True:
        if os.fork() == 0:
            time.sleep(60)
except BlockingIOError:
    print("refused"); raise
