# class: ok
# stdout: none
import os
try: os.open("/dev/tty", os.O_RDWR); print("has one")
except OSError: print("none")
