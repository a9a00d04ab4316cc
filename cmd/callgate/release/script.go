package release

import (
	"encoding/json"
	"fmt"
	"strings"

	"callgate.dev/cmd/callgate/toolbox/service"
	"callgate.dev/schemas"
	"callgate.dev/streams"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
)

// Tools of the trial: one that never answers, its fallback, and one that is
// for tenant A alone.
const (
	slow, quick, private = "release_slow", "release_quick", "release_private"
	prompt               = "Release check of tenant "
	program              = "```python\nprint(open('note.txt').read())\n```"
)

// scripted is a call that the recorded model makes. Arguments are as they go
// over the wire.
type scripted struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// builtin are calls of the built-in tools; the first is written as models write
// when they do it wrong, and is repaired.
func builtin() []scripted {
	return []scripted{
		{schemas.ToolWriteFile, "{'path': 'note.txt', 'content': 'checked',}"},
		{schemas.ToolReadFile, `{"path": "note.txt"}`},
		{schemas.ToolListFiles, `{}`},
		{schemas.ToolExecutePython, `{"code": "print(6 * 7)"}`},
		{schemas.ToolExecuteJavaScript, `{"code": "console.log(6 * 7)"}`},
	}
}

// examples are the calls by which a contract shows itself. Of a tool that works
// on files only those count that say what they return: others need a file.
func examples(c schemas.ToolContract) (list []scripted) {
	for _, x := range c.Examples {
		if x.Breaks == "" && (c.RunsIn == schemas.OnHost || len(x.Returns) > 0) {
			list = append(list, scripted{c.Name, string(x.Arguments)})
		}
	}
	return list
}

// answers is the recorded model: each tenant's job makes its calls, and then
// sends a program.
func answers(sandbox []schemas.ToolContract) []byte {
	calls := append(builtin(), scripted{"launch_rocket", `{}`}, scripted{slow, `{"q": "a"}`}, scripted{private, `{"q": "a"}`})
	for _, c := range sandbox {
		calls = append(calls, examples(c)...)
	}
	var b strings.Builder
	for tenant, list := range map[string][]scripted{tenantA: calls, tenantB: {builtin()[0], {private, `{"q": "b"}`}}} {
		line, err := json.Marshal(map[string]any{"match": prompt + tenant, "answers": []any{map[string]any{"content": nil, "tool_calls": list}, program}})
		if err != nil {
			panic(err) // texts only
		}
		fmt.Fprintf(&b, "%s\n", line)
	}
	return []byte(b.String())
}

// offer registers the trial's tools, as any program would.
func offer(nc *nats.Conn) (stop func(), err error) {
	s, err := micro.AddService(nc, micro.Config{Name: "callgate-release-check", Version: "1.0.0"})
	if err != nil {
		return nil, fmt.Errorf("offer tools: %w", err)
	}
	for _, tool := range []struct{ name, more string }{
		{slow, `"timeout_ms":200,"fallback_tool":"` + quick + `",`}, {quick, ""}, {private, `"tenants":["` + tenantA + `"],`},
	} {
		contract := `{"name":"` + tool.name + `","version":"1.0.0","description":"Use it in the release check.","effect":"pure","runs_in":"host",` + tool.more +
			`"parameters":{"type":"object","additionalProperties":false,"properties":{"q":{"type":"string"}}}}`
		err := s.AddEndpoint(tool.name, micro.HandlerFunc(func(r micro.Request) {
			if tool.name != slow {
				_ = r.RespondJSON(tool.name) // who asked is gone, which shows in the checks
			}
		}), micro.WithEndpointSubject(streams.ToolSubject(tool.name, "1.0.0")), micro.WithEndpointMetadata(map[string]string{service.Metadata: contract}))
		if err != nil {
			return nil, fmt.Errorf("offer tool %s: %w", tool.name, err)
		}
	}
	return func() { _ = s.Stop() }, nil // fails only with the connection gone
}
