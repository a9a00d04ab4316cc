package steering_test

import (
	"errors"
	"strings"
	"testing"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/steering"
	"callgate.dev/streams/streamstest/rig"
)

func TestForkIsANewJobOnce(t *testing.T) {
	r := rig.New(t)
	o := operator(r)
	events := r.Chain(rig.Planning("a"), sandbox, failed)
	req := steering.ForkRequest{Tenant: rig.Tenant, JobID: "a", At: steering.Target{Sequence: events[1].Sequence},
		Set: map[string]string{"limits.attempts": "6", "model": "7b-coder", "prompt": "write it \"again\"", "contract.strict": "true"}}
	d, err := o.Fork(r.Ctx, req)
	if err != nil || !d.Changed || d.ForkOf != "a@2" || d.State != sandbox || d.ID == "a" {
		t.Fatalf("%+v, %v", d, err)
	}
	env := r.Last(rig.Tenant, d.ID)
	if j := env.Job; j.Limits.Attempts != 6 || j.Model != "7b-coder" || j.Prompt != `write it "again"` || !j.Contract.Strict || j.ID != d.ID {
		t.Fatalf("overrides: %+v", j)
	}
	if env.Steering.ForkedFrom != "a@2" || env.Attempt != 1 || env.Spent != (schemas.Spent{}) || env.Code.Digest != events[1].Code.Digest || env.Submission.Door != "fork" {
		t.Fatalf("first event: %+v", env)
	}
	// Again, before and after the fork went on: the same job.
	r.Append(rig.Step(env, verify), env.Sequence)
	again, err := o.Fork(r.Ctx, req)
	if err != nil || again.Changed || again.ID != d.ID {
		t.Fatalf("again: %+v, %v", again, err)
	}
	wantStates(r, d.ID, sandbox, verify)
	wantStates(r, "a", planning, sandbox, failed)

	req.Set["limits.attempts"] = "7"
	other, err := o.Fork(r.Ctx, req)
	if err != nil || !other.Changed || other.ID == d.ID {
		t.Fatalf("other overrides: %+v, %v", other, err)
	}
	req.ID = "a"
	_, err = o.Fork(r.Ctx, req)
	wantClass(t, err, schemas.ClassIDConflict)
}

func TestForkRefusesWhatNoSubmissionCouldAsk(t *testing.T) {
	r := rig.New(t)
	o := operator(r)
	r.Chain(rig.Planning("a"), failed)
	for _, c := range []struct{ key, value, want string }{
		{"limits.attempts", "1000", "50"},
		{"limits.attempts", "many", "attempts"},
		{"limit.attempts", "6", "limit"},
		{"prompt.text", "x", "not an object"},
		{"language", "cobol", "language"},
		{"id", "b", "apart"},
		{"", "x", "set"},
	} {
		_, err := o.Fork(r.Ctx, steering.ForkRequest{Tenant: rig.Tenant, JobID: "a", At: steering.Target{State: planning}, Set: map[string]string{c.key: c.value}})
		wantClass(t, err, schemas.ClassArgumentsInvalid, c.want)
	}
	_, err := o.Fork(r.Ctx, steering.ForkRequest{Tenant: rig.Tenant, JobID: "a", At: steering.Target{Sequence: 2}})
	wantClass(t, err, schemas.ClassArgumentsInvalid, "1 (planning)")
	_, err = o.Fork(r.Ctx, steering.ForkRequest{Tenant: rig.Tenant, JobID: "a", At: steering.Target{Sequence: 1}, ID: "not.a.name"})
	wantClass(t, err, schemas.ClassSubmissionInvalid)
	if got := r.Count(streams.StreamLog); got != 2 {
		t.Fatalf("%d events", got)
	}
}

// The origin's blobs go when it goes; the fork must not notice.
func TestAForkOwnsItsBlobs(t *testing.T) {
	r := rig.New(t)
	o := operator(r)
	archive, err := r.Blobs.Put(r.Ctx, rig.Tenant, "a", 1, []byte("the workspace"))
	if err != nil {
		t.Fatal(err)
	}
	first := rig.Planning("a")
	first.Conversation = []schemas.Message{{Role: schemas.RoleUser, Content: strings.Repeat("x", 300<<10)}}
	first.Workspace = &schemas.Workspace{Digest: "sha256:1", Archive: &archive}
	r.Chain(first, failed)
	d, err := o.Fork(r.Ctx, steering.ForkRequest{Tenant: rig.Tenant, JobID: "a", At: steering.Target{State: planning}, ID: "b"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Blobs.Purge(r.Ctx, streams.JobKey{Tenant: rig.Tenant, JobID: "a"}); err != nil {
		t.Fatal(err)
	}
	env := r.Last(rig.Tenant, d.ID)
	if len(env.Conversation) != 1 || len(env.Conversation[0].Content) != 300<<10 {
		t.Fatal("the conversation went with the origin")
	}
	if data, err := r.Blobs.Get(r.Ctx, *env.Workspace.Archive); err != nil || string(data) != "the workspace" {
		t.Fatalf("the workspace went with the origin: %q, %v", data, err)
	}
	if _, err := r.Log.Read(r.Ctx, 1); err == nil {
		t.Fatal("the origin still has its conversation: nothing was tested")
	} else if missing := new(streams.MissingBlobError); !errors.As(err, &missing) {
		t.Fatal(err)
	}
}
