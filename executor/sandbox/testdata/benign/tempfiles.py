# stdout: ok
import tempfile, os
with tempfile.TemporaryDirectory() as d:
    open(os.path.join(d, "x"), "w").write("x")
with tempfile.NamedTemporaryFile() as f: f.write(b"x")
with tempfile.TemporaryFile() as f: f.write(b"x")
print("ok")
