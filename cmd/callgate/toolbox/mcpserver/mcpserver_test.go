package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"callgate.dev/cmd/callgate/toolbox/mcpserver"
	"callgate.dev/dispatcher/registry"
	"callgate.dev/schemas"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func open(t *testing.T, c mcpserver.Config) (*mcpserver.Servers, *registry.Registry) {
	t.Helper()
	r, err := registry.New(registry.Config{})
	if err != nil {
		t.Fatal(err)
	}
	c.Registry, c.Log = r, slog.New(slog.DiscardHandler)
	s, err := mcpserver.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	s.Look(t.Context())
	return s, r
}

func call(t *testing.T, r *registry.Registry, ref, arguments string) (string, error) {
	t.Helper()
	e, ok := r.Entry(ref)
	if !ok {
		t.Fatalf("no %s", ref)
	}
	clean, err := e.Check(json.RawMessage(arguments))
	if err != nil {
		return "", err
	}
	out, err := e.Host.Call(t.Context(), schemas.Call{ID: "dev_codex_t1_001", Tool: ref, Arguments: clean, Effect: e.Contract.Effect})
	if err == nil {
		err = e.CheckOutput(out)
	}
	return string(out), err
}

// The example server, over its standard input and output.
func TestCommand(t *testing.T) {
	dir, err := filepath.Abs("../../../../examples/tools/mcp")
	if err != nil {
		t.Fatal(err)
	}
	_, r := open(t, mcpserver.Config{Dir: dir, Patience: 30 * time.Second, Servers: map[string]mcpserver.Entry{
		"notes": {Command: []string{"/usr/bin/python3", "notes.py"}, Tenants: []string{"acme"}},
		"gone":  {Command: []string{"/nowhere/server"}}, // does not keep the others
	}})
	for _, text := range []string{"one", "two"} {
		if _, err := call(t, r, "notes__add_note@1.0.0", `{"text":"`+text+`"}`); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := call(t, r, "notes__list_notes@1.0.0", `{}`); err != nil || out != `{"notes":["one","two"]}` {
		t.Errorf("notes: %s, %v", out, err)
	}
	if _, err := call(t, r, "notes__add_note@1.0.0", `{"text":"three","txet":"four"}`); err == nil {
		t.Error("a misspelt field was let through")
	}
	add, _ := r.Entry("notes__add_note@1.0.0")
	list, _ := r.Entry("notes__list_notes@1.0.0")
	if add.Contract.Effect != schemas.Effectful || list.Contract.Effect != schemas.Idempotent {
		t.Errorf("add_note is %s, list_notes %s", add.Contract.Effect, list.Contract.Effect)
	}
	if _, _, err := r.Resolve(registry.Scope{Tenant: "beta"}, "notes__add_note"); err == nil || err.Class != schemas.ClassToolDenied {
		t.Errorf("another tenant: %v", err)
	}
}

// The SDK's own server, over streamable HTTP.
func TestHTTP(t *testing.T) {
	type in struct {
		City string `json:"city"`
	}
	type out struct {
		Degrees int `json:"degrees"`
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "weather", Version: "v2.1-beta"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "now", Description: "Use it for the weather.", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *mcp.CallToolRequest, in in) (*mcp.CallToolResult, out, error) {
			if in.City == "" {
				return nil, out{}, errors.New("a city is wanted")
			}
			return nil, out{len(in.City)}, nil
		})
	server.AddTool(&mcp.Tool{Name: "composed", Description: "Use it never.", InputSchema: json.RawMessage(`{"type":"object","allOf":[{"properties":{"a":{"type":"integer"}}}]}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}, &mcp.ImageContent{MIMEType: "image/png", Data: []byte("xyz")}}}, nil
		})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	var away atomic.Bool
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.Header.Get("Authorization") != "Bearer t0ken" || away.Load() {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		handler.ServeHTTP(w, q)
	}))
	t.Cleanup(web.Close)
	s, r := open(t, mcpserver.Config{Patience: 30 * time.Second, Getenv: func(string) string { return "t0ken" }, Servers: map[string]mcpserver.Entry{
		"weather": {URL: web.URL, BearerEnv: "WEATHER_TOKEN"},
	}})
	if got, err := call(t, r, "weather__now@2.1.0", `{"city":"Oslo"}`); err != nil || got != `{"degrees":4}` {
		t.Errorf("now: %s, %v", got, err)
	}
	if _, err := call(t, r, "weather__now@2.1.0", `{"city":""}`); schemas.ClassOf(err) != schemas.ClassToolFailed || !strings.Contains(err.Error(), "a city is wanted") {
		t.Errorf("now, without a city: %v", err)
	}
	if got, err := call(t, r, "weather__composed@2.1.0", `{"a":1}`); err != nil || got != `"done\n[an image, image/png, 3 bytes, which is not shown]"` {
		t.Errorf("composed: %s, %v", got, err)
	}
	away.Store(true)
	s.Look(t.Context())
	if e, _ := r.Entry("weather__now@2.1.0"); !strings.Contains(e.Out, "MCP server weather") {
		t.Errorf("the server is away, and the tool is out for %q", e.Out)
	}
	if _, err := call(t, r, "weather__now@2.1.0", `{"city":"Oslo"}`); err == nil {
		t.Error("a call was answered")
	}
	away.Store(false)
	s.Look(t.Context())
	server.RemoveTools("composed")
	s.Look(t.Context())
	if e, _ := r.Entry("weather__now@2.1.0"); e.Out != "" {
		t.Errorf("the server is back, and the tool is out for %q", e.Out)
	}
	if e, _ := r.Entry("weather__composed@2.1.0"); !strings.Contains(e.Out, "does not list it") {
		t.Errorf("not listed any more, and out for %q", e.Out)
	}
}

func TestParse(t *testing.T) {
	good := `{"servers": {"a": {"command": ["x"], "env": {"K": "v"}}, "b": {"url": "https://example.com/mcp", "bearer_env": "T", "timeout_ms": 5000}}}`
	if servers, err := mcpserver.Parse("s.json", []byte(good)); err != nil || len(servers) != 2 {
		t.Error(servers, err)
	}
	for in, says := range map[string]string{
		"{\n\"servers\": x}":                                         "s.json:2",
		`{"mcpServers": {}}`:                                         "unknown field",
		`{"servers": {"a_b": {"command": ["x"]}}}`:                   "NAME__TOOL",
		`{"servers": {"a": {}}}`:                                     "a command or a url",
		`{"servers": {"a": {"url": "ftp://x"}}}`:                     "http://HOST",
		`{"servers": {"a": {"url": "http://x", "env": {"K": "v"}}}}`: "env with a command",
		`{"servers": {"a": {"command": ["x"], "timeout_ms": 1}}}`:    "100 to 30000",
		`{"servers": {"a": {"command": ["x"], "tenants": ["a.b"]}}}`: "tenant",
	} {
		if _, err := mcpserver.Parse("s.json", []byte(in)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", in, err)
		}
	}
}
