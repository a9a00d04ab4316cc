package main

import (
	"slices"
	"strings"
	"testing"

	"callgate.dev/cmd/callgate/release"
	"callgate.dev/cmd/callgate/toolbox/service"
	"callgate.dev/streams"

	"github.com/nats-io/nats.go/micro"
)

func TestTheReleaseCheckHolds(t *testing.T) {
	t.Parallel()
	got := callgate(t, t.TempDir(), "doctor", "--release", "--json")
	var r releaseReport
	got.decode(t, &r)
	if got.status != 0 || !r.OK {
		t.Errorf("status %d\n%s%s", got.status, got.stdout, got.stderr)
	}
	for _, want := range []string{
		"contract and health of write_file@1.0.0", "tool execute_javascript end to end", "a malformed call is repaired, and says so", "an unknown call is refused, and the model told",
		"call IDs from dispatch to injection", "a timeout is answered by the fallback", "a tool of one tenant", "a tenant's jobs are its own", "error rate",
	} {
		if !slices.ContainsFunc(r.Checks, func(c release.Check) bool { return c.Name == want && c.OK && c.Detail != "" }) {
			t.Errorf("no check %q holds", want)
		}
	}
}

// A tool that breaks its own contract is found, one that takes effect is left
// alone, and neither hides the other checks.
func TestTheReleaseCheckFindsABrokenTool(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{turns("nothing", "nothing")})
	s, err := micro.AddService(r.c.nc, micro.Config{Name: "shop", Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	for name, effect := range map[string]string{"price": "pure", "order": "effectful"} {
		contract := `{"name":"` + name + `","version":"1.0.0","description":"Use it to ` + name + ` an item.","effect":"` + effect + `","runs_in":"host",` +
			`"parameters":{"type":"object","additionalProperties":false},"return_schema":{"type":"number"},"examples":[{"arguments":{}}]}`
		err := s.AddEndpoint(name, micro.HandlerFunc(func(req micro.Request) {
			if name == "order" {
				t.Error("an effectful tool was called")
			}
			_ = req.RespondJSON("no number")
		}), micro.WithEndpointSubject(streams.ToolSubject(name, "1.0.0")), micro.WithEndpointMetadata(map[string]string{service.Metadata: contract}))
		if err != nil {
			t.Fatal(err)
		}
	}
	got := callgate(t, r.home, "doctor", "--release", "--json", "--nats", r.c.nc.ConnectedUrl())
	var report releaseReport
	got.decode(t, &report)
	var failed []string
	for _, c := range report.Checks {
		if !c.OK {
			failed = append(failed, c.Name+": "+c.Detail)
		}
	}
	if got.status != 1 || report.OK || len(failed) != 1 || !strings.Contains(failed[0], "tool price@1.0.0 end to end: example 1: tool_failed") {
		t.Errorf("status %d, %v, %d checks", got.status, failed, len(report.Checks))
	}
}
