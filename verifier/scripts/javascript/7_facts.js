
// The document that is printed.

function facts(source) {
  const doc = {
    analyser: `Node.js ${process.version}`, digest: createHash("sha256").update(source).digest("hex"),
    source_type: "script", parses: false, error: null, code_hash: "", functions: [], imports: [], calls: [], uses: [],
  };
  try {
    const code = text(source);
    const { tree, sourceType } = parse(code);
    const program = new Program(tree, code);
    const { functions, imports } = program;
    const found = JSON.stringify({ ...doc, ...program.resolved(), parses: true, source_type: sourceType, code_hash: codeHash(tree), functions, imports });
    if (Buffer.byteLength(found) > MAX_OUTPUT) throw new Unreadable("the program has more functions and names than are looked at");
    return found;
  } catch (e) {
    if (e instanceof Unavailable) return JSON.stringify({ ...doc, unavailable: e.message });
    if (e instanceof RangeError) e = new Unreadable("the program is nested too deeply to be looked at");
    if (!(e instanceof Unreadable)) throw e; // a fault of this script: it prints no facts
    return JSON.stringify({ ...doc, error: { message: e.message.slice(0, 500), line: e.line, column: e.column } });
  }
}

fs.writeSync(1, `${facts(fs.readFileSync(0))}\n`);
process.exit(0); // at once, instead of taking everything down in good order
