"""The document that is printed."""


def encode(v):
    """JSON. The documents here are four levels deep at most."""
    if v is None:
        return "null"
    if v is True or v is False:
        return "true" if v else "false"
    if isinstance(v, int):
        return str(v)
    if isinstance(v, str):
        return quote(v)
    if isinstance(v, dict):
        return "{" + ",".join(quote(k) + ":" + encode(x) for k, x in v.items()) + "}"
    return "[" + ",".join(encode(x) for x in v) + "]"


def facts(source):
    doc = {
        "analyser": "CPython %d.%d.%d" % sys.version_info[:3], "digest": sha256(source).hexdigest(),
        "source_type": "script", "parses": False, "error": None, "code_hash": "",
        "functions": [], "imports": [], "calls": [], "uses": [],
    }
    try:
        tree = parse(source)
        program = Program(tree, Text(source))
        calls, uses = program.resolved()
        found = dict(doc, parses=True, code_hash=code_hash(tree), functions=program.functions, imports=program.imports, calls=calls, uses=uses)
        text = encode(found)
        if len(text) <= MAX_OUTPUT:
            return text
        raise Unreadable("the program has more functions and names than are looked at", 1, 1)
    except Unreadable as e:
        message, line, column = e.args
        return encode(dict(doc, error={"message": message[:500], "line": line, "column": column}))
    except (RecursionError, MemoryError):
        return encode(dict(doc, error={"message": "the program is nested too deeply to be looked at", "line": 1, "column": 1}))
    except Exception as e:  # a program that confuses the analyser is refused, and is not the machine's fault
        return encode(dict(doc, error={"message": "the program cannot be looked at: %s" % type(e).__name__, "line": 1, "column": 1}))


if __name__ == "__main__":
    sys.stdout.write(facts(sys.stdin.buffer.read()) + "\n")
    sys.stdout.flush()
    posix._exit(0)  # taking the interpreter down would take longer than the analysis
