# class: disk_limit
# signal: SIGXFSZ
# limits: {"file_bytes": 1048576}
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
with open("/tmp/big", "wb") as f:
    for _ in range(100):
        f.write(b"x" * 65536)
