package executor

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"

	"callgate.dev/executor/workspace"
	"callgate.dev/schemas"
)

// marks are two files that say how far the tests came: that they began, and
// that they ended. They are made in the copy of the workspace that the tests
// run in, and never leave it.
type marks struct{ begun, ended string }

// marksOf names the marks of an attempt, the same for a redelivered event. A
// program cannot make them by itself: the names come from its tests, which it
// is not shown, and from where its event stands on the log.
func marksOf(in schemas.Envelope, tests string) marks {
	secret := schemas.Digest([]byte(in.Tenant + "/" + in.JobID + "/" + strconv.FormatUint(in.Sequence, 10) + "\n" + tests))
	return marks{begun: ".callgate-" + secret[:32], ended: ".callgate-" + secret[32:]}
}

// A mark's line introduces no name that program or tests could meet. The first
// takes the place of the empty line between program and tests, so that line
// numbers are those of code, empty line, tests. Node knows require in scripts
// only, and lets a module import anywhere at its top level; the name there is
// one that nobody else has.
var markLines = map[schemas.Language]string{
	schemas.Python:     `__import__("os").close(__import__("os").open(%q, 0o101, 0o644))`, // O_WRONLY|O_CREAT
	schemas.JavaScript: `;require("node:fs").writeFileSync(%q, "");`,
}

const (
	moduleBegunLine = `;import { writeFileSync as __callgate_mark } from "node:fs"; __callgate_mark(%q, "");`
	moduleEndedLine = `;__callgate_mark(%q, "");`
)

// withTests joins program and tests into one program.
func withTests(lang schemas.Language, source []byte, tests string, module bool, m marks) []byte {
	begun, ended := markLines[lang], markLines[lang]
	if module {
		begun, ended = moduleBegunLine, moduleEndedLine
	}
	var b bytes.Buffer
	b.Write(source)
	b.WriteByte('\n')
	fmt.Fprintf(&b, begun, workspace.Root+"/"+m.begun)
	b.WriteByte('\n')
	b.WriteString(tests)
	b.WriteByte('\n')
	fmt.Fprintf(&b, ended, workspace.Root+"/"+m.ended)
	b.WriteByte('\n')
	return b.Bytes()
}

// endsItself finds tests that end the process themselves, as unittest.main
// does: their exit status is their word, and there is no end to mark.
var endsItself = map[schemas.Language]*regexp.Regexp{
	schemas.Python:     regexp.MustCompile(`\b(unittest\.main|pytest\.main|sys\.exit|os\._exit|exit|quit)\s*\(|\bSystemExit\b`),
	schemas.JavaScript: regexp.MustCompile(`\bprocess\.exit\s*\(`),
}

// unfinished says why tests did not pass though the process ended with status
// 0, or nothing.
func (m marks) unfinished(after workspace.Tree, lang schemas.Language, tests string) string {
	if _, begun := after.File(m.begun); !begun {
		return "the program ended with status 0 before its tests began; it must not end the process (sys.exit, os._exit, process.exit)"
	}
	if _, ended := after.File(m.ended); !ended && !endsItself[lang].MatchString(tests) {
		return "the process ended with status 0 before the tests were through; the program must not end it (sys.exit, os._exit, process.exit) nor hide their errors"
	}
	return ""
}
