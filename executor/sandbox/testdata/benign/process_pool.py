# stdout: 6
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
with ProcessPoolExecutor(2) as p: print(sum(p.map(abs, [1, 2, 3])))
with ThreadPoolExecutor(8) as p: assert sum(p.map(abs, [1, 2, 3])) == 6
