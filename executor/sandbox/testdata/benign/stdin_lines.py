# stdout: 6
# stdin: 1\n2\n3\n
print(sum(map(int, open("/dev/stdin"))))
