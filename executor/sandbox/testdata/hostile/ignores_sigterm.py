# class: wall_timeout
# limits: {"wall_ms": 400}
import signal, time
for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(s, signal.SIG_IGN)
while True:
    time.sleep(1)
