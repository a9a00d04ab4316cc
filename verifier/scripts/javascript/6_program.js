
// The walk over the tree: notes what is bound, defined, imported and mentioned.
// Names are resolved afterwards, since one may be bound below its use.

const BLOCKS = new Set(["BlockStatement", "ForStatement", "ForInStatement", "ForOfStatement", "SwitchStatement", "StaticBlock"]);

class Program extends Named {
  constructor(tree, code) {
    super(code);
    this.top = new Scope("function", null, "");
    const stack = [[tree, this.top]];
    while (stack.length > 0) {
      const [node, scope] = stack.pop();
      const below = this.enter(node, scope);
      for (let i = below.length - 1; i >= 0; i--) if (below[i][0]) stack.push(below[i]);
    }
    this.nameAliases();
  }

  // enter returns what is below node, each with its scope.
  enter(node, scope) {
    const visit = this[node.type];
    if (visit) return visit.call(this, node, scope);
    if (FUNCTIONS.has(node.type)) return this.function(node, scope, node.id ? node.id.name : "<anonymous>");
    if (BLOCKS.has(node.type)) scope = new Scope("block", scope, scope.prefix);
    return children(node).map((child) => [child, scope]);
  }

  // Names that are used.

  Identifier(node, scope) {
    this.mentions.push({ kind: "use", node, target: node, scope });
    return [];
  }

  MemberExpression(node, scope) {
    this.mentions.push({ kind: "use", node, target: node, scope });
    return [[node.object, scope], [node.computed ? node.property : null, scope]];
  }

  CallExpression(node, scope) {
    this.mentions.push({ kind: "call", node, target: node.callee, scope }, { kind: "use", node, target: node, scope });
    return children(node).map((child) => [child, scope]);
  }

  NewExpression(node, scope) {
    this.mentions.push({ kind: "call", node, target: node.callee, scope });
    return children(node).map((child) => [child, scope]);
  }

  ImportExpression(node, scope) {
    this.mentions.push({ kind: "use", node, target: node, scope }, { kind: "call", node, target: { type: "Identifier", name: "import" }, scope: this.top });
    return [[node.source, scope]];
  }

  // Names that are bound.

  VariableDeclaration(node, scope) {
    const into = node.kind === "var" ? scope.owner() : scope;
    return node.declarations.flatMap((d) => this.assign(d.id, d.init, scope, into));
  }

  AssignmentExpression(node, scope) {
    if (!["=", "||=", "&&=", "??="].includes(node.operator)) return children(node).map((child) => [child, scope]);
    return this.assign(node.left, node.right, scope, null);
  }

  // assign binds a target to a value; into is null where the target's names
  // are declared elsewhere.
  assign(target, value, scope, into) {
    const below = this.pattern(target, value ? { node: value, scope } : null, scope, into);
    if (!value) return below;
    if (target.type === "Identifier") {
      if (FUNCTIONS.has(value.type)) {
        this.addFunction(target.name, value, scope);
        return below.concat(this.functionBody(value, scope, target.name));
      }
      if (value.type === "ClassExpression") return below.concat(this.classBody(value, scope, target.name));
      if (value.type === "Identifier" && scope === this.top) this.aliases.push({ name: target.name, of: value.name, line: target.loc.start.line });
    }
    below.push([value, scope]);
    return below;
  }

  // pattern binds the names of a pattern, and returns the expressions in it.
  pattern(p, value, scope, into) {
    if (!p) return [];
    switch (p.type) {
      case "Identifier":
        (into || scope.find(p.name) || this.top).bind(p.name, value);
        return [];
      case "AssignmentPattern":
        return this.pattern(p.left, value, scope, into).concat(this.pattern(p.left, { node: p.right, scope }, scope, into), [[p.right, scope]]);
      case "RestElement":
        return this.pattern(p.argument, null, scope, into);
      case "ArrayPattern":
        return p.elements.flatMap((e) => this.pattern(e, null, scope, into));
      case "ObjectPattern":
        return p.properties.flatMap((prop) => {
          if (prop.type === "RestElement") return this.pattern(prop.argument, null, scope, into);
          const key = prop.computed ? literal(prop.key) ?? "*" : prop.key.name ?? String(prop.key.value);
          return this.pattern(prop.value, value && { of: value, key }, scope, into).concat([[prop.computed ? prop.key : null, scope]]);
        });
      default:
        return [[p, scope]];
    }
  }

  FunctionDeclaration(node, scope) {
    const name = node.id ? node.id.name : "default"; // export default function
    scope.bind(name, null);
    scope.owner().bind(name, null);
    this.addFunction(name, node, scope);
    return this.functionBody(node, scope, name);
  }

  function(node, scope, name) {
    const inner = new Scope("block", scope, scope.prefix);
    if (node.id) inner.bind(node.id.name, null);
    return this.functionBody(node, inner, name);
  }

  functionBody(node, scope, name) {
    const inner = new Scope("function", scope, `${scope.prefix}${name}.<locals>.`);
    if (node.type !== "ArrowFunctionExpression") inner.bind("arguments", null);
    return node.params.flatMap((p) => this.pattern(p, null, inner, inner)).concat([[node.body, inner]]);
  }

  ClassDeclaration(node, scope) {
    const name = node.id ? node.id.name : "default";
    scope.bind(name, null);
    return this.classBody(node, scope, name);
  }

  ClassExpression(node, scope) {
    return this.classBody(node, scope, node.id ? node.id.name : "<anonymous>");
  }

  classBody(node, scope, name) {
    const inner = new Scope("block", scope, `${scope.prefix}${name}.`);
    if (node.id) inner.bind(node.id.name, null);
    const below = [[node.superClass, scope]];
    for (const m of node.body.body) {
      if (m.type === "StaticBlock") {
        below.push([m, inner]);
        continue;
      }
      const key = m.computed ? "<computed>" : m.key.name ?? String(m.key.value);
      below.push([m.computed ? m.key : null, inner]);
      if (m.value && FUNCTIONS.has(m.value.type)) {
        this.addFunction(key, m.value, inner);
        below.push(...this.functionBody(m.value, inner, key));
      } else {
        below.push([m.value, inner]);
      }
    }
    return below;
  }

  CatchClause(node, scope) {
    const inner = new Scope("block", scope, scope.prefix);
    return this.pattern(node.param, null, inner, inner).concat([[node.body, inner]]);
  }

  ImportDeclaration(node) {
    const module = moduleName(node.source.value);
    for (const s of node.specifiers) {
      const name = s.type === "ImportSpecifier" ? s.imported.name ?? s.imported.value : "default";
      this.top.bind(s.local.name, member(module, name));
    }
    this.addImport(node.source.value, node.specifiers.map((s) => (s.type === "ImportNamespaceSpecifier" ? "*" : s.type === "ImportDefaultSpecifier" ? "default" : s.imported.name ?? s.imported.value)), node);
    return [];
  }

  ExportAllDeclaration(node) {
    this.addImport(node.source.value, ["*"], node);
    return [];
  }

  ExportNamedDeclaration(node, scope) {
    if (node.source) {
      this.addImport(node.source.value, node.specifiers.map((s) => s.local.name ?? s.local.value), node);
      return [];
    }
    return [[node.declaration, scope], ...node.specifiers.map((s) => [s.local, scope])];
  }

  // Identifiers that name nothing.

  Property(node, scope) {
    return [[node.computed ? node.key : null, scope], [node.value, scope]];
  }

  LabeledStatement(node, scope) {
    return [[node.body, scope]];
  }

  BreakStatement() {
    return [];
  }

  ContinueStatement() {
    return [];
  }

  MetaProperty() {
    return [];
  }
}

function children(node) {
  const out = [];
  for (const [field, value] of Object.entries(node)) {
    if (field === "loc") continue;
    if (Array.isArray(value)) out.push(...value.filter(isNode));
    else if (isNode(value)) out.push(value);
  }
  return out;
}
