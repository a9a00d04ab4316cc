import os as o, re
from subprocess import run as r
from typing import List
def f(a, b: int = 3, *args, c, d="x", **kw) -> List[int]:
    def inner(x): return eval(x)
    o.system("ls"); getattr(o, "po" + "pen")("x"); r(["ls"])
    return [inner(i) for i in args]
class C:
    def m(self): return self.__class__.__subclasses__()
    n = lambda self: 0
g = lambda x, /, y=1: x
h = f
__import__("socket").socket()
s = o.system
s("x")
map(exec, ["1"])
async def k(): pass
def eval2(): pass
eval2()
