"""Functions, calls and uses."""


class Named:
    """What a program defines and mentions, by name: the part of Program that
    is asked after the walk."""

    def add_function(self, name, node, args, returns, is_async, scope):
        params = []

        def add(a, kind, default=None):
            params.append({"name": a.arg, "kind": kind, "annotation": self.text.of(a.annotation), "default": self.text.of(default)})

        only = getattr(args, "posonlyargs", [])
        positional = only + args.args
        defaults = [None] * (len(positional) - len(args.defaults)) + args.defaults
        for i, (a, default) in enumerate(zip(positional, defaults)):
            add(a, "positional_only" if i < len(only) else "positional_or_keyword", default)
        if args.vararg is not None:
            add(args.vararg, "var_positional")
        for a, default in zip(args.kwonlyargs, args.kw_defaults):
            add(a, "keyword_only", default)
        if args.kwarg is not None:
            add(args.kwarg, "var_keyword")
        self.functions.append({"name": scope.prefix + name, "params": params, "returns": self.text.of(returns), "async": is_async, "line": node.lineno})

    def name_aliases(self):
        """solve = _solve at module level defines solve too."""
        known = {f["name"]: f for f in self.functions}
        for name, of, line in self.assigned:
            if of in known:
                known[name] = dict(known[of], name=name, line=line)
                self.functions.append(known[name])

    def resolved(self):
        """Calls and uses by name, each at its first place."""
        calls, uses = {}, {}
        for kind, node, target, scope in self.mentions:
            if isinstance(target, _ast.Name) and kind == "call":
                local = target.id not in resolve(target, scope) and self.is_bound(target.id, scope)
                names = resolve(target, scope)
                if not names and local:
                    calls.setdefault((target.id, True), node)
            else:
                names = resolve(target, scope)
            into = calls if kind == "call" else uses
            for name in names:
                if not name.startswith("<"):
                    into.setdefault((name, False), node)
            if kind == "use" and isinstance(target, _ast.Attribute) and not names and target.attr.startswith("__"):
                uses.setdefault(("?." + target.attr, False), node)
            if kind == "use" and isinstance(target, _ast.Call):
                self.dynamic_import(target, scope)
        return self.places(calls), self.places(uses)

    def is_bound(self, name, scope):
        while scope is not None:
            if name in scope.bound:
                return True
            scope = scope.parent
        return False

    def dynamic_import(self, node, scope):
        if node.args and resolve(node.func, scope) & {"__import__", "importlib.import_module", "importlib.__import__"}:
            module = literal(node.args[0])
            if module is not None:
                self.imports.append({"module": module, "line": node.lineno})

    def places(self, found):
        out = []
        for (name, local), node in found.items():
            entry = {"name": name[:MAX_TEXT], "line": node.lineno, "column": self.text.column(node)}
            if local:
                entry["local"] = True
            out.append(entry)
        return out
