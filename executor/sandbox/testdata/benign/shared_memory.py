# stdout: 5
from multiprocessing import shared_memory
s = shared_memory.SharedMemory(create=True, size=100); s.buf[0] = 5
t = shared_memory.SharedMemory(name=s.name); print(t.buf[0]); t.close(); s.close(); s.unlink()
