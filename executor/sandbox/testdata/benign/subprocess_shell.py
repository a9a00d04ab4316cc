# stdout: 3 b'hello\n'
import subprocess
print(subprocess.run("exit 3", shell=True).returncode, subprocess.check_output(["echo", "hello"]))
