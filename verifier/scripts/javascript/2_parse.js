
// The parsers: V8 decides what is a program, acorn says what it is made of.

function loadAcorn() {
  try {
    return require("internal/deps/acorn/acorn/dist/acorn");
  } catch (e) {
    throw new Unavailable(`node ${process.version} has no acorn that --expose-internals opens (${e.code || e.message})`);
  }
}

function text(source) {
  const nul = source.indexOf(0);
  if (nul >= 0) {
    throw new Unreadable("the source has a NUL byte", source.subarray(0, nul).toString("latin1").split("\n").length);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(source); // drops a byte order mark, as Node's loader does
  } catch {
    throw new Unreadable("the source is not UTF-8");
  }
}

// As a script, Node wraps a program into a function with these parameters.
const WRAPPER = ["exports", "require", "module", "__filename", "__dirname"];

function compileScript(code) {
  vm.compileFunction(code, WRAPPER, { filename: "program.js" });
}

// Making a module compiles it; only link() and evaluate() would run it.
function compileModule(code) {
  if (!vm.SourceTextModule) {
    throw new Unavailable(`node ${process.version} cannot compile a module without running it: --experimental-vm-modules has no effect`);
  }
  new vm.SourceTextModule(code, { identifier: "program.mjs" });
}

function attempt(compile, code) {
  try {
    compile(code);
    return null;
  } catch (e) {
    if (e instanceof Unavailable) throw e;
    return e;
  }
}

// What V8 says where a script does what only a module may.
const MODULE_ONLY = /outside a module|Unexpected token 'export'|import\.meta|await is only valid|'import\.meta'/;

function parse(code) {
  const acorn = loadAcorn();
  let sourceType = "script";
  let error = attempt(compileScript, code);
  if (error) {
    const asModule = attempt(compileModule, code);
    if (!asModule) [sourceType, error] = ["module", null];
    else if (MODULE_ONLY.test(error.message)) [sourceType, error] = ["module", asModule];
  }
  const options = { ecmaVersion: "latest", sourceType, locations: true, allowHashBang: true, allowReturnOutsideFunction: sourceType === "script" };
  let tree;
  try {
    tree = acorn.parse(code, options);
  } catch (e) {
    throw unreadable(error || e, e);
  }
  if (error) throw unreadable(error, error);
  return { tree, sourceType };
}

// unreadable takes the words of one error and the place from another: only
// acorn says the column.
function unreadable(words, place) {
  if (words instanceof RangeError || place instanceof RangeError) return new Unreadable("the program is nested too deeply for its parser");
  const message = String(words.message).replace(/ \(\d+:\d+\)$/, "");
  const line = /^program\.m?js:(\d+)/.exec(String(words.stack));
  const at = place.loc || { line: line ? Number(line[1]) : 1, column: 0 };
  return new Unreadable(`${words.name}: ${message}`, at.line, at.column + 1);
}
