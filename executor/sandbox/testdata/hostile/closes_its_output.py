# class: ok
import os
os.close(1); os.close(2); os.close(0)
os._exit(0)
