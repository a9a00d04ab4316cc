// A small analyser for tests: what V8's own parser says of a program.
const vm = require("node:vm");
const source = require("node:fs").readFileSync(0, "utf8");
const out = { parses: true, error: null, functions: [], imports: [] };
if (/^\s*(import|export)\b/m.test(source)) {
  out.source_type = "module";
} else {
  try {
    new vm.Script(source);
  } catch (e) {
    out.parses = false;
    out.error = { line: 1, column: 1, message: String(e) };
  }
}
process.stdout.write(JSON.stringify(out));
