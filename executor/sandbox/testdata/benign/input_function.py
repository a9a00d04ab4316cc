# stdout: a b
# stdin: a\nb\n
print(input(), input())
