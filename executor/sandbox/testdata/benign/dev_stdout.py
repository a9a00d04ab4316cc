# stdout: through the file
open("/dev/stdout", "w").write("through the file\n")
