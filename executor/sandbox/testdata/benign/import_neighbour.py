# stdout: 42
# file: helper.py ANSWER = 42
import helper
print(helper.ANSWER)
