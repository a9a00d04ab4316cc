package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"callgate.dev/dispatcher/registry"
	"callgate.dev/schemas"
)

func echo(_ context.Context, call schemas.Call) (json.RawMessage, error) { return call.Arguments, nil }

func tool(name, version string, change ...func(*schemas.ToolContract)) registry.Tool {
	c := schemas.ToolContract{
		Name: name, Version: version, Description: "Use it in tests.", Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{"q":{"type":"string"}}}`),
		Effect: schemas.Pure, RunsIn: schemas.OnHost,
	}
	for _, f := range change {
		f(&c)
	}
	return registry.Tool{Contract: c, Host: registry.HostFunc(echo)}
}

func forTenants(names ...string) func(*schemas.ToolContract) {
	return func(c *schemas.ToolContract) { c.Tenants = names }
}

func open(t *testing.T, tools ...registry.Tool) *registry.Registry {
	t.Helper()
	r, err := registry.New(registry.Config{Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The contracts that come with the package are sound, and each shows what to
// send and what not to.
func TestBuiltin(t *testing.T) {
	r := open(t)
	names := map[string]bool{}
	for _, c := range r.List() {
		names[c.Name] = true
		if c.RunsIn != schemas.InSandbox || c.Effect != schemas.Idempotent {
			t.Errorf("%s runs in the %s and is %s", c.Name, c.RunsIn, c.Effect)
		}
		honours, breaks := 0, 0
		for _, x := range c.Examples {
			if x.Breaks == "" {
				honours++
			} else {
				breaks++
			}
		}
		if honours == 0 || breaks == 0 || len(c.ReturnSchema) == 0 || c.TimeoutMS == 0 {
			t.Errorf("%s: %d examples that honour it, %d that break it, return_schema %d bytes, timeout_ms %d", c.Name, honours, breaks, len(c.ReturnSchema), c.TimeoutMS)
		}
		var p map[string]any
		if err := json.Unmarshal(c.Parameters, &p); err != nil || p["additionalProperties"] != false {
			t.Errorf("%s takes fields that it does not declare", c.Name)
		}
	}
	for _, want := range []string{schemas.ToolExecutePython, schemas.ToolExecuteJavaScript, schemas.ToolReadFile, schemas.ToolWriteFile, schemas.ToolListFiles} {
		if !names[want] {
			t.Errorf("%s is missing", want)
		}
	}
}

func TestResolve(t *testing.T) {
	r := open(t,
		tool("look_up", "1.2.0"), tool("look_up", "1.10.0"), tool("look_up", "2.0.0"),
		tool("get-it", "1.0.0"), tool("get_it", "1.0.0"),
		tool("secret", "1.0.0", forTenants("acme")), tool("secret", "2.0.0", forTenants("acme", "beta")),
	)
	allow := func(refs ...string) *[]string { return &refs }
	for _, c := range []struct {
		tenant string
		tools  *[]string
		name   string
		want   string
		class  schemas.Class
		says   string
	}{
		{"acme", nil, "look_up", "look_up@2.0.0", "", ""},
		{"acme", nil, "look_up@1", "look_up@1.10.0", "", ""},
		{"acme", nil, "look_up@1.2", "look_up@1.2.0", "", ""},
		{"acme", nil, "look_up@2.0.0", "look_up@2.0.0", "", ""},
		{"acme", nil, "look_up@3", "", schemas.ClassUnknownTool, "2.0.0, 1.10.0, 1.2.0"},
		{"acme", nil, "LookUp", "look_up@2.0.0", "", ""},
		{"acme", nil, "functions.look-up", "look_up@2.0.0", "", ""},
		{"acme", nil, "look up<|channel|>commentary", "look_up@2.0.0", "", ""},
		{"acme", nil, "Tools.Look_Up@1", "look_up@1.10.0", "", ""},
		{"acme", nil, "get_it", "get_it@1.0.0", "", ""},
		{"acme", nil, "getit", "", schemas.ClassUnknownTool, "get-it or get_it"},
		{"acme", allow("get_it"), "getit", "get_it@1.0.0", "", ""},
		{"acme", nil, "lok_up", "", schemas.ClassUnknownTool, "did you mean look_up?"},
		{"acme", nil, "delete_everything", "", schemas.ClassUnknownTool, "execute_javascript, execute_python"},
		{"acme", nil, "", "", schemas.ClassUnknownTool, "no tool"},
		{"acme", nil, "@1", "", schemas.ClassUnknownTool, "no tool"},
		{"acme", nil, "secret", "secret@2.0.0", "", ""},
		{"beta", nil, "secret", "secret@2.0.0", "", ""},
		{"beta", nil, "secret@1", "", schemas.ClassUnknownTool, "there is 2.0.0"},
		{"gamma", nil, "secret", "", schemas.ClassToolDenied, "not open to this tenant"},
		{"gamma", nil, "Secret", "", schemas.ClassToolDenied, "not open to this tenant"},
		{"acme", allow("look_up"), "read_file", "", schemas.ClassToolDenied, "not allowed in this job; the tools are look_up"},
		{"acme", allow("look_up@1"), "look_up", "look_up@1.10.0", "", ""},
		{"acme", allow("look_up@1"), "look_up@2", "", schemas.ClassUnknownTool, "1.10.0, 1.2.0"},
		{"acme", allow(), "read_file", "", schemas.ClassToolDenied, "there are no tools in this job"},
		{"acme", allow(), strings.Repeat("x", 1<<20), "", schemas.ClassUnknownTool, "…"},
	} {
		e, written, err := r.Resolve(registry.Scope{Tenant: c.tenant, Tools: c.tools}, c.name)
		name := c.name[:min(len(c.name), 40)]
		if c.class != "" {
			if err == nil || err.Class != c.class || !strings.Contains(err.Message, c.says) || len(err.Message) > 4096 {
				t.Errorf("%q for %s: %v; want %s that says %q", name, c.tenant, err, c.class, c.says)
			}
			continue
		}
		if err != nil || e.Contract.Ref() != c.want {
			t.Errorf("%q for %s: %v, want %s", name, c.tenant, err, c.want)
			continue
		}
		asked, _, _ := strings.Cut(c.name, "@")
		if (written != nil) != (asked != e.Contract.Name) {
			t.Errorf("%q read as %s with the repair %v", name, e.Contract.Name, written)
		}
	}
}

// What another tenant has is not told.
func TestRefusalNamesOnlyOpenTools(t *testing.T) {
	r := open(t, tool("secret_of_acme", "1.0.0", forTenants("acme")))
	_, _, err := r.Resolve(registry.Scope{Tenant: "beta"}, "nothing_like_it")
	if err == nil || strings.Contains(err.Message, "secret") || !strings.Contains(err.Message, "read_file") {
		t.Errorf("refusal for beta: %v", err)
	}
}

func TestContracts(t *testing.T) {
	r := open(t, tool("a", "1.0.0"), tool("a", "2.0.0"), tool("b", "1.0.0", forTenants("acme")))
	refs := func(tenant string, names *[]string) string {
		list, err := r.Contracts(tenant, names)
		var e *schemas.Error
		if errors.As(err, &e) {
			return string(e.Class)
		}
		if err != nil || list == nil {
			return fmt.Sprintf("%v %v", list, err)
		}
		var out []string
		for _, c := range list {
			out = append(out, c.Ref())
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct {
		tenant string
		names  *[]string
		want   string
	}{
		{"acme", nil, "a@2.0.0 b@1.0.0 execute_javascript@1.0.0 execute_python@1.0.0 list_files@1.0.0 read_file@1.0.0 write_file@1.0.0"},
		{"beta", nil, "a@2.0.0 execute_javascript@1.0.0 execute_python@1.0.0 list_files@1.0.0 read_file@1.0.0 write_file@1.0.0"},
		{"acme", &[]string{}, ""},
		{"acme", &[]string{"b", "a@1", "b"}, "b@1.0.0 a@1.0.0"},
		{"acme", &[]string{"c"}, "unknown_tool"},
		{"acme", &[]string{"Read-File"}, "unknown_tool"},
		{"beta", &[]string{"b"}, "tool_denied"},
	} {
		if got := refs(c.tenant, c.names); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.tenant, c.names, got, c.want)
		}
	}
}

func TestRegisterRefuses(t *testing.T) {
	r := open(t, tool("a", "1.0.0"))
	sandbox := tool("mine", "1.0.0", func(c *schemas.ToolContract) { c.RunsIn = schemas.InSandbox })
	sandboxed := sandbox
	sandboxed.Host = nil
	for _, c := range []struct {
		tool registry.Tool
		says string
	}{
		{tool("a", "1.0.0"), "registered already"},
		{registry.Tool{Contract: tool("b", "1.0.0").Contract}, "nothing there runs it"},
		{sandbox, "something on the host runs it"},
		{sandboxed, "only these run"},
	} {
		err := r.Register(c.tool)
		var faults registry.Faults
		if !errors.As(err, &faults) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.tool.Contract.Ref(), err, c.says)
		}
	}
	for _, c := range []struct {
		change func(*schemas.ToolContract)
		says   string
	}{
		{func(c *schemas.ToolContract) { c.FallbackTool = "nowhere" }, `no tool "nowhere"`},
		{func(c *schemas.ToolContract) { c.FallbackTool = "read_file" }, "runs in the sandbox"},
	} {
		if _, err := registry.New(registry.Config{Tools: []registry.Tool{tool("x", "1.0.0", c.change)}}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
}

// A registry changes while jobs resolve names in it.
func TestChangesWhileInUse(t *testing.T) {
	r := open(t)
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			for i := range 50 {
				one := tool(fmt.Sprintf("t%d", n), fmt.Sprintf("1.%d.0", i))
				if err := r.Register(one); err != nil {
					t.Error(err)
				}
				if _, _, err := r.Resolve(registry.Scope{}, one.Contract.Name); err != nil {
					t.Error(err)
				}
				if i%2 == 1 && !r.Remove(one.Contract.Ref()) {
					t.Errorf("%s was not there", one.Contract.Ref())
				}
			}
		})
	}
	wg.Wait()
	if got, want := len(r.List()), 5+4*25; got != want {
		t.Errorf("%d contracts, want %d", got, want)
	}
	if r.Remove("t0@9.9.9") || r.Remove("nothing") {
		t.Error("something was removed that was not there")
	}
	if _, ok := r.Entry("t0@1.0.0"); !ok {
		t.Error("t0@1.0.0 is gone")
	}
	if _, ok := r.Entry("t0@1.1.0"); ok {
		t.Error("t0@1.1.0 is still there")
	}
}

// What a job may call is found in what there was at one moment: a tool that
// comes or goes meanwhile is there or is not, and nothing in between.
func TestAToolThatComesAndGoes(t *testing.T) {
	r := open(t)
	one := tool("shy", "1.0.0")
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 2000 {
			if err := r.Register(one); err != nil {
				t.Error(err)
			}
			r.Remove(one.Contract.Ref())
		}
	})
	for range 2000 {
		if _, err := r.Contracts("default", nil); err != nil {
			t.Fatalf("every tool: %v", err)
		}
		if _, err := r.Contracts("default", &[]string{"shy"}); err != nil && !strings.HasPrefix(err.Error(), `unknown_tool: no tool "shy"`) {
			t.Fatal(err)
		}
	}
	wg.Wait()
}
