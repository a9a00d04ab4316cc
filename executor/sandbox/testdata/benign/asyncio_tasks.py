# stdout: [0, 1, 2] done
import asyncio
async def f(i):
    await asyncio.sleep(0.01); return i
async def main():
    r = await asyncio.gather(*(f(i) for i in range(3)))
    p = await asyncio.create_subprocess_exec("echo", "done", stdout=asyncio.subprocess.PIPE)
    print(r, (await p.communicate())[0].decode().strip())
asyncio.run(main())
