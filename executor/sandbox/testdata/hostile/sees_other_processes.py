# class: ok
# stdout: 2
import os
print(len([p for p in os.listdir("/proc") if p.isdigit()]))
