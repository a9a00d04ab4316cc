
// Functions, calls and uses: what a program defines and mentions, by name.

const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

class Named {
  constructor(code) {
    this.code = code;
    this.functions = [];
    this.imports = [];
    this.mentions = [];
    this.aliases = [];
  }

  text(node) {
    if (!node) return "";
    const s = this.code.slice(node.start, Math.min(node.end, node.start + MAX_TEXT + 1));
    return s.length > MAX_TEXT ? `${s.slice(0, MAX_TEXT).toWellFormed?.() ?? s.slice(0, MAX_TEXT)}…` : s;
  }

  addFunction(name, node, scope) {
    const params = node.params.map((p) => {
      if (p.type === "RestElement") return { name: this.text(p.argument), kind: "var_positional", annotation: "", default: "" };
      const [target, value] = p.type === "AssignmentPattern" ? [p.left, p.right] : [p, null];
      return { name: this.text(target), kind: "positional_only", annotation: "", default: this.text(value) };
    });
    this.functions.push({ name: scope.prefix + name, params, returns: "", async: node.async, line: node.loc.start.line });
  }

  addImport(module, names, node) {
    const entry = { module, line: node.loc.start.line };
    if (names.length > 0) entry.names = names;
    this.imports.push(entry);
  }

  // const solve = inner at top level defines solve too.
  nameAliases() {
    const known = new Map(this.functions.map((f) => [f.name, f]));
    for (const { name, of, line } of this.aliases) {
      if (!known.has(of)) continue;
      const copy = { ...known.get(of), name, line };
      known.set(name, copy);
      this.functions.push(copy);
    }
  }

  // resolved returns calls and uses by name, each at its first place.
  resolved() {
    const calls = new Map();
    const uses = new Map();
    const note = (into, name, node, local) => {
      const key = `${local ? "local " : ""}${name}`;
      if (into.has(key)) return;
      const entry = { name: name.slice(0, MAX_TEXT), line: node.loc.start.line, column: node.loc.start.column + 1 };
      if (local) entry.local = true;
      into.set(key, entry);
    };
    for (const { kind, node, target, scope } of this.mentions) {
      const names = resolve(target, scope);
      for (const name of names) note(kind === "call" ? calls : uses, name, node, false);
      if (kind === "call" && names.size === 0) {
        if (target.type === "Identifier" && scope.find(target.name)) note(calls, target.name, node, true);
        const made = constructed(target);
        if (made) note(calls, made, node, false);
      }
      if (kind === "use" && (target.type === "CallExpression" || target.type === "ImportExpression")) this.fetched(target, scope);
    }
    return { calls: [...calls.values()], uses: [...uses.values()] };
  }

  // fetched notes what require("…") and import("…") name.
  fetched(node, scope) {
    const fetches = node.type === "ImportExpression" || REQUIRES.some((r) => resolve(node.callee, scope).has(r));
    const from = node.type === "ImportExpression" ? node.source : node.arguments[0];
    const name = fetches && from ? literal(from) : null;
    if (name !== null) this.addImport(name, [], node);
  }
}

// constructed finds the function constructor behind a value: x.constructor of a
// function, and of whatever is itself a constructor, is Function.
function constructed(node) {
  if (node.type !== "MemberExpression" || propertyName(node) !== "constructor") return null;
  const of = node.object;
  return FUNCTIONS.has(of.type) || (of.type === "MemberExpression" && propertyName(of) === "constructor") ? "Function" : null;
}
