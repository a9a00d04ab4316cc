"""Scopes, and what a name in one of them may stand for."""


class Scope:
    """Where a name is looked up. bound maps a name to what it may stand for:
    a dotted name, an (expression, scope) to be followed, or None for a value
    that only a run knows."""

    def __init__(self, kind, parent, prefix):
        self.kind, self.parent, self.prefix = kind, parent, prefix
        self.bound, self.stars, self.outer, self.memo = {}, [], {}, {}

    def bind(self, name, value):
        target = self.outer.get(name, self)
        target.bound.setdefault(name, []).append(value)

    def module(self):
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def lookup(self, name, depth):
        """What name may stand for: dotted names; none where that is unknown."""
        scope, first = self.outer.get(name, self), True
        while scope is not None:
            if name in scope.bound and (first or scope.kind != "class"):
                return scope.follow(name, depth)
            scope, first = scope.parent, False
        stars = self.module().stars
        return frozenset([name] + [m + "." + name for m in stars])

    def follow(self, name, depth):
        if name in self.memo:
            return self.memo[name]
        self.memo[name] = UNKNOWN  # a name defined by itself ends here
        found = set()
        for value in self.bound[name]:
            if len(found) > MAX_NAMES:
                break
            if isinstance(value, str):
                found.add(value)
            elif value is not None:
                found |= resolve(value[0], value[1], depth + 1)
        self.memo[name] = frozenset(found)
        return self.memo[name]


def literal(node):
    """A string that the program spells out, plain or added up."""
    parts, stack = [], [node]
    while stack:
        n = stack.pop()
        if isinstance(n, _ast.Constant) and isinstance(n.value, str):
            parts.append(n.value)
        elif isinstance(n, _ast.BinOp) and isinstance(n.op, _ast.Add) and len(stack) < MAX_DEPTH:
            stack += [n.right, n.left]
        else:
            return None
    return "".join(parts)


# What globals() and its like return: their members are the program's names.
NAMESPACE = "<globals>.__dict__"


def member(base, name):
    if base.endswith(".__dict__"):
        base = base[:-len(".__dict__")]
    if base in ("builtins", "__builtins__", "<globals>", "sys.modules"):
        return name
    return base + "." + name


def resolve(node, scope, depth=0):
    """The dotted names that an expression may stand for."""
    if depth > MAX_DEPTH:
        return UNKNOWN
    if isinstance(node, _ast.Name):
        return scope.lookup(node.id, depth)
    if isinstance(node, _ast.Attribute):
        return frozenset(member(b, node.attr) for b in resolve(node.value, scope, depth + 1))
    if isinstance(node, _ast.Subscript):
        key = node.slice
        if type(key).__name__ == "Index":
            key = key.value
        key = literal(key)
        holders = resolve(node.value, scope, depth + 1)
        return frozenset(member(b, key if key is not None else "*") for b in holders
                         if b in ("__builtins__", "sys.modules") or b.endswith(".__dict__"))
    if isinstance(node, _ast.NamedExpr):
        return resolve(node.value, scope, depth + 1)
    if isinstance(node, _ast.IfExp):
        return resolve(node.body, scope, depth + 1) | resolve(node.orelse, scope, depth + 1)
    if isinstance(node, _ast.Call):
        return resolve_call(node, scope, depth)
    return UNKNOWN


def resolve_call(node, scope, depth):
    """What calls that fetch a module or a member return."""
    names, args = resolve(node.func, scope, depth + 1), node.args
    if names & {"__import__", "importlib.import_module", "importlib.__import__"} and args:
        module = literal(args[0])
        if module is None:
            return UNKNOWN
        # __import__("a.b") is a; import_module("a.b") is a.b.
        return frozenset([module.split(".")[0] if "__import__" in names else module])
    if "getattr" in names and len(args) >= 2:
        key = literal(args[1])
        return frozenset(member(b, key if key is not None else "*") for b in resolve(args[0], scope, depth + 1))
    if "vars" in names and len(args) == 1:
        return frozenset(b + ".__dict__" for b in resolve(args[0], scope, depth + 1))
    if names & {"globals", "locals", "vars"} and not args:
        return frozenset([NAMESPACE])
    return UNKNOWN
