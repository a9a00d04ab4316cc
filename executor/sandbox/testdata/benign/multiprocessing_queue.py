# stdout: 7
import multiprocessing as mp
def f(q): q.put(7)
if __name__ == "__main__":
    q = mp.Queue(); p = mp.Process(target=f, args=(q,)); p.start(); print(q.get()); p.join()
