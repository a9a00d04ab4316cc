package executor

import (
	"bytes"
	"fmt"

	"callgate.dev/executor/workspace"
	"callgate.dev/schemas"
)

// testsMark is the file that says that the tests began. It is made in the copy
// of the workspace that the tests run in, and never leaves it.
const testsMark = ".callgate-tests-begun"

// The mark takes the place of the empty line between program and tests, so
// that line numbers are those of code, empty line, tests. It introduces no name
// that program or tests could meet. Node knows require in scripts only, and
// lets a module import anywhere at its top level; the name there is one that
// nobody else has.
var markLines = map[schemas.Language]string{
	schemas.Python:     `__import__("os").close(__import__("os").open(%q, 0o101, 0o644))`, // O_WRONLY|O_CREAT
	schemas.JavaScript: `;require("node:fs").writeFileSync(%q, "");`,
}

const moduleMarkLine = `;import { writeFileSync as __callgate_tests_begun } from "node:fs"; __callgate_tests_begun(%q, "");`

// withTests joins program and tests into one program.
func withTests(lang schemas.Language, source []byte, tests string, module bool) []byte {
	mark := markLines[lang]
	if module {
		mark = moduleMarkLine
	}
	var b bytes.Buffer
	b.Write(source)
	b.WriteByte('\n')
	fmt.Fprintf(&b, mark, workspace.Root+"/"+testsMark)
	b.WriteByte('\n')
	b.WriteString(tests)
	return b.Bytes()
}
