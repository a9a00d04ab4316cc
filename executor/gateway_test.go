package executor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"callgate.dev/executor"
	"callgate.dev/schemas"
)

// shop stands for the dispatcher, and remembers what it was asked.
type shop struct {
	mu    sync.Mutex
	asked []string // call IDs
	lost  error
	hang  bool // every call takes effect, and longer than the run
	sells bool // every call takes effect
}

func (s *shop) Contracts(_ string, names *[]string) ([]schemas.ToolContract, error) {
	var list []schemas.ToolContract
	for _, name := range *names {
		if name == "nobody" {
			return nil, schemas.Errorf(schemas.ClassUnknownTool, "no tool %q", name)
		}
		list = append(list, schemas.ToolContract{Name: name, Version: "1.0.0", Description: `Looks up "prices" \ by name. */ """`, Parameters: json.RawMessage(
			`{"type":"object","additionalProperties":false,"required":["item"],"properties":{"class":{"type":"string","enum":["a","b"]},"item":{"type":["string","null"],"description":"which one\nof them"},"max-price":{"type":"number"}}}`)})
	}
	return list, nil
}

func (s *shop) CallTool(ctx context.Context, in schemas.Envelope, call schemas.Call) (schemas.Call, schemas.CallResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hang {
		<-ctx.Done()
		call.Effect = schemas.Effectful
		return call, schemas.CallResult{}, ctx.Err()
	}
	if s.lost != nil {
		return call, schemas.CallResult{}, s.lost
	}
	s.asked = append(s.asked, call.ID)
	call.Tool = call.Name + "@1.0.0"
	if s.sells {
		call.Effect = schemas.Effectful
	}
	result := schemas.CallResult{CallID: call.ID}
	if strings.Contains(call.Raw, "gold") {
		result.Error = schemas.Errorf(schemas.ClassToolDenied, "no gold")
	} else {
		result.Output = json.RawMessage(fmt.Sprintf(`{"asked":%s,"job":%q}`, call.Raw, in.JobID))
	}
	return call, result, nil
}

func selling(t *testing.T, s *shop) *executor.Executor {
	t.Helper()
	e, err := executor.New(executor.Config{Sandbox: shared, Analyser: &analyser{}, Blobs: &store{}, Caller: s})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

const (
	buys = `
from callgate_tools import look_up, ToolError
import os, threading
print(look_up("tea", max_price=1.5)["asked"])
print(look_up(item=None, class_="a")["job"])
try: look_up("gold")
except ToolError as e: print(e.error_class, e.message)
try: look_up()
except TypeError: print("TypeError")
threads = [threading.Thread(target=look_up, args=(str(i),)) for i in range(3)]
for t in threads: t.start()
for t in threads: t.join()
if os.fork() == 0: look_up("child"); os._exit(0)
os.wait()
open("left", "w").write("x")
`
	buysInJavaScript = `
const { look_up, ToolError } = require("./callgate_tools.js");
(async () => {
  console.log(JSON.stringify((await look_up({ item: "tea", "max-price": 1.5 })).asked));
  console.log((await look_up({ item: null, class: "a" })).job);
  try { await look_up({ item: "gold" }); } catch (e) { console.log(e instanceof ToolError, e.errorClass, e.message); }
  console.log((await Promise.all(["1", "2", "3"].map((item) => look_up({ item })))).map((r) => r.asked.item).join());
})();
`
	buysInAModule = `
import { look_up } from "./callgate_tools.mjs";
console.log((await look_up({ item: "tea" })).asked.item);
`
)

func TestAProgramCallsTools(t *testing.T) {
	for _, c := range []struct {
		lang   schemas.Language
		source string
		stdout string
		calls  int
	}{
		{schemas.Python, buys, "{'item': 'tea', 'max-price': 1.5}\nj1\ntool_denied no gold\nTypeError\n", 7},
		{schemas.JavaScript, buysInJavaScript, "{\"item\":\"tea\",\"max-price\":1.5}\nj1\ntrue tool_denied tool_denied: no gold\n1,2,3\n", 6},
		{schemas.JavaScript, buysInAModule, "tea\n", 1},
		{schemas.Python, "import callgate_tools\nfor i in range(70):\n  try: callgate_tools.look_up(str(i))\n  except callgate_tools.ToolError as e: print(i, e.error_class)",
			"64 tool_denied\n65 tool_denied\n66 tool_denied\n67 tool_denied\n68 tool_denied\n69 tool_denied\n", 64},
		{schemas.Python, "import callgate_tools\ntry: callgate_tools.look_up('x' * (9 << 20))\nexcept (callgate_tools.ToolError, OSError) as e: print('refused')", "refused\n", 0},
		{schemas.Python, "import socket\nc = socket.create_connection(('callgate-tools', 1))\nc.sendall(b'nonsense\\n')\nprint(b'arguments_invalid' in c.recv(1000))", "True\n", 0},
	} {
		s := &shop{}
		in := event(c.lang, c.source, nil)
		in.Job.ProgramTools = []string{"look_up"}
		out := handle(t, selling(t, s), in)
		if out.Run == nil || len(out.Run.Calls) != c.calls || len(s.asked) != c.calls {
			t.Errorf("%s: %d calls recorded, %d made\n%+v", c.source, len(out.Run.Calls), len(s.asked), out.Run)
		}
		if out.Run.Stdout != c.stdout {
			t.Errorf("%s\nprinted %q\nwanted  %q\n%s", c.source, out.Run.Stdout, c.stdout, out.Run.Stderr)
		}
		for _, changed := range out.Run.Changed {
			if changed.Path != "left" {
				t.Errorf("left in the workspace: %s", changed.Path)
			}
		}
		again := &shop{}
		handle(t, selling(t, again), in) // in which threads may take turns otherwise
		slices.Sort(again.asked)
		slices.Sort(s.asked)
		if !slices.Equal(again.asked, s.asked) {
			t.Errorf("another delivery named its calls %v, the first %v", again.asked, s.asked)
		}
	}
}

// A trial that runs its program twice, with its tests and alone, buys once, and
// what it buys twice in one run is two.
func TestATrialTakesEffectOnce(t *testing.T) {
	s := &shop{sells: true}
	contract := &schemas.Contract{Tests: "assert got == 'j1'\nassert look_up('tests')['job'] == 'j1'"}
	in := event(schemas.Python, "from callgate_tools import look_up\nlook_up('tea')\ngot = look_up('tea')['job']\nprint(got)", contract)
	in.Job.ProgramTools = []string{"look_up"}
	out := handle(t, selling(t, s), in)
	if !out.Run.OK() || !out.Tests.OK() || out.Run.Stdout != "j1\n" {
		t.Fatalf("run %+v\ntests %+v", out.Run, out.Tests)
	}
	if len(s.asked) != 3 || s.asked[0] == s.asked[1] {
		t.Errorf("asked for %v, expected two calls of the program and one of the tests", s.asked)
	}
	if len(out.Tests.Calls) != 3 || len(out.Run.Calls) != 2 || out.Run.Calls[1].Call.ID != s.asked[1] {
		t.Errorf("recorded %+v of the tests' run, %+v of the program's", out.Tests.Calls, out.Run.Calls)
	}
}

func TestACallThatIsLostEndsTheRunForAnotherTry(t *testing.T) {
	s := &shop{lost: errors.New("the log is away")}
	in := event(schemas.Python, "import callgate_tools\ncallgate_tools.look_up('tea')", nil)
	in.Job.ProgramTools = []string{"look_up"}
	if _, err := selling(t, s).Handle(t.Context(), in); err == nil || !strings.Contains(err.Error(), "the log is away") {
		t.Errorf("%v", err)
	}
	in.Job.ProgramTools = []string{"nobody"}
	if out := handle(t, selling(t, s), in); out.State != schemas.StateFailed || out.Error.Class != schemas.ClassUnknownTool {
		t.Errorf("%s %v", out.State, out.Error)
	}
}

// A program that ends before its call does has called all the same.
func TestACallThatOutlivesItsProgramIsTold(t *testing.T) {
	in := event(schemas.Python, `
import socket
c = socket.create_connection(("callgate-tools", 1))
c.sendall(b'{"name":"look_up","arguments":{}}\n')
c.recv(1)
`, nil)
	in.Job.Limits.RunTimeoutMS = 4000
	in.Job.ProgramTools = []string{"look_up"}
	out := handle(t, selling(t, &shop{hang: true}), in)
	if len(out.Run.Calls) != 1 || out.Run.Calls[0].Result.Error == nil || out.Run.Calls[0].Result.Error.Class != schemas.ClassOutcomeUnknown {
		t.Errorf("%+v", out.Run)
	}
}

// What a program asks for is bounded together, refused or not, over however
// many connections: it is read and kept where the run's limits do not hold.
func TestAProgramAsksForSoMuch(t *testing.T) {
	for source, want := range map[string]string{
		"for i in range(2000): ask(b'nonsense')": "256 256",
		"for i in range(2000): ask(b'{\"name\":\"look_up\",\"arguments\":{\"item\":\"' + b'x' * 600000 + b'\"}}')": "6 6",
	} {
		s := &shop{}
		in := event(schemas.Python, `
import socket, sys
n = heard = 0
def ask(line):
    global n, heard
    c = socket.create_connection(("callgate-tools", 1))
    c.sendall(line + b"\n")
    answer = c.makefile().readline()
    if "program asks for at most" in answer or "bytes together" in answer: print(n, heard); sys.exit()
    n += 1; heard += bool(answer)
`+source, nil)
		in.Job.ProgramTools = []string{"look_up"}
		if out := handle(t, selling(t, s), in); out.Run.Stdout != want+"\n" || !out.Run.OK() {
			t.Errorf("%s: %q, expected %q\n%+v", source, out.Run.Stdout, want, out.Run)
		}
	}
}

// What a program puts where the module is does not stay to break the next run.
func TestAProgramCannotTakeTheModulesPlace(t *testing.T) {
	s := &shop{}
	in := event(schemas.Python, "import os\nfor n in 'callgate_tools.py', 'callgate_tools.mjs':\n  os.remove(n)\n  os.mkdir(n)\n  open(n + '/x', 'w').write('x')\nopen('left', 'w').write('x')", nil)
	in.Job.ProgramTools = []string{"look_up"}
	e := selling(t, s)
	out := handle(t, e, in)
	if !out.Run.OK() || len(out.Run.Changed) != 1 {
		t.Errorf("%+v", out.Run)
	}
	next := event(schemas.Python, "from callgate_tools import look_up\nprint(look_up('tea')['job'])", nil)
	next.Job.ProgramTools, next.Workspace = in.Job.ProgramTools, out.Workspace
	if out := handle(t, e, next); out.Run.Stdout != "j1\n" {
		t.Errorf("%+v", out.Run)
	}
}
