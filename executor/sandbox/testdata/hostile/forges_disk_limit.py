# class: runtime_error
# status: error
import sys
sys.exit("OSError: [Errno 28] No space left on device; File too large; ENOSPC")
