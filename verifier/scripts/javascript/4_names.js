
// Scopes, and what a name in one of them may stand for. A value that a name is
// bound to is a dotted name, {node, scope} to be followed, {of, key} for a member
// of another value, or null for what only a run knows.

class Scope {
  constructor(kind, parent, prefix) {
    Object.assign(this, { kind, parent, prefix, bound: new Map(), memo: new Map() });
  }

  bind(name, value) {
    if (!this.bound.has(name)) this.bound.set(name, []);
    this.bound.get(name).push(value);
  }

  // The scope of a var.
  owner() {
    let scope = this;
    while (scope.kind === "block") scope = scope.parent;
    return scope;
  }

  find(name) {
    let scope = this;
    while (scope && !scope.bound.has(name)) scope = scope.parent;
    return scope;
  }

  lookup(name, depth) {
    const scope = this.find(name);
    if (!scope) return new Set([name]);
    if (scope.memo.has(name)) return scope.memo.get(name);
    scope.memo.set(name, new Set()); // a name defined by itself ends here
    const found = new Set();
    for (const value of scope.bound.get(name)) {
      if (found.size > MAX_NAMES) break;
      for (const n of follow(value, depth + 1)) found.add(n);
    }
    scope.memo.set(name, found);
    return found;
  }
}

const GLOBALS = new Set(["globalThis", "global", "window", "self"]);
const REQUIRES = ["require", "module.require", "process.mainModule.require", "module._load", "process.getBuiltinModule"];

function moduleName(s) {
  return s.replace(/^node:/, "");
}

function member(base, name) {
  if (GLOBALS.has(base)) return name;
  if (name === "default") return base; // of a module: its exports
  return `${base}.${name}`;
}

function members(bases, name) {
  return new Set([...bases].map((b) => member(b, name)));
}

function follow(value, depth) {
  if (value === null || depth > MAX_DEPTH) return new Set();
  if (typeof value === "string") return new Set([value]);
  if (value.node) return resolve(value.node, value.scope, depth);
  return members(follow(value.of, depth + 1), value.key);
}

// literal returns a string that the program spells out, plain or added up.
function literal(node) {
  const parts = [];
  const stack = [node];
  while (stack.length > 0) {
    const n = stack.pop();
    if (n.type === "Literal" && typeof n.value === "string") parts.push(n.value);
    else if (n.type === "TemplateLiteral" && n.expressions.length === 0) parts.push(n.quasis[0].value.cooked || "");
    else if (n.type === "BinaryExpression" && n.operator === "+" && stack.length < MAX_DEPTH) stack.push(n.right, n.left);
    else return null;
  }
  return parts.join("");
}

// propertyName returns what follows the dot, "*" where only a run knows.
function propertyName(node) {
  if (!node.computed) return node.property.name;
  return literal(node.property) ?? "*";
}

function union(a, b) {
  return new Set([...a, ...b]);
}

// resolve returns the dotted names that an expression may stand for.
function resolve(node, scope, depth = 0) {
  if (!node || depth > MAX_DEPTH) return new Set();
  switch (node.type) {
    case "Identifier":
      return scope.lookup(node.name, depth);
    case "MemberExpression":
      return members(resolve(node.object, scope, depth + 1), propertyName(node));
    case "ChainExpression":
      return resolve(node.expression, scope, depth + 1);
    case "AwaitExpression":
      return resolve(node.argument, scope, depth + 1);
    case "SequenceExpression":
      return resolve(node.expressions.at(-1), scope, depth + 1);
    case "AssignmentExpression":
      return resolve(node.right, scope, depth + 1);
    case "ConditionalExpression":
      return union(resolve(node.consequent, scope, depth + 1), resolve(node.alternate, scope, depth + 1));
    case "LogicalExpression":
      return union(resolve(node.left, scope, depth + 1), resolve(node.right, scope, depth + 1));
    case "ImportExpression": {
      const name = literal(node.source);
      return new Set(name === null ? [] : [moduleName(name)]);
    }
    case "CallExpression":
      return resolveCall(node, scope, depth);
    default:
      return new Set();
  }
}

// resolveCall names what calls that fetch a module or a member return.
function resolveCall(node, scope, depth) {
  const names = resolve(node.callee, scope, depth + 1);
  const args = node.arguments;
  if (REQUIRES.some((r) => names.has(r)) && args.length > 0) {
    const name = literal(args[0]);
    return new Set(name === null ? [] : [moduleName(name)]);
  }
  if (names.has("module.createRequire") || names.has("module.Module.createRequire")) return new Set(["require"]);
  if (names.has("Reflect.get") && args.length > 1) return members(resolve(args[0], scope, depth + 1), literal(args[1]) ?? "*");
  if (node.callee.type === "MemberExpression" && propertyName(node.callee) === "bind") return resolve(node.callee.object, scope, depth + 1);
  return new Set();
}
