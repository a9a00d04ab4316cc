package stub_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"callgate.dev/schemas"
	"callgate.dev/schemas/stub"
)

var update = flag.Bool("update", false, "write the golden modules")

func contract(name, description, parameters string) schemas.ToolContract {
	return schemas.ToolContract{Name: name, Version: "1.0.0", Description: description, Parameters: json.RawMessage(parameters)}
}

func contracts() []schemas.ToolContract {
	return []schemas.ToolContract{
		contract("look-up", "Looks up a price.\nUse it for one item.", `{"type":"object","additionalProperties":false,"required":["item"],
			"properties":{"currency":{"type":"string","enum":["EUR","USD"],"description":"of the\n price"},"item":{"type":"string"},"max-price":{"type":["number","null"]},"exact":{"type":"boolean"}}}`),
		contract("look_up", `Has the same name, and hostile text: """ */ \ '`, `{"type":"object","additionalProperties":{"type":"string"},"properties":{"class":{},"import":true,"list":{"type":"array"},"map":{"type":"object"},"n":{"type":"integer"},"a b":{"enum":[true,null,"x",{"k":"*/"}]}}}`),
		contract("class", "Is named as a keyword is.", `{"type":"object","additionalProperties":false}`),
		contract("1st", "Begins with a digit.", `{"type":"object","additionalProperties":false,"properties":{}}`),
	}
}

// The modules are what testdata has, and their interpreters take them.
func TestModules(t *testing.T) {
	for _, lang := range schemas.Languages {
		files, err := stub.Files(lang, contracts())
		if err != nil {
			t.Fatal(err)
		}
		described, err := stub.Describe(lang, contracts())
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, schemas.File{Path: string(lang) + ".txt", Data: []byte(strings.Join(described, "\n") + "\n")})
		for _, f := range files {
			golden := filepath.Join("testdata", f.Path)
			if *update {
				if err := os.WriteFile(golden, f.Data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil || string(want) != string(f.Data) {
				t.Errorf("%s differs from what is written now: %v; look at it with -update", golden, err)
			}
		}
	}
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{
		{"/usr/bin/python3", "-B", "-c", "import sys; sys.path.insert(0, sys.argv[1]); import callgate_tools as c; print(c.__all__); print(c.look_up_.__doc__.splitlines()[0])", dir},
		{"node", "--check", filepath.Join(dir, "callgate_tools.mjs")},
		{"node", "-e", "console.log(Object.keys(require(process.argv[1])).join())", filepath.Join(dir, "callgate_tools.js")},
	} {
		out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
		if err != nil {
			t.Errorf("%v: %v\n%s", command, err, out)
		}
		for _, want := range map[string][]string{"-B": {"['ToolError', 'look_up', 'look_up_', 'class_', '_1st']\n", `Has the same name, and hostile text: """ */ \ '`}, "-e": {"ToolError,look_up,look_up_,class_,_1st\n"}}[command[1]] {
			if !strings.Contains(string(out), want) {
				t.Errorf("%v: %s, expected %q", command, out, want)
			}
		}
	}
}

// No contract, whatever it says, keeps the other tools of the module from being
// called, or has the module do anything but make calls.
func TestNoContractBreaksTheModule(t *testing.T) {
	empty := `{"type":"object","additionalProperties":false}`
	names := strings.Fields("good " +
		"call net socket rest waiting connected answered ToolError Promise JSON Error require module exports process then __proto__ constructor default " + // JavaScript
		"super object Exception __all__ __builtins__ __getattr__ __path__ __spec__ __name__ _call _state _ABSENT json os isinstance Literal __debug__ print") // Python
	var hostile []schemas.ToolContract
	for _, n := range names {
		hostile = append(hostile, contract(n, "Is a tool.", empty))
	}
	deep := strings.Repeat("[", 300) + strings.Repeat("]", 300)
	fields := `{"type":"object","additionalProperties":false,"properties":{"__debug__":{},"_call":{},"super":{},"args":{},"a*/b":{"description":"*/ throw 1 //"},
		"deep":{"enum":[` + deep + `]},"long":{"enum":[` + strings.Repeat("9", 5000) + `]},"slash":{"enum":["\/",
		"\u0000", 1.5, null]}}}`
	hostile = append(hostile, contract("described", "A NUL \x00, \r\u2028 */ throw 1 //\n\"\"\"\nraise SystemExit\n\\", fields))
	dir := t.TempDir()
	for _, lang := range schemas.Languages {
		files, err := stub.Files(lang, hostile)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if err := os.WriteFile(filepath.Join(dir, f.Path), f.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Nobody listens, so a call that gets as far as the network is one that was made.
	js := `c.good().then(() => console.log("answered"), (e) => console.log(e.name, e.errorClass, Object.keys(c).length));`
	for name, command := range map[string][]string{
		"Python": {"/usr/bin/python3", "-B", "-W", "error", "-c", `import sys; sys.path.insert(0, sys.argv[1])
import callgate_tools as c, socket
def none(*_): raise c.ToolError("tool_failed", "nobody listens")
socket.create_connection = none
try: c.good()
except c.ToolError as e: print(type(e).__name__, e.error_class, len(c.__all__))`, dir},
		"script": {"node", "-e", "const c = require(process.argv[1] + '/callgate_tools.js');" + js, dir},
		"module": {"node", "-e", "import(process.argv[1] + '/callgate_tools.mjs').then((c) => {" + js + "});", dir},
	} {
		out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
		if want := fmt.Sprintf("ToolError tool_failed %d\n", len(hostile)+1); err != nil || string(out) != want {
			t.Errorf("%s: %v: %.600s, expected %q", name, err, out, want)
		}
	}
}
