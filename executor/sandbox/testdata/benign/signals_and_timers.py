# stdout: alarm
import signal
signal.signal(signal.SIGALRM, lambda *a: (print("alarm"), exit(0)))
signal.setitimer(signal.ITIMER_REAL, 0.05); signal.pause()
