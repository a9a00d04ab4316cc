# class: ok
# stdout: clean
import os
bad = [k for k in os.environ if "SECRET" in k or "KEY" in k or "TOKEN" in k]
print(bad or ("clean" if os.environ["HOME"] == "/workspace" else "?"))
