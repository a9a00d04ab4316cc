"""The walk over the tree."""


class Program(Named):
    """Walks the tree once and notes what is bound, defined, imported and
    mentioned. Names are resolved afterwards: one may be bound below its use."""

    def __init__(self, tree, text):
        self.text = text
        self.functions, self.imports, self.mentions, self.assigned = [], [], [], []
        self.module = Scope("module", None, "")
        stack = [(n, self.module) for n in reversed(tree.body)]
        while stack:
            node, scope = stack.pop()
            inner = self.enter(node, scope)
            stack.extend(reversed(inner))
        self.name_aliases()

    def enter(self, node, scope):
        """Notes what node binds and mentions; returns what is below it, each
        with its scope."""
        kind = type(node).__name__
        visit = getattr(self, "visit_" + kind, None)
        if visit is not None:
            below = visit(node, scope)
            if below is not None:
                return below
        if isinstance(node, FUNCTIONS):
            return self.function(node, scope)
        if isinstance(node, COMPREHENSIONS):
            scope = Scope("function", scope, scope.prefix)
        return [(child, scope) for child in children(node)]

    # Names that are used.

    def visit_Name(self, node, scope):
        if isinstance(node.ctx, _ast.Load):
            self.mentions.append(("use", node, node, scope))
        else:
            scope.bind(node.id, None)

    def visit_Attribute(self, node, scope):
        self.mentions.append(("use", node, node, scope))

    def visit_Subscript(self, node, scope):
        self.mentions.append(("use", node, node, scope))

    def visit_Call(self, node, scope):
        self.mentions.append(("call", node, node.func, scope))
        self.mentions.append(("use", node, node, scope))  # getattr(os, "system")

    # Names that are bound.

    def visit_Import(self, node, scope):
        for a in node.names:
            self.imports.append({"module": a.name, "line": node.lineno})
            if a.asname:
                scope.bind(a.asname, a.name)
            else:
                top = a.name.split(".")[0]
                scope.bind(top, top)

    def visit_ImportFrom(self, node, scope):
        module = "." * (node.level or 0) + (node.module or "")
        self.imports.append({"module": module, "names": [a.name for a in node.names], "line": node.lineno})
        for a in node.names:
            if a.name == "*":
                self.module.stars.append(module)
            else:
                scope.bind(a.asname or a.name, member(module, a.name))

    def visit_Global(self, node, scope):
        for name in node.names:
            if scope is not self.module:
                scope.outer[name] = self.module

    def visit_Nonlocal(self, node, scope):
        owner = scope.parent
        while owner is not None and owner.kind == "class":
            owner = owner.parent
        for name in node.names:
            scope.outer[name] = owner or self.module

    def visit_Assign(self, node, scope):
        below = []
        for target in node.targets:
            below += self.assign(target, node.value, scope)
        return below + [(node.value, scope)]

    def visit_AnnAssign(self, node, scope):
        below = [(node.annotation, scope)]
        if node.value is None:
            return below
        return self.assign(node.target, node.value, scope) + below + [(node.value, scope)]

    def visit_NamedExpr(self, node, scope):
        return self.assign(node.target, node.value, scope) + [(node.value, scope)]

    def assign(self, target, value, scope):
        """Binds a target to a value, pairwise where both are tuples; returns
        the targets that are not names."""
        if isinstance(target, _ast.Name):
            scope.bind(target.id, (value, scope))
            if isinstance(value, _ast.Lambda):
                self.add_function(target.id, value, value.args, None, False, scope)
            elif isinstance(value, _ast.Name) and scope is self.module:
                self.assigned.append((target.id, value.id, target.lineno))
            return []
        pairs = (_ast.Tuple, _ast.List)
        if isinstance(target, pairs) and isinstance(value, pairs) and len(target.elts) == len(value.elts) \
                and not any(isinstance(e, _ast.Starred) for e in target.elts + value.elts):
            below = []
            for t, v in zip(target.elts, value.elts):
                if isinstance(t, _ast.Name):
                    below += self.assign(t, v, scope)
                else:
                    below.append((t, scope))
            return below
        return [(target, scope)]

    def visit_ExceptHandler(self, node, scope):
        if node.name:
            scope.bind(node.name, None)

    def visit_MatchAs(self, node, scope):
        if node.name:
            scope.bind(node.name, None)

    visit_MatchStar = visit_MatchAs

    def visit_MatchMapping(self, node, scope):
        if node.rest:
            scope.bind(node.rest, None)

    def visit_ClassDef(self, node, scope):
        scope.bind(node.name, None)
        inner = Scope("class", scope, scope.prefix + node.name + ".")
        around = [(n, scope) for n in node.decorator_list + node.bases] + [(k.value, scope) for k in node.keywords]
        return around + [(n, inner) for n in getattr(node, "type_params", []) + node.body]

    def visit_Lambda(self, node, scope):
        inner = Scope("function", scope, scope.prefix + "<lambda>.<locals>.")
        return self.arguments(node.args, scope, inner) + [(node.body, inner)]

    def function(self, node, scope):
        scope.bind(node.name, None)
        self.add_function(node.name, node, node.args, node.returns, isinstance(node, _ast.AsyncFunctionDef), scope)
        inner = Scope("function", scope, scope.prefix + node.name + ".<locals>.")
        around = [(n, scope) for n in node.decorator_list] + self.arguments(node.args, scope, inner)
        if node.returns is not None:
            around.append((node.returns, scope))
        return around + [(n, inner) for n in getattr(node, "type_params", []) + node.body]

    def arguments(self, args, scope, inner):
        """Binds parameters; one with a default may stand for it."""
        positional = getattr(args, "posonlyargs", []) + args.args
        defaults = [None] * (len(positional) - len(args.defaults)) + args.defaults
        below = []
        for a, default in list(zip(positional, defaults)) + list(zip(args.kwonlyargs, args.kw_defaults)):
            inner.bind(a.arg, None)
            if default is not None:
                inner.bind(a.arg, (default, scope))
                below.append((default, scope))
        for a in positional + args.kwonlyargs + [a for a in (args.vararg, args.kwarg) if a is not None]:
            inner.bind(a.arg, None)
            if a.annotation is not None:
                below.append((a.annotation, scope))
        return below


def children(node):
    for field in node._fields:
        value = getattr(node, field, None)
        if isinstance(value, _ast.AST):
            yield value
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, _ast.AST):
                    yield item
