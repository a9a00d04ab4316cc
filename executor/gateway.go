package executor

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"sync"

	"callgate.dev/executor/sandbox"
	"callgate.dev/schemas"
	"callgate.dev/schemas/stub"
)

// gateway makes the calls of an event's programs, one at a time. They are named
// by what is called and which such call of the event it is, so that a delivery
// after a crash finds what an effectful one came to, in whatever order threads
// call then, unless the program calls something else. Where a trial runs its
// program twice, the second run hears what the effectful calls of the first came
// to: a trial takes an effect once.
type gateway struct {
	caller schemas.ToolCaller
	in     schemas.Envelope
	stubs  []schemas.File

	mu    sync.Mutex
	times map[string]int                 // such calls, by component
	took  map[string]schemas.ProgramCall // effectful ones, by ID
	lines int                            // of the run, as asked
	asked int                            // bytes
	made  []schemas.ProgramCall
	lost  error // why nobody can say what came of a call
}

// What a run may ask of the supervisor, which no limit of the run holds: its
// lines are read and kept there.
const (
	maxRequest  = schemas.MaxDocumentBytes     // bytes of a line
	maxRequests = 4 * schemas.MaxProgramCalls  // lines, refused ones too; then the connection ends
	maxAsked    = 4 * schemas.MaxDocumentBytes // bytes of all of them
)

// gatewayOf returns nil for a job whose programs call no tools.
func (e *Executor) gatewayOf(in schemas.Envelope) (*gateway, error) {
	names := in.Job.ProgramTools
	if len(names) == 0 {
		return nil, nil
	}
	if e.config.Caller == nil {
		return nil, errors.New("the executor has nobody who calls tools for programs")
	}
	contracts, err := e.config.Caller.Contracts(in.Tenant, &names)
	if err != nil {
		return nil, err
	}
	g := &gateway{caller: e.config.Caller, in: in, times: map[string]int{}, took: map[string]schemas.ProgramCall{}}
	for _, lang := range schemas.Languages { // a tool may run either
		files, err := stub.Files(lang, contracts)
		if err != nil {
			return nil, err
		}
		g.stubs = append(g.stubs, files...)
	}
	return g, nil
}

// service is what one run sees of g. Calls are those that it makes.
func (g *gateway) service(ctx context.Context) sandbox.Service {
	return sandbox.Service{Host: stub.Host, Port: stub.Port, Serve: func(over context.Context, c net.Conn) {
		// The call has the handler's context, which the journal knows, and ends with the run.
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(over, cancel)()
		lines := bufio.NewScanner(c)
		lines.Buffer(make([]byte, 0, 4096), maxRequest)
		answers := json.NewEncoder(c)
		answers.SetEscapeHTML(false)
		for lines.Scan() {
			if refused := g.admit(len(lines.Bytes())); refused != nil {
				_ = answers.Encode(refusal(refused))
				return
			}
			if answers.Encode(g.answer(ctx, lines.Bytes())) != nil {
				return // the program has gone
			}
		}
		if errors.Is(lines.Err(), bufio.ErrTooLong) {
			_ = answers.Encode(refusal(schemas.Errorf(schemas.ClassTooLarge, "a call of more than %d bytes", maxRequest)))
		}
	}}
}

// isStub tells what we put into a workspace for a run, what interpreters make of
// it, and what a program put in its place.
func isStub(f schemas.File) bool {
	name := strings.TrimPrefix(f.Path, "__pycache__/")
	return schemas.IsStub(f.Path) || name != f.Path && strings.HasPrefix(name, "callgate_tools.")
}

// answer is one line back to the program.
type answer struct {
	Output json.RawMessage `json:"output,omitempty"`
	Error  *schemas.Error  `json:"error,omitempty"`
}

func refusal(err *schemas.Error) answer { return answer{Error: err} }

// admit counts a line of n bytes, and refuses it where the run has said enough.
func (g *gateway) admit(n int) *schemas.Error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lines++
	g.asked += n
	switch {
	case g.lines > maxRequests:
		return schemas.Errorf(schemas.ClassToolDenied, "a program asks for at most %d calls, refused ones included", maxRequests)
	case g.asked > maxAsked:
		return schemas.Errorf(schemas.ClassTooLarge, "the calls of a program have at most %d bytes together", maxAsked)
	}
	return nil
}

func (g *gateway) answer(ctx context.Context, line []byte) answer {
	var asked struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(line, &asked); err != nil {
		return refusal(schemas.Errorf(schemas.ClassArgumentsInvalid, `a call is a line {"name": …, "arguments": {…}}: %v`, err))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.lost != nil || ctx.Err() != nil {
		return refusal(schemas.Errorf(schemas.ClassOutcomeUnknown, "the run is over"))
	}
	if len(g.made) >= schemas.MaxProgramCalls {
		return refusal(schemas.Errorf(schemas.ClassToolDenied, "a program makes at most %d calls", schemas.MaxProgramCalls))
	}
	id := g.id(asked.Name, asked.Arguments)
	if x, ok := g.took[id]; ok {
		return g.keep(x)
	}
	call, result, err := g.caller.CallTool(ctx, g.in, schemas.Call{ID: id, Name: asked.Name, Raw: string(asked.Arguments)})
	if err != nil {
		unknown := schemas.Errorf(schemas.ClassOutcomeUnknown, "nobody can say what came of the call")
		switch {
		case ctx.Err() == nil:
			g.lost = err
		case call.Effect == schemas.Effectful: // the program ended first, and the effect may come all the same
			return g.keep(schemas.ProgramCall{Call: call, Result: schemas.CallResult{CallID: id, Error: unknown}})
		}
		return refusal(unknown)
	}
	return g.keep(schemas.ProgramCall{Call: call, Result: result})
}

// id names the next call of a tool with these arguments.
func (g *gateway) id(name string, arguments json.RawMessage) string {
	component := "program" + schemas.Digest([]byte(name + "\x00" + string(arguments)))[:16]
	g.times[component]++
	return schemas.DeriveCallID("job", component, g.in.Sequence, g.times[component]).String()
}

// keep holds what a call came to, and answers it.
func (g *gateway) keep(x schemas.ProgramCall) answer {
	g.made = append(g.made, x)
	if x.Call.Effect == schemas.Effectful && !x.Result.Rejected {
		g.took[x.Call.ID] = x
	}
	return answer{Output: x.Result.Output, Error: x.Result.Error}
}

// again has the next run's calls be those of the runs before it. A nil gateway
// makes none.
func (g *gateway) again() {
	if g != nil {
		clear(g.times)
	}
}

// take returns the calls of the run that is over.
func (g *gateway) take() ([]schemas.ProgramCall, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	made := g.made
	g.made, g.lines, g.asked = nil, 0, 0
	return made, g.lost
}
