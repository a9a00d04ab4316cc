# stdout: ''
import sys
print(repr(open("/dev/stdin").read() + sys.stdin.read()))
