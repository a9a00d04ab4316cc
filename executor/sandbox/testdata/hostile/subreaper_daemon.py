# class: ok
# stdout: done
import ctypes, os, time
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
for _ in range(5):
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
        if os.fork() == 0: os.setsid(); time.sleep(1000)
        os._exit(0)
print("done")
