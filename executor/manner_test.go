package executor_test

import (
	"fmt"
	"strings"
	"testing"

	"callgate.dev/executor"
	"callgate.dev/executor/sandbox"
	"callgate.dev/schemas"
)

// A job says how its programs are run: its trial, its tests and its calls.
func TestAJobsManner(t *testing.T) {
	box, err := sandbox.New(sandbox.Config{Node: "none", Warm: true, AheadStart: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	e, err := executor.New(executor.Config{Sandbox: box, Analyser: &analyser{}, Blobs: &store{}})
	if err != nil {
		t.Fatal(err)
	}
	program := "print(hash('callgate'))"
	if err := box.Await(t.Context(), sandbox.Spec{Language: schemas.Python, Code: []byte(program)}); err != nil {
		t.Fatal(err)
	}
	in := event(schemas.Python, program, &schemas.Contract{Isolation: schemas.ApartFresh})
	if out := handle(t, e, in); out.Run.Isolation.Start != schemas.StartCold {
		t.Errorf("fresh started %s", out.Run.Isolation.Start)
	}
	in.Job.Contract, in.Job.Deterministic = &schemas.Contract{Tests: "print(hash('callgate'))"}, true
	if out := handle(t, e, in); out.Tests.Stdout != strings.Repeat(out.Run.Stdout, 2) {
		t.Errorf("deterministic printed %q, then with its tests %q", out.Run.Stdout, out.Tests.Stdout)
	}
	calls := callEvent(call("execute_python", `{"code":"print(hash('callgate'))"}`), call("execute_python", `{"code":"print(hash('callgate'))"}`))
	calls.Job.Deterministic = true
	if rs := results(t, handle(t, e, calls)); string(rs[0].Output) != string(rs[1].Output) {
		t.Errorf("%s and %s", rs[0].Output, rs[1].Output)
	}
}

func TestWriteFileKeepsToTheContractsSize(t *testing.T) {
	write := func(n int) schemas.Call {
		return call("write_file", fmt.Sprintf(`{"path":"a","content":%q}`, strings.Repeat("y", n)))
	}
	for _, c := range []struct {
		contract *schemas.Contract
		most     int
	}{
		{nil, 512 << 10}, {&schemas.Contract{}, 512 << 10}, {&schemas.Contract{MaxSizeKB: 1}, 1 << 10},
	} {
		in := callEvent(write(c.most), write(c.most+1))
		in.Job.Contract = c.contract
		rs := results(t, handle(t, newExecutor(t, &store{}), in))
		if rs[0].Error != nil {
			t.Error(rs[0].Error)
		}
		if err := rs[1].Error; err == nil || err.Class != schemas.ClassDiskLimit || !strings.Contains(err.Message, fmt.Sprintf("max_size_kb is %d", c.most>>10)) {
			t.Errorf("%d bytes: %v", c.most+1, err)
		}
	}
}

// A contract's size bounds what programs write as well, of trials and of calls.
func TestAnAuditedJob(t *testing.T) {
	const program = "open('out', 'wb', 0).write(b'x' * 2000)\nopen('out', 'ab', 0).write(b'x')"
	in := event(schemas.Python, program, &schemas.Contract{MaxSizeKB: 1})
	out := handle(t, newExecutor(t, &store{}), in)
	if r := out.Run; r.Class == nil || *r.Class != schemas.ClassDiskLimit || r.Audit == nil || r.Audit.Trusted || len(r.Audit.Records) == 0 {
		t.Errorf("%s %s, %+v", r.Status, r.Detail, r.Audit)
	}
	raw, err := out.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := schemas.CheckDocument("envelope", raw); err != nil {
		t.Error(err)
	}
	in.Job.Contract = &schemas.Contract{Audit: true}
	if r := handle(t, newExecutor(t, &store{}), in).Run; !r.OK() || r.Audit == nil {
		t.Errorf("%s %s, %+v", r.Status, r.Detail, r.Audit)
	}
	calls := callEvent(call("execute_python", fmt.Sprintf(`{"code":%q}`, program)))
	calls.Job.Contract = &schemas.Contract{MaxSizeKB: 1}
	if r := results(t, handle(t, newExecutor(t, &store{}), calls))[0]; r.Error == nil || r.Error.Class != schemas.ClassDiskLimit {
		t.Errorf("%s, %v", r.Output, r.Error)
	}
}
