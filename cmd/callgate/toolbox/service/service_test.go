package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"callgate.dev/cmd/callgate/toolbox/service"
	"callgate.dev/dispatcher/registry"
	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/streamstest"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
)

func TestMain(m *testing.M) { streamstest.Main(m) }

// bench is a registry, a discovery, and what it logged.
type bench struct {
	t        testing.TB
	url      string
	registry *registry.Registry
	look     func()
	log      *lines
}

type lines struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newBench(t testing.TB, patience time.Duration) *bench {
	t.Helper()
	r, err := registry.New(registry.Config{})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, url: streamstest.Server(t).URL(), registry: r, log: &lines{}}
	nc := b.connect()
	d, err := service.New(service.Config{NC: nc, Registry: r, Log: slog.New(slog.NewTextHandler(b.log, nil)), Patience: patience, Quiet: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	b.look = func() { d.Look(t.Context()) }
	return b
}

func (b *bench) connect() *nats.Conn {
	b.t.Helper()
	nc, _ := streamstest.Connect(b.t, b.url)
	return nc
}

func contract(name, version string) string {
	return fmt.Sprintf(`{"name":%q,"version":%q,"description":"Use it in tests.","effect":"pure","runs_in":"host",`+
		`"parameters":{"type":"object","additionalProperties":false,"properties":{"q":{"type":"string"}}}}`, name, version)
}

// instance is what a tool's process registers.
type instance struct {
	name, version string
	subject       string // ToolSubject when empty
	contract      string
	separate      bool // the contract is not in the metadata
	noQueue       bool
	handle        micro.HandlerFunc // answers with the version when nil
	health        micro.HandlerFunc
}

func (b *bench) start(i instance) micro.Service {
	b.t.Helper()
	nc := b.connect()
	s, err := micro.AddService(nc, micro.Config{Name: "tests", Version: "0.1.0", QueueGroupDisabled: i.noQueue})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = s.Stop() })
	if i.contract == "" {
		i.contract = contract(i.name, i.version)
	}
	if i.subject == "" {
		i.subject = streams.ToolSubject(i.name, i.version)
	}
	if i.handle == nil {
		i.handle = func(r micro.Request) { _ = r.RespondJSON(i.version) }
	}
	metadata := map[string]string{service.Metadata: i.contract}
	add := func(name, subject string, h micro.HandlerFunc, m map[string]string) {
		if h == nil {
			return
		}
		if err := s.AddEndpoint(name, h, micro.WithEndpointSubject(subject), micro.WithEndpointMetadata(m)); err != nil {
			b.t.Fatal(err)
		}
	}
	if i.separate {
		metadata = nil
		add("contract", streams.ToolContractSubject(i.name, i.version), func(r micro.Request) { _ = r.Respond([]byte(i.contract)) }, nil)
	}
	add("call", i.subject, i.handle, metadata)
	add("health", streams.ToolHealthSubject(i.name, i.version), i.health, nil)
	if err := nc.Flush(); err != nil { // the server has every subscription
		b.t.Fatal(err)
	}
	return s
}

func (b *bench) stop(s micro.Service) {
	b.t.Helper()
	if err := s.Stop(); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) out(ref string) string {
	b.t.Helper()
	e, ok := b.registry.Entry(ref)
	if !ok {
		b.t.Fatalf("%s is not known\n%s", ref, b.log)
	}
	return e.Out
}

func (b *bench) call(ref string, effect schemas.Effect) (string, error) {
	b.t.Helper()
	e, ok := b.registry.Entry(ref)
	if !ok {
		b.t.Fatalf("%s is not known\n%s", ref, b.log)
	}
	ctx := registry.WithTenant(b.t.Context(), "acme")
	out, err := e.Host.Call(ctx, schemas.Call{ID: "dev_codex_t1_001", Tool: ref, Arguments: json.RawMessage(`{"q":"x"}`), Effect: effect, TimeoutMS: 3000})
	return string(out), err
}

func TestTwoVersionsAndInstances(t *testing.T) {
	b := newBench(t, time.Second)
	var first, second atomic.Int64
	count := func(n *atomic.Int64) micro.HandlerFunc {
		return func(r micro.Request) {
			n.Add(1)
			_ = r.RespondJSON(map[string]string{"tenant": r.Headers().Get(service.HeaderTenant), "call": r.Headers().Get(service.HeaderCall), "data": string(r.Data())})
		}
	}
	one := b.start(instance{name: "look_up", version: "1.0.0", handle: count(&first)})
	b.start(instance{name: "look_up", version: "1.0.0", handle: count(&second)})
	b.start(instance{name: "look_up", version: "2.0.0"})
	b.look()
	if out, err := b.call("look_up@2.0.0", schemas.Pure); err != nil || out != `"2.0.0"` {
		t.Errorf("version 2: %s, %v", out, err)
	}
	for range 200 {
		out, err := b.call("look_up@1.0.0", schemas.Pure)
		if err != nil || out != `{"call":"dev_codex_t1_001","data":"{\"q\":\"x\"}","tenant":"acme"}` {
			t.Fatalf("version 1: %s, %v", out, err)
		}
	}
	if first.Load() == 0 || second.Load() == 0 || first.Load()+second.Load() != 200 {
		t.Errorf("%d and %d of 200 calls", first.Load(), second.Load())
	}
	e, _, refused := b.registry.Resolve(registry.Scope{}, "look_up")
	if refused != nil || e.Contract.Version != "2.0.0" {
		t.Errorf("look_up: %v, %v", e, refused)
	}
	// A job that began with version 1 keeps it.
	e, _, refused = b.registry.Resolve(registry.Scope{Tools: &[]string{"look_up@1.0.0"}}, "look_up")
	if refused != nil || e.Contract.Version != "1.0.0" {
		t.Errorf("look_up of a job with 1.0.0: %v, %v", e, refused)
	}
	b.stop(one)
	b.look()
	if out := b.out("look_up@1.0.0"); out != "" {
		t.Errorf("one instance of two is there, and the tool is out: %s", out)
	}
}

func TestHealth(t *testing.T) {
	b := newBench(t, 300*time.Millisecond)
	var state atomic.Value
	state.Store("")
	s := b.start(instance{name: "look_up", version: "1.0.0", health: func(r micro.Request) {
		switch state.Load() {
		case "":
			_ = r.Respond(nil)
		case "slow": // no answer at all
		default:
			_ = r.Error("503", state.Load().(string), nil)
		}
	}})
	for _, c := range []struct{ state, says string }{
		{"", ""}, {"no disk", "its health check failed: no disk"}, {"", ""}, {"slow", "took more than 300ms"}, {"", ""},
	} {
		state.Store(c.state)
		b.look()
		out := b.out("look_up@1.0.0")
		if (c.says == "") != (out == "") || !strings.Contains(out, c.says) {
			t.Fatalf("health %q: out for %q", c.state, out)
		}
		_, _, refused := b.registry.Resolve(registry.Scope{}, "look_up")
		if (refused != nil) != (c.says != "") || refused != nil && (refused.Class != schemas.ClassToolFailed || !strings.Contains(refused.Message, c.says)) {
			t.Fatalf("health %q: %v", c.state, refused)
		}
	}
	b.stop(s)
	b.look()
	if out := b.out("look_up@1.0.0"); !strings.Contains(out, "no instance") || b.registry.Unavailable() != 1 {
		t.Errorf("without an instance: out for %q, %d out", out, b.registry.Unavailable())
	}
	if _, err := b.call("look_up@1.0.0", schemas.Effectful); err == nil || !strings.Contains(err.Error(), "nothing ran") {
		t.Errorf("a call without an instance: %v", err)
	}
	b.start(instance{name: "look_up", version: "1.0.0"})
	b.look()
	if out := b.out("look_up@1.0.0"); out != "" {
		t.Errorf("with an instance again: %s", out)
	}
}

// A version has one contract. The server would give calls to either instance.
func TestContractIsPinned(t *testing.T) {
	b := newBench(t, time.Second)
	other := strings.Replace(contract("look_up", "1.0.0"), "in tests", "elsewhere", 1)
	first := b.start(instance{name: "look_up", version: "1.0.0"})
	b.look()
	second := b.start(instance{name: "look_up", version: "1.0.0", contract: other})
	b.look()
	if out := b.out("look_up@1.0.0"); !strings.Contains(out, "different contracts") {
		t.Errorf("two contracts: out for %q", out)
	}
	b.stop(second)
	b.look()
	if out := b.out("look_up@1.0.0"); out != "" {
		t.Errorf("one contract again: out for %q", out)
	}
	b.start(instance{name: "look_up", version: "1.0.0", contract: other})
	b.stop(first)
	b.look()
	if out := b.out("look_up@1.0.0"); !strings.Contains(out, "another version") {
		t.Errorf("replaced at once: out for %q", out)
	}
	b.look() // nobody has the old contract any more
	e, _ := b.registry.Entry("look_up@1.0.0")
	if e.Out != "" || !strings.Contains(e.Contract.Description, "elsewhere") {
		t.Errorf("%q, out for %q", e.Contract.Description, e.Out)
	}
}

func TestRefused(t *testing.T) {
	b := newBench(t, time.Second)
	for _, c := range []struct {
		instance
		says string
	}{
		{instance{name: "execute_python", version: "9.0.0"}, "built-in has the tool execute_python already"},
		{instance{name: "Read-File", version: "1.0.0"}, "built-in has the tool read_file already"},
		{instance{name: "a", version: "1.0.0", contract: contract("b", "1.0.0")}, "which is not the subject of b@1.0.0"},
		{instance{name: "c", version: "1.0.0", noQueue: true}, "queue group"},
		{instance{name: "d", version: "1.0.0", contract: `{"name":`}, "ends in the middle"},
		{instance{name: "e", version: "1.0.0", contract: strings.Replace(contract("e", "1.0.0"), "host", "sandbox", 1)}, "runs in the sandbox"},
		{instance{name: "f", version: "1.0.0", contract: " "}, "not JSON"},
	} {
		b.start(c.instance)
		b.look()
		if !strings.Contains(b.log.String(), c.says) {
			t.Errorf("%s@%s: the log does not say %q\n%s", c.name, c.version, c.says, b.log)
		}
	}
	if n := len(b.registry.List()); n != len(schemas.BuiltinTools) {
		t.Errorf("%d tools", n)
	}
	// A service that listens elsewhere is none of these.
	b.start(instance{name: "g", version: "1.0.0", subject: "callgate.job.x.y"})
	before := b.log.String()
	b.look()
	if n := len(b.registry.List()); n != len(schemas.BuiltinTools) || b.log.String() != before {
		t.Errorf("%d tools\n%s", n, b.log)
	}
}

func TestLargeContract(t *testing.T) {
	b := newBench(t, time.Second)
	large := strings.Replace(contract("large", "1.0.0"), `{"q":`, `{"q":{"description":"`+strings.Repeat("x", 40<<10)+`"},"r":`, 1)
	b.start(instance{name: "large", version: "1.0.0", contract: large, separate: true})
	b.look()
	if out := b.out("large@1.0.0"); out != "" {
		t.Error(out)
	}
}

func TestErrors(t *testing.T) {
	b := newBench(t, time.Second)
	var answer atomic.Value
	answer.Store(func(micro.Request) {})
	b.start(instance{name: "look_up", version: "1.0.0", handle: func(r micro.Request) { answer.Load().(func(micro.Request))(r) }})
	b.look()
	for _, c := range []struct {
		name   string
		answer func(micro.Request)
		effect schemas.Effect
		class  schemas.Class
		says   string
	}{
		{"bad arguments", func(r micro.Request) { _ = r.Error("400", "no such city", nil) }, schemas.Pure, schemas.ClassArgumentsInvalid, "no such city"},
		{"denied", func(r micro.Request) { _ = r.Error("403", "not yours", nil) }, schemas.Pure, schemas.ClassToolDenied, "not yours"},
		{"failed", func(r micro.Request) { _ = r.Error("500", "no disk", nil) }, schemas.Effectful, schemas.ClassToolFailed, "no disk"},
		{"another call's", func(r micro.Request) {
			_ = r.Respond([]byte(`1`), micro.WithHeaders(micro.Headers{service.HeaderCall: {"dev_codex_t9_001"}}))
		}, schemas.Pure, schemas.ClassToolFailed, "dev_codex_t9_001"},
		{"another call's, with an effect", func(r micro.Request) {
			_ = r.Respond([]byte(`1`), micro.WithHeaders(micro.Headers{service.HeaderCall: {"dev_codex_t9_001"}}))
		}, schemas.Effectful, schemas.ClassOutcomeUnknown, "may have taken effect"},
	} {
		answer.Store(c.answer)
		_, err := b.call("look_up@1.0.0", c.effect)
		if schemas.ClassOf(err) != c.class || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if !strings.Contains(b.log.String(), "refused a result of another call") {
		t.Errorf("nothing of it is logged\n%s", b.log)
	}
}

// Run ends with its context, and finds what comes while it runs.
func TestRun(t *testing.T) {
	b := newBench(t, time.Second)
	d, err := service.New(service.Config{NC: b.connect(), Registry: b.registry, Log: slog.New(slog.DiscardHandler), Period: 10 * time.Millisecond, Quiet: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- d.Run(ctx) }()
	b.start(instance{name: "late", version: "1.0.0"})
	streamstest.Eventually(t, "the tool is found", func() bool { _, ok := b.registry.Entry("late@1.0.0"); return ok })
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// What is read of each answer is bounded, and one that is too long takes nobody
// else out.
func TestAnAnswerThatIsTooLongIsNotRead(t *testing.T) {
	b := newBench(t, time.Second)
	b.start(instance{name: "fine", version: "1.0.0"})
	large := strings.Replace(contract("large", "1.0.0"), "Use it in tests.", "Use it. "+strings.Repeat("x", 3<<20), 1)
	b.start(instance{name: "large", version: "1.0.0", contract: large})
	b.look()
	if _, ok := b.registry.Entry("fine@1.0.0"); !ok {
		t.Error("the other tool is gone")
	}
	if _, ok := b.registry.Entry("large@1.0.0"); ok || !strings.Contains(b.log.String(), "more than 2097152 bytes and is not read") {
		t.Errorf("read, or not told:\n%s", b.log.String())
	}
}
