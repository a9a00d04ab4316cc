# stdout: [Errno 11] Resource temporarily unavailable | thread waited | child waited | [Errno 11] Resource temporarily unavailable
import fcntl, os, sys, threading, time
out = []
a, b = open('lock', 'w'), open('lock', 'w')
fcntl.flock(a, fcntl.LOCK_EX)
try: fcntl.flock(b, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError as e: out.append(str(e))
t = threading.Thread(target=lambda: (fcntl.flock(b, fcntl.LOCK_EX), out.append('thread waited')))
t.start()
fcntl.flock(a, fcntl.LOCK_UN)
t.join()
if os.fork() == 0:
    c = open('lock')
    fcntl.flock(c, fcntl.LOCK_SH)
    os._exit(0)
fcntl.flock(b, fcntl.LOCK_UN)
out.append('child waited' if os.wait()[1] == 0 else 'child failed')
fcntl.lockf(a, fcntl.LOCK_EX, 10)
if os.fork() == 0:
    try: fcntl.lockf(open('lock', 'w'), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as e: out.append(str(e))
    print(' | '.join(out))
    sys.stdout.flush()
    os._exit(0)
os.wait()
