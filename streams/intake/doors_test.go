package intake_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/intake"
	"callgate.dev/streams/streamstest/rig"

	"github.com/nats-io/nats.go"
)

func TestBothDoorsLeadToTheLog(t *testing.T) {
	r := rig.New(t)
	door(t, r)
	running(t, r, intake.AdmissionConfig{})

	ok, refused := request(r, "acme", plain)
	if refused != nil {
		t.Fatal(refused)
	}
	env := admitted(r, "acme", ok.ID)
	if env.Submission != (schemas.Submission{Sequence: ok.Sequence, Digest: schemas.Digest(plain), Door: "api"}) {
		t.Fatalf("submission: %+v", env.Submission)
	}
	if ok.ID != schemas.JobIDFor(rig.Epoch, ok.Sequence) {
		t.Fatalf("named %s, not after the submission", ok.ID)
	}
	if env.Lane != schemas.LaneInteractive || env.State != schemas.StatePlanning {
		t.Fatalf("first event: %+v", env)
	}

	seq := publish(r, streams.SubmitSubject("acme", schemas.LaneBatch), body(map[string]any{"prompt": "x", "id": "mine"}))
	env = admitted(r, "acme", "mine")
	if env.Lane != schemas.LaneBatch || env.Submission.Sequence != seq || env.Submission.Door != "publish" {
		t.Fatalf("first event: %+v", env)
	}

	msg := nats.NewMsg(streams.APISubmitSubject("acme"))
	msg.Data, msg.Header = body(map[string]any{"prompt": "x", "id": "lane"}), nats.Header{intake.HeaderLane: {"batch"}}
	if _, err := r.NC.RequestMsgWithContext(r.Ctx, msg); err != nil {
		t.Fatal(err)
	}
	if env = admitted(r, "acme", "lane"); env.Lane != schemas.LaneBatch {
		t.Fatalf("lane: %+v", env)
	}
	empty(r)
}

// garbage is what no door takes, with the class it is refused by.
func garbage() map[string]struct {
	body  []byte
	class schemas.Class
} {
	type bad = struct {
		body  []byte
		class schemas.Class
	}
	return map[string]bad{
		"empty":         {nil, schemas.ClassSubmissionInvalid},
		"not JSON":      {[]byte("hello <there>"), schemas.ClassSubmissionInvalid},
		"cut off":       {[]byte(`{"prompt":"x`), schemas.ClassSubmissionInvalid},
		"binary":        {[]byte{0, 1, 2, 0xff, 0xfe}, schemas.ClassSubmissionInvalid},
		"NUL in a text": {[]byte(`{"prompt":"a\u0000b"}`), schemas.ClassSubmissionInvalid},
		"wrong type":    {[]byte(`{"prompt":7}`), schemas.ClassSubmissionInvalid},
		"unknown field": {[]byte(`{"prompt":"x","prompts":"y"}`), schemas.ClassSubmissionInvalid},
		"array":         {[]byte(`[{"prompt":"x"}]`), schemas.ClassSubmissionInvalid},
		"bad ID":        {[]byte(`{"prompt":"x","id":"a.b"}`), schemas.ClassSubmissionInvalid},
		"2 MB":          {body(map[string]any{"prompt": strings.Repeat("a", 2<<20)}), schemas.ClassTooLarge},
		"7 MB":          {bytes.Repeat([]byte("["), 7<<20), schemas.ClassTooLarge},
	}
}

func TestGarbageLeavesATypedRecordAndTheNextJobRuns(t *testing.T) {
	for name, send := range map[string]func(r *rig.Rig, body []byte) (seq uint64){
		"publish": func(r *rig.Rig, b []byte) uint64 {
			return publish(r, streams.SubmitSubject("acme", schemas.LaneInteractive), b)
		},
		"api": func(r *rig.Rig, b []byte) uint64 {
			if _, refused := request(r, "acme", b); refused == nil {
				r.T.Fatalf("accepted %.40q", b)
			}
			return 0
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := rig.New(t)
			door(t, r)
			running(t, r, intake.AdmissionConfig{})
			n := 0
			for what, g := range garbage() {
				n++
				seq := send(r, g.body)
				got := rejected(r, "acme", n)[n-1]
				if got.Error.Class != g.class || got.Sequence != seq || got.Error.Message == "" {
					t.Errorf("%s: kept as %+v, want class %s at %d", what, got, g.class, seq)
				}
				if len(got.Excerpt) > 1000 || strings.ContainsAny(got.Excerpt, "\x00\x01\x1b\n") {
					t.Errorf("%s: excerpt %q is not safe to show", what, got.Excerpt)
				}
				id := fmt.Sprintf("next-%d", n)
				publish(r, streams.SubmitSubject("acme", schemas.LaneInteractive), body(map[string]any{"prompt": "x", "id": id}))
				admitted(r, "acme", id)
			}
			empty(r)
		})
	}
}

// A publisher may write anything where the tenant belongs. It must not stay in
// the queue, and the answer must be where the publisher can look for it.
func TestAnOddTenantIsRefusedUnderItsOwnWord(t *testing.T) {
	r := rig.New(t)
	door(t, r)
	running(t, r, intake.AdmissionConfig{})
	for _, tenant := range []string{"bad!tenant", strings.Repeat("x", 100), "tenant/with/slash", "ünïcode", "*", "a*b", ">", ">x", "x>", "x>y"} {
		seq := publish(r, streams.SubmitSubject(tenant, schemas.LaneInteractive), plain)
		if got := rejected(r, tenant, 1)[0]; got.Sequence != seq || got.Error.Class != schemas.ClassSubmissionInvalid || !strings.Contains(got.Error.Message, "tenant") {
			t.Errorf("%s: %+v", tenant, got)
		}
		if tenant == "*" || strings.Contains(tenant, ">") {
			continue // a client library refuses to request there
		}
		if _, refused := request(r, tenant, plain); refused == nil || refused.Class != schemas.ClassSubmissionInvalid {
			t.Errorf("%s through the door: %v", tenant, refused)
		}
	}
	empty(r)
	publish(r, streams.SubmitSubject("acme", schemas.LaneInteractive), body(map[string]any{"prompt": "x", "id": "next"}))
	admitted(r, "acme", "next")
}

func TestTheQuotaIsAnErrorOfItsClass(t *testing.T) {
	r := rig.New(t)
	top, err := streams.NewTopology(streams.TopologyConfig{SubmitPerTenant: 3, LogBytes: 256 << 20, SubmitBytes: 64 << 20, BlobBytes: 256 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := streams.Provision(r.Ctx, r.JS, top); err != nil {
		t.Fatal(err)
	}
	door(t, r) // and nobody admits
	for range 3 {
		if _, refused := request(r, "acme", plain); refused != nil {
			t.Fatal(refused)
		}
	}
	if _, refused := request(r, "acme", plain); refused == nil || refused.Class != schemas.ClassQuotaExceeded {
		t.Fatalf("beyond the quota: %v", refused)
	}
	if _, refused := request(r, "other", plain); refused != nil {
		t.Fatalf("another tenant has its own: %v", refused)
	}
}
