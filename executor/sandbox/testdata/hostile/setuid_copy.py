# class: ok
# stdout: 1000
import os, shutil, subprocess
shutil.copy("/usr/bin/id", "/workspace/id")
try: os.chmod("/workspace/id", 0o6755)
except OSError: pass
print(subprocess.run(["/workspace/id", "-u"], capture_output=True, text=True).stdout.strip())
os.unlink("/workspace/id")
