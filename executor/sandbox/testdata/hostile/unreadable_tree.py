# class: ok
import os
os.mkdir("closed"); open("closed/f", "w").write("x"); os.chmod("closed/f", 0); os.chmod("closed", 0)
