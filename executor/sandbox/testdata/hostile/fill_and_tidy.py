# class: disk_limit
# limits: {"disk_bytes": 4194304}
# Nothing is left when the run has ended: what remains is the interpreter's own error.
import tempfile
with tempfile.NamedTemporaryFile() as f:
    while True:
        f.write(b"x" * 65536)
