"""The canonical form and its digest."""


def merged(values):
    """The parts of an f-string, with neighbouring text joined: versions of
    Python cut it differently."""
    out = []
    for v in values:
        if isinstance(v, _ast.Constant) and isinstance(v.value, str):
            if out and isinstance(out[-1], str):
                out[-1] += v.value
            elif v.value:
                out.append(v.value)
        else:
            out.append(v)
    return out


def constant(value):
    kind = type(value).__name__
    if isinstance(value, str):
        raw = value.encode("utf-8", "surrogatepass")
    elif isinstance(value, bytes):
        raw = value
    elif type(value) is int:
        raw = hex(value).encode()  # repr() refuses integers of many digits
    else:
        raw = repr(value).encode()
    return b"%s:%d:%s" % (kind.encode(), len(raw), raw)


SKIPPED = ("ctx", "type_comment", "type_ignores", "kind")


def code_hash(tree):
    """A digest of what the program says, whatever its comments, layout and the
    version of Python that reads it: nodes by name, their fields by name in
    alphabetical order, without those that are empty."""
    digest = sha256(b"cg1 python\n")
    stack = [tree]
    while stack:
        item = stack.pop()
        if isinstance(item, bytes):
            digest.update(item)
            continue
        if isinstance(item, list):
            digest.update(b"[")
            stack.append(b"]")
            stack.extend(reversed(item))
            continue
        if not isinstance(item, _ast.AST):
            digest.update(constant(item))
            continue
        name, fields = type(item).__name__, item._fields
        if name == "Index":  # Python 3.8 wraps what is between [ and ]
            stack.append(item.value)
            continue
        if name == "ExtSlice":
            name, values = "Tuple", [("elts", item.dims)]
        elif name == "JoinedStr":
            values = [("values", merged(item.values))]
        elif name == "Constant":
            digest.update(b"(Constant " + constant(item.value) + b")")
            continue
        else:
            values = [(f, getattr(item, f, None)) for f in sorted(fields) if f not in SKIPPED]
        digest.update(b"(" + name.encode())
        stack.append(b")")
        for field, value in reversed(values):
            if value is None or value == []:
                continue
            if field == "format_spec" and isinstance(value, _ast.JoinedStr) and not merged(value.values):
                continue
            stack.append(value)
            stack.append(b" " + field.encode() + b"=")
    return "cg1:" + digest.hexdigest()
