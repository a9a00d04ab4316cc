# stdout: 45
import threading
r = []
ts = [threading.Thread(target=r.append, args=(i,)) for i in range(10)]
[t.start() for t in ts]; [t.join() for t in ts]
print(sum(r))
