x = f"a" "b" f"{1!r:>{10}}c" "" f"{x:}" f"{x=}"
d = {1: 2, **{}}
def z(a, /, *, b=0x10, c=1_000): 
    """doc"""
    return a[1:2, ::3], a[1], a[:], None, ..., 1e999, 3j, b"x", u"y", not a
with (open("x")) as q, open("y") as p: pass
async def g():
    async for i in x: yield i
    return
try: pass
except (A, B) as e: raise X from e
finally: pass
lambda: (yield)
@deco
class K(B, metaclass=M): x: int = 3; (y): str
global_ = [i for i in z] if 0 else {j for j in y if j if k}
print(*a, **b); del q; assert x, "m"; nonlocal_ = 1; x @= 2; x = a if b else c; a < b < c; a and b or c; f"{a!s}{b!a:{c}.{d}}"
while 1: break
else: pass
"\ud800"
