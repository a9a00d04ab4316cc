package verifier

import (
	"fmt"
	"strings"
	"testing"

	"callgate.dev/schemas"
)

// TestErrorText: the words of an error are found in what CPython 3.11 and
// Node 20 print, whatever was printed before and however many lines they have.
func TestErrorText(t *testing.T) {
	noise := "warming up\nError: not the one\n    at f (/workspace/main.js:9:9)\n"
	for name, c := range map[string]struct {
		lang   schemas.Language
		stderr string
		words  string
		lines  string
	}{
		"python":                {schemas.Python, "log\nTraceback (most recent call last):\n  File \"/workspace/main.py\", line 3, in <module>\n    f(0)\n  File \"/workspace/main.py\", line 2, in f\n    return 1/x\n           ~^~\nZeroDivisionError: division by zero\n", "ZeroDivisionError: division by zero", "[3 2]"},
		"python, several lines": {schemas.Python, "Traceback (most recent call last):\n  File \"/workspace/main.py\", line 1, in <module>\n    raise ValueError(\"a\\nb\\nc\")\nValueError: a\nb\nc\n", "ValueError: a b c", "[1]"},
		"python, in a library":  {schemas.Python, "Traceback (most recent call last):\n  File \"/workspace/main.py\", line 2, in <module>\n    json.loads('x')\n  File \"/usr/lib/python3.11/json/main.py\", line 346, in loads\n    return _default_decoder.decode(s)\njson.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)\n", "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)", "[2]"},
		"python, sys.exit":      {schemas.Python, "bad input\n", "bad input", "[]"},
		"node":                  {schemas.JavaScript, noise + "/workspace/main.js:2\n throw new Error(\"why\") }\n ^\n\nError: why\n    at f (/workspace/main.js:2:8)\n    at Object.<anonymous> (/workspace/main.js:3:1)\n    at node:internal/main/run_main_module:28:49\n\nNode.js v20.20.2\n", "Error: why", "[3 2]"},
		"node, an assertion":    {schemas.JavaScript, "node:internal/modules/run_main:123\n    triggerUncaughtException(\n    ^\n\nAssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n\n1 !== 2\n\n    at file:///workspace/main.mjs:1:37\n    at ModuleJob.run (node:internal/modules/esm/module_job:325:25) {\n  actual: 1\n}\n\nNode.js v20.20.2\n", "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal: 1 !== 2", "[1]"},
		"node, no error object": {schemas.JavaScript, "/workspace/main.js:1\nthrow 7\n^\n7\n(Use `node --trace-uncaught ...` to show where the exception was thrown)\n\nNode.js v20.20.2\n", "7", "[1]"},
		"nothing":               {schemas.Python, "", "", "[]"},
		"a flood":               {schemas.Python, strings.Repeat("E", 1<<20), "EEE", "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := errorText(c.stderr, c.lang); got != c.words && (name != "a flood" || !strings.Contains(got, c.words) || len(got) > 510) {
				t.Errorf("%q, want %q", got, c.words)
			}
			if got := fmt.Sprint(tracedLines(c.stderr, c.lang)); got != c.lines {
				t.Errorf("lines %s, want %s", got, c.lines)
			}
		})
	}
}
