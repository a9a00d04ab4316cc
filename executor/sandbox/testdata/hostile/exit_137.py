# class: runtime_error
# exit: 137
# status: error
import sys
sys.exit(137)
