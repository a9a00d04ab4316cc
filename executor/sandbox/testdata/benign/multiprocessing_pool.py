# stdout: [0, 1, 4, 9]
import multiprocessing as mp
def f(x): return x * x
if __name__ == "__main__":
    with mp.Pool(3) as p: print(p.map(f, range(4)))
