package steering_test

import (
	"testing"

	"callgate.dev/schemas"
	"callgate.dev/streams/streamstest/rig"
)

func TestAPersonDecidesOnce(t *testing.T) {
	for decision, to := range map[schemas.Decision]schemas.State{schemas.Approved: sandbox, schemas.Rejected: planning} {
		t.Run(string(decision), func(t *testing.T) {
			r := rig.New(t)
			o := operator(r)
			first := r.Append(rig.Planning("a"), 0)
			r.Append(first.Await(schemas.Review{Reason: "it deletes files", Rule: "dangerous_call", Subject: "d1", Resume: sandbox}), first.Sequence)
			d, err := o.Decide(r.Ctx, rig.Tenant, "a", decision, "seen")
			if err != nil || !d.Changed || d.State != to {
				t.Fatalf("%+v, %v", d, err)
			}
			last := r.Last(rig.Tenant, "a")
			if last.Steering.Decision != decision || last.Steering.Reason != "seen" || last.IsApproved("d1") != (decision == schemas.Approved) {
				t.Fatalf("%+v", last)
			}
			again, err := o.Decide(r.Ctx, rig.Tenant, "a", decision, "seen")
			if err != nil || again.Changed || again.Sequence != d.Sequence {
				t.Fatalf("again: %+v, %v", again, err)
			}
			other := map[schemas.Decision]schemas.Decision{schemas.Approved: schemas.Rejected, schemas.Rejected: schemas.Approved}[decision]
			_, err = o.Decide(r.Ctx, rig.Tenant, "a", other, "")
			wantClass(t, err, schemas.ClassArgumentsInvalid, string(decision))
		})
	}
}

func TestWhoIsNotAskedDecidesNothing(t *testing.T) {
	r := rig.New(t)
	r.Chain(rig.Planning("a"), sandbox)
	_, err := operator(r).Decide(r.Ctx, rig.Tenant, "a", schemas.Approved, "")
	wantClass(t, err, schemas.ClassArgumentsInvalid, "nobody is asked")
}
