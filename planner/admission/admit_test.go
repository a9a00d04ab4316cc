package admission

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"callgate.dev/schemas"
)

var meta = schemas.Meta{Tenant: "acme", Lane: schemas.LaneBatch, Sequence: 42, Door: "publish", Stored: time.Date(2026, 3, 1, 13, 4, 5, 678, time.FixedZone("CET", 3600))}

func TestAdmit(t *testing.T) {
	raw := []byte(`{"prompt":"Write add.","files":[{"path":"a.txt","content":"1"}],"limits":{"attempts":2}}`)
	got, err := Admit(raw, meta)
	if err != nil {
		t.Fatal(err)
	}
	if got.JobID != "j20260301t120405-42" || got.Job.ID != "" || got.Tenant != "acme" || got.Lane != schemas.LaneBatch || got.State != schemas.StatePlanning {
		t.Errorf("event %+v", got)
	}
	if got.Submission != (schemas.Submission{Sequence: 42, Digest: digest(raw), Door: "publish"}) {
		t.Errorf("submission %+v", got.Submission)
	}
	if !got.CreatedAt.Equal(meta.Stored) || got.CreatedAt.Location() != time.UTC {
		t.Errorf("created at %v", got.CreatedAt)
	}
	if got.Job.Language != schemas.Python || got.Job.Limits.Attempts != 2 || got.Job.Limits.Turns != schemas.DefaultLimits.Turns || len(got.Job.Files) != 1 || got.Workspace != nil {
		t.Errorf("job %+v, workspace %v", got.Job, got.Workspace)
	}
	if got.Attempt != 0 || got.Turn != 0 || got.Spent != (schemas.Spent{}) {
		t.Errorf("a new job has attempt %d, turn %d, spent %+v", got.Attempt, got.Turn, got.Spent)
	}
	again, err := Admit(raw, meta)
	if err != nil || !reflect.DeepEqual(again, got) {
		t.Errorf("a redelivery gives another event: %v", err)
	}
	b, err := got.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := schemas.DecodeEnvelope(b); err != nil {
		t.Error(err)
	}
}

// The same job, written by another library, is the same submission; another
// value is not, and neither is another spelling of a number.
func TestSubmissionsAreToldApartByWhatTheySay(t *testing.T) {
	of := func(body string) string {
		t.Helper()
		env, err := Admit([]byte(body), meta)
		if err != nil {
			t.Fatal(err)
		}
		return env.Submission.Digest
	}
	first := of(`{"id":"a","prompt":"x","limits":{"attempts":2,"turns":3}}`)
	if same := of("{ \"limits\": {\"turns\": 3, \"attempts\": 2},\n \"prompt\": \"\\u0078\", \"id\": \"a\" }"); same != first {
		t.Errorf("digest %s, of the same fields %s", first, same)
	}
	for _, other := range []string{
		`{"id":"a","prompt":"y","limits":{"attempts":2,"turns":3}}`,
		`{"id":"a","prompt":"x","limits":{"attempts":2}}`,
		`{"id":"a","prompt":"x","limits":{"attempts":2,"turns":3},"context":1.0}`,
	} {
		if of(other) == first {
			t.Errorf("%s has the same digest", other)
		}
	}
	if of(`{"prompt":"x","context":1}`) == of(`{"prompt":"x","context":1.0}`) {
		t.Error("1 and 1.0 are shown to the model as they are, and have the same digest")
	}
}

func TestAdmitKeepsTheCallersID(t *testing.T) {
	first, err := Admit([]byte(`{"id":"mine","prompt":"x"}`), meta)
	if err != nil {
		t.Fatal(err)
	}
	other := meta
	other.Sequence, other.Lane = 43, ""
	second, err := Admit([]byte(`{"id":"mine","prompt":"y"}`), other)
	if err != nil {
		t.Fatal(err)
	}
	if first.JobID != "mine" || second.JobID != "mine" || first.Submission.Digest == second.Submission.Digest {
		t.Errorf("%+v, %+v: one ID, and digests that tell the bodies apart", first.Submission, second.Submission)
	}
	if second.Lane != schemas.LaneInteractive {
		t.Errorf("lane %q where none is said", second.Lane)
	}
}

func TestAdmitRefuses(t *testing.T) {
	const fine = `{"prompt":"x"}`
	at := func(change func(*schemas.Meta)) schemas.Meta { m := meta; change(&m); return m }
	tests := []struct {
		name  string
		raw   string
		meta  schemas.Meta
		class schemas.Class
		says  string
	}{
		{"no JSON", "hello", meta, schemas.ClassSubmissionInvalid, "submission"},
		{"nothing", "", meta, schemas.ClassSubmissionInvalid, "submission"},
		{"two jobs", fine + fine, meta, schemas.ClassSubmissionInvalid, "submission"},
		{"wrong type", `{"prompt":7}`, meta, schemas.ClassSubmissionInvalid, "prompt"},
		{"unknown field", `{"prompt":"x","promt":"y"}`, meta, schemas.ClassSubmissionInvalid, "promt"},
		{"unknown language", `{"prompt":"x","language":"cobol"}`, meta, schemas.ClassSubmissionInvalid, "language"},
		{"no prompt, no code", `{}`, meta, schemas.ClassSubmissionInvalid, "prompt"},
		{"NUL", `{"prompt":"a\u0000b"}`, meta, schemas.ClassSubmissionInvalid, "NUL"},
		{"ID with a dot", `{"id":"a.b","prompt":"x"}`, meta, schemas.ClassSubmissionInvalid, "id"},
		{"2 MB prompt", `{"prompt":"` + strings.Repeat("x", 2<<20) + `"}`, meta, schemas.ClassTooLarge, "at most"},
		{"long prompt", `{"prompt":"` + strings.Repeat("x", 300<<10) + `"}`, meta, schemas.ClassTooLarge, "prompt"},
		{"tenant with a wildcard", fine, at(func(m *schemas.Meta) { m.Tenant = "acme.>" }), schemas.ClassSubmissionInvalid, `tenant "acme.>"`},
		{"no tenant", fine, at(func(m *schemas.Meta) { m.Tenant = "" }), schemas.ClassSubmissionInvalid, "tenant"},
		{"unknown lane", fine, at(func(m *schemas.Meta) { m.Lane = "fast" }), schemas.ClassInternal, `"fast"`},
		{"unknown door", fine, at(func(m *schemas.Meta) { m.Door = "window" }), schemas.ClassInternal, `"window"`},
		{"not stored yet", fine, at(func(m *schemas.Meta) { m.Sequence = 0 }), schemas.ClassInternal, "sequence 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Admit([]byte(tt.raw), tt.meta)
			if schemas.ClassOf(err) != tt.class || err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v, want %s with %q", err, tt.class, tt.says)
			}
			if !reflect.DeepEqual(got, schemas.Envelope{}) {
				t.Error("a refused submission has an event")
			}
		})
	}
}

func FuzzAdmit(f *testing.F) {
	f.Add([]byte(`{"id":"a","prompt":"x","tools":[],"contract":{"entrypoint":{"name":"f"}}}`), "default")
	f.Add([]byte("\xff{"), "a b")
	f.Fuzz(func(t *testing.T, raw []byte, tenant string) {
		m := meta
		m.Tenant = tenant
		got, err := Admit(raw, m)
		if err != nil {
			if c := schemas.ClassOf(err); c != schemas.ClassSubmissionInvalid && c != schemas.ClassTooLarge {
				t.Fatalf("error %v", err)
			}
			return
		}
		b, err := got.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := schemas.DecodeEnvelope(b); err != nil {
			t.Fatalf("the event can't be read back: %v", err)
		}
	})
}
