
// The canonical form and its digest: what the program says, whatever its
// comments, layout and the version of the parser. Nodes by type, their fields by
// name in alphabetical order, without those that are empty, false, or follow
// from others.

const SKIPPED = new Set(["type", "start", "end", "loc", "range", "raw", "sourceType", "shorthand", "expression", "directive"]);

function constant(node) {
  if (node.regex) return `(RegExp ${JSON.stringify([node.regex.pattern, [...node.regex.flags].sort().join("")])})`;
  if (node.bigint) return `(BigInt ${node.bigint})`;
  return `(${typeof node.value} ${JSON.stringify(typeof node.value === "number" ? String(node.value) : node.value)})`;
}

function isNode(v) {
  return v !== null && typeof v === "object" && typeof v.type === "string";
}

function codeHash(tree) {
  const digest = createHash("sha256").update("cg1 javascript\n");
  const stack = [tree];
  while (stack.length > 0) {
    const item = stack.pop();
    if (typeof item === "string") {
      digest.update(item);
    } else if (Array.isArray(item)) {
      stack.push("]");
      for (let i = item.length - 1; i >= 0; i--) stack.push(item[i] === null ? "(Hole)" : item[i]);
      stack.push("[");
    } else if (item.type === "Literal") {
      digest.update(constant(item));
    } else if (item.type === "TemplateElement") {
      digest.update(`(TemplateElement ${JSON.stringify(item.value.raw)})`);
    } else {
      const fields = Object.keys(item).filter((f) => !SKIPPED.has(f) || (f === "expression" && isNode(item[f]))).sort();
      stack.push(")");
      for (const f of fields.reverse()) {
        const v = item[f];
        if (v === null || v === undefined || v === false || (Array.isArray(v) && v.length === 0)) continue;
        stack.push(isNode(v) || Array.isArray(v) ? v : JSON.stringify(v));
        stack.push(` ${f}=`);
      }
      stack.push(`(${item.type}`);
    }
  }
  return `cg1:${digest.digest("hex")}`;
}
