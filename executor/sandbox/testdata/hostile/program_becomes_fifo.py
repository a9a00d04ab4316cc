# class: ok
# skipped: main.py
import os
os.unlink("/workspace/main.py")
os.mkfifo("/workspace/main.py")
