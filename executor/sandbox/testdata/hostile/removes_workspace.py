# class: ok
import shutil, os
for e in os.listdir("/workspace"):
    os.unlink("/workspace/" + e)
try: os.rmdir("/workspace")
except OSError as e: print(e)
