package answer

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"callgate.dev/schemas"
)

const add = "def add(a, b):\n    return a + b\n"

func TestRead(t *testing.T) {
	python := Want{Language: schemas.Python}
	demands := Want{Language: schemas.Python, Entrypoint: "add", Program: true}
	js := Want{Language: schemas.JavaScript, Entrypoint: "add", Program: true}
	tests := []struct {
		name, content, finish string
		want                  Want
		source, text          string
		fault                 string // part of the error's message
		repairs               []string
	}{
		{name: "block", content: "Here:\n```python\n" + add + "```\nDone.", finish: "stop", want: demands, source: add},
		{name: "fence on its own line", content: "```python\n" + add + "\n```", finish: "stop", want: demands, source: add},
		{name: "leading line feed is the program's", content: "```py\n\n" + add + "```", finish: "stop", want: demands, source: "\n" + add},
		{name: "info string", content: "```{.python title=\"a.py\"}\n" + add + "```", finish: "stop", want: demands, source: add},
		{name: "upper case tag", content: "```Python3\n" + add + "```", finish: "stop", want: demands, source: add},
		{name: "tildes", content: "~~~python\n" + add + "~~~", finish: "stop", want: demands, source: add},
		{name: "longer fence", content: "````python\ns = '''\n```\n'''\n" + add + "````", finish: "stop", want: demands, source: "s = '''\n```\n'''\n" + add},
		{name: "block in a docstring", content: "```python\ndef add(a, b):\n    \"\"\"\n    ```python\n    add(1, 2)\n    ```\n    \"\"\"\n    return a + b\n```", finish: "stop", want: demands,
			source: "def add(a, b):\n    \"\"\"\n    ```python\n    add(1, 2)\n    ```\n    \"\"\"\n    return a + b\n"},
		{name: "block in a list", content: "1. this\n   ```python\n   def add(a, b):\n       return a + b\n   ```\n", finish: "stop", want: demands, source: add},
		{name: "CRLF", content: "```python\r\ndef add(a, b):\r\n    return a + b\r\n```\r\n", finish: "stop", want: demands, source: "def add(a, b):\r\n    return a + b\r\n"},
		{name: "last of several", content: "```python\nx = 1\n```\nbetter:\n```python\nx = 2\n```", finish: "stop", want: python, source: "x = 2\n", repairs: []string{"block_chosen"}},
		{name: "the one with the entry point", content: "```python\n" + add + "```\nUse it:\n```python\nprint(add(1, 2))\n```", finish: "stop", want: demands, source: add, repairs: []string{"block_chosen"}},
		{name: "tagged before untagged", content: "```python\n" + add + "```\nprints\n```\n3\n```", finish: "stop", want: demands, source: add},
		{name: "untagged", content: "```\n" + add + "```", finish: "stop", want: demands, source: add},
		{name: "untagged output of a text", content: "It prints\n```\n3\n```", finish: "stop", want: python, text: "It prints\n```\n3\n```"},
		{name: "shell block of a text", content: "Run\n```bash\nls\n```", finish: "stop", want: python, text: "Run\n```bash\nls\n```"},
		{name: "another language", content: "```js\nconst add = (a, b) => a + b\n```", finish: "stop", want: demands, fault: `tagged "js"`},
		{name: "empty block", content: "```python\n\n```", finish: "stop", want: python, text: "```python\n\n```"},
		{name: "JSON", content: `{"code":"def add(a, b):\n    return a + b\n","explanation":"easy"}`, finish: "stop", want: demands, source: add},
		{name: "JSON with a language", content: `{"language":"Python","code":"x = 1"}`, finish: "stop", want: python, source: "x = 1"},
		{name: "JSON in another language", content: `{"language":"ruby","code":"x = 1"}`, finish: "stop", want: python, fault: `language is "ruby"`},
		{name: "JSON in a block", content: "```json\n{\"code\":\"x = 1\\n\"}\n```", finish: "stop", want: demands, source: "x = 1\n", repairs: []string{"fenced_json"}},
		{name: "JSON with a fence", content: `{"code":"` + "```python\\nx = 1\\n```" + `"}`, finish: "stop", want: python, source: "x = 1\n", repairs: []string{"fence_in_json"}},
		{name: "JSON broken", content: "{\"code\": \"x = 1\n\"}", finish: "stop", want: python, fault: "is not JSON (byte "},
		{name: "JSON cut", content: `{"code": "x = 1`, finish: "length", want: python, fault: "cut off"},
		{name: "JSON that is a text", content: `{"total": 3}`, finish: "stop", want: python, text: `{"total": 3}`},
		{name: "JSON whose code is a number", content: `{"code": 200}`, finish: "stop", want: python, text: `{"code": 200}`},
		{name: "bare program", content: "# adds\n" + add, finish: "stop", want: demands, source: "# adds\n" + add, repairs: []string{"unfenced_program"}},
		{name: "bare program, not demanded", content: add, finish: "stop", want: python, text: strings.TrimSpace(add)},
		{name: "bare program without the entry point", content: "x = 1", finish: "stop", want: demands, text: "x = 1"},
		{name: "prose like a program", content: "from here on, def add(a, b) is easy", finish: "stop", want: demands, text: "from here on, def add(a, b) is easy"},
		{name: "bare JavaScript", content: "// adds\nconst add = (a, b) => a + b;", finish: "stop", want: js, source: "// adds\nconst add = (a, b) => a + b;\n", repairs: []string{"unfenced_program"}},
		{name: "JavaScript", content: "```js\nfunction add(a, b) { return a + b }\n```\n```js\nconsole.log(add(1, 2))\n```", finish: "stop", want: js, source: "function add(a, b) { return a + b }\n", repairs: []string{"block_chosen"}},
		{name: "thinking", content: "<think>\n```python\nx = 0\n```\n</think>\n```python\nx = 1\n```", finish: "stop", want: python, source: "x = 1\n", repairs: []string{"thinking_removed"}},
		{name: "thinking that began in the template", content: "hm ```\n```python\nx = 0\n```\nright\n</think>\n\n```python\nx = 1\n```", finish: "stop", want: python, source: "x = 1\n", repairs: []string{"thinking_removed"}},
		{name: "thinking only", content: "<think>what now", finish: "length", want: python, fault: "thinking only (cut off"},
		{name: "a program about thinking", content: "```python\ns = '''\n<think>\n</think>\n'''\n```", finish: "stop", want: python, source: "s = '''\n<think>\n</think>\n'''\n"},
		{name: "empty", content: " \n", finish: "stop", want: python, fault: "is empty"},
		{name: "cut block", content: "```python\ndef add(a, b):", finish: "length", want: demands, fault: "never closes (cut off"},
		{name: "cut block after a draft", content: "```python\n" + add + "```\nbetter:\n```python\ndef add(", finish: "length", want: demands, fault: "never closes"},
		{name: "cut shell block after the program", content: "```python\n" + add + "```\nRun:\n```bash\npyth", finish: "length", want: demands, source: add},
		{name: "cut words after the program", content: "```python\n" + add + "```\nThis wor", finish: "length", want: demands, source: add},
		{name: "cut text", content: "The answer is", finish: "length", want: python, fault: "cut off after 13 bytes"},
		{name: "open block, model finished", content: "```python\n" + add, finish: "stop", want: demands, source: add, repairs: []string{"fence_unclosed"}},
		{name: "open block, nobody says", content: "```python\n" + add, want: demands, fault: "never closes"},
		{name: "too long", content: strings.Repeat("x", MaxBytes+1), finish: "stop", want: python, fault: "at most 262144"},
		{name: "text", content: " The answer is 42. ", finish: "stop", want: python, text: "The answer is 42."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Read(tt.content, tt.finish, tt.want)
			if tt.fault != "" {
				if e, ok := errors.AsType[*schemas.Error](err); !ok || e.Class != schemas.ClassModelOutputUnparseable || !strings.Contains(e.Message, tt.fault) {
					t.Fatalf("error is %v, want model_output_unparseable with %q; answer %+v", err, tt.fault, got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.Source != tt.source || got.Text != tt.text {
				t.Errorf("source %q, want %q\ntext %q, want %q", got.Source, tt.source, got.Text, tt.text)
			}
			var rules []string
			for _, r := range got.Repairs {
				rules = append(rules, r.Rule)
			}
			if !slices.Equal(rules, tt.repairs) {
				t.Errorf("repairs %v, want %v", rules, tt.repairs)
			}
		})
	}
}

func TestReadUnknownLanguageIsOurFault(t *testing.T) {
	if _, err := Read("x", "stop", Want{Language: "cobol"}); schemas.ClassOf(err) != schemas.ClassInternal {
		t.Errorf("error is %v, want class internal", err)
	}
}

// FuzzRead holds the reader to what no input may break: it returns, with one
// answer or a typed error, and never makes up a program.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"```python\n" + add + "```", "<think>x</think>y", "a</think>b", "~~~\n```\n~~~", `{"code":"x"}`, "```python\n```py\n```\n", "\xff\x00```", "````\n```\n",
	} {
		f.Add(s, "stop", true)
	}
	f.Fuzz(func(t *testing.T, content, finish string, program bool) {
		for _, language := range schemas.Languages {
			got, err := Read(content, finish, Want{Language: language, Entrypoint: "add", Program: program})
			if err != nil {
				if schemas.ClassOf(err) != schemas.ClassModelOutputUnparseable {
					t.Fatalf("error %v has another class", err)
				}
				continue
			}
			if (got.Source == "") == (got.Text == "") {
				t.Fatalf("answer %+v of %q has not exactly one of source and text", got, content)
			}
			for line := range strings.Lines(got.Source) {
				if got.Repairs == nil && !strings.Contains(content, strings.TrimSpace(line)) && !strings.Contains(content, `"code"`) {
					t.Fatalf("line %q of the program isn't in %q", line, content)
				}
			}
		}
	})
}

func hostile() map[string]string {
	half := MaxBytes / 2
	return map[string]string{
		"fences":         strings.Repeat("```\n", MaxBytes/4),
		"nested fences":  strings.Repeat("```python\n", MaxBytes/10),
		"thinking":       strings.Repeat("<think></think>", MaxBytes/15),
		"ends":           strings.Repeat("</think>", MaxBytes/8),
		"ends on lines":  strings.Repeat("</think>\n", MaxBytes/9),
		"brackets":       strings.Repeat("[", MaxBytes),
		"braces":         strings.Repeat(`{"code":`, MaxBytes/8),
		"blocks":         strings.Repeat("```python\nx\n```\n", MaxBytes/16),
		"line feeds":     "```python\n" + strings.Repeat("\n", MaxBytes-20) + "\n```",
		"definitions":    strings.Repeat("def ad\n", MaxBytes/7),
		"no line end":    strings.Repeat("a", MaxBytes),
		"spaces, fences": strings.Repeat(" ", half) + strings.Repeat("`", half),
	}
}

func BenchmarkReadHostile(b *testing.B) {
	for name, content := range hostile() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			for b.Loop() {
				_, _ = Read(content, "stop", Want{Language: schemas.Python, Entrypoint: "add", Program: true})
			}
		})
	}
}

// TestReadGrowsWithItsInput compares allocations, which don't depend on how
// busy the machine is, of one input with those of its half.
func TestReadGrowsWithItsInput(t *testing.T) {
	for name, content := range hostile() {
		read := func(content string) float64 {
			return testing.AllocsPerRun(1, func() {
				_, _ = Read(content, "stop", Want{Language: schemas.Python, Entrypoint: "add", Program: true})
			})
		}
		if whole, half := read(content), read(content[:len(content)/2]); whole > 4*half+200 {
			t.Errorf("%s: %v allocations for the whole, %v for its half", name, whole, half)
		}
	}
}
