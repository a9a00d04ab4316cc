package verifier_test

import (
	"testing"

	"callgate.dev/schemas"
	"callgate.dev/schemas/golden"
	"callgate.dev/verifier"
)

// BenchmarkAnalyser is a real start of the interpreter with the script, outside
// of the sandbox.
func BenchmarkAnalyser(b *testing.B) {
	for lang, source := range map[schemas.Language]string{schemas.Python: "def add(a, b):\n    return a + b\n", schemas.JavaScript: "function add(a, b) { return a + b }"} {
		b.Run(string(lang), func(b *testing.B) {
			for b.Loop() {
				run(b, interpreter(b, lang), lang, []byte(source))
			}
		})
	}
}

func BenchmarkFacts(b *testing.B) {
	source := []byte("import os\ndef f(a): return os.system(a)\n")
	printed := run(b, interpreter(b, schemas.Python), schemas.Python, source)
	for b.Loop() {
		if _, err := (verifier.Analyser{}).Facts(schemas.Python, source, printed, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerdict(b *testing.B) {
	e := golden.Envelope(schemas.StateVerification)
	for b.Loop() {
		if _, err := verifier.Verdict(e); err != nil {
			b.Fatal(err)
		}
	}
}
