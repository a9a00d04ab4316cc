"""A small analyser for tests: what CPython's own parser says of a program."""
import ast
import json
import sys

source = sys.stdin.buffer.read()
out = {"parses": True, "error": None, "functions": [], "imports": []}
try:
    tree = ast.parse(source)
    compile(source, "program", "exec")
except (SyntaxError, ValueError, MemoryError, RecursionError) as e:
    out["parses"] = False
    out["error"] = {"line": getattr(e, "lineno", 0) or 1, "column": getattr(e, "offset", 0) or 1, "message": str(e)}
else:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            params = [{"name": a.arg, "kind": "positional_or_keyword", "annotation": "", "default": ""} for a in node.args.args]
            out["functions"].append({"name": node.name, "params": params, "returns": "", "async": False, "line": node.lineno})
        elif isinstance(node, ast.Import):
            out["imports"] += [{"module": a.name, "line": node.lineno} for a in node.names]
json.dump(out, sys.stdout)
