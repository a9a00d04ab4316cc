package verifier

import (
	"encoding/json"
	"strings"
	"testing"

	"callgate.dev/schemas"
)

func TestCodedResults(t *testing.T) {
	const schema = `{"type":"object","required":["at","n"],"properties":{"at":{"type":"string","format":"date-time"},"n":{"type":"integer"},"required":{"type":"string"}},"additionalProperties":false}`
	for _, c := range []struct {
		name, printed, schema string
		data, why             string // why it is rejected, or, with data, what lacks
	}{
		{"success", `{"status":"success","data":{"at":"2026-03-01T12:00:00+02:00","n":12345678901234567890},"error":null}`, schema, `{"at":"2026-03-01T10:00:00Z","n":12345678901234567890}`, ""},
		{"after prose", "working\n" + `{"status":"success","data":{"at":"2026-03-01T12:00:00Z","n":1}}`, schema, `{"at":"2026-03-01T12:00:00Z","n":1}`, ""},
		{"partial", `{"status":"partial_success","data":{"n":1},"error":{"message":"no time in row 3"}}`, schema, `{"n":1}`, "result_invalid: no time in row 3"},
		{"partial of a wrong type", `{"status":"partial_success","data":{"n":"one"},"error":{"message":"no time"}}`, schema, "", "does not fit"},
		{"partial that names nothing", `{"status":"partial_success","data":{"n":1},"error":null}`, schema, "", "names the missing part"},
		{"success that lacks a part", `{"status":"success","data":{"n":1},"error":null}`, schema, "", "does not fit"},
		{"success with an error", `{"status":"success","data":{"n":1},"error":{"message":"x"}}`, schema, "", "error is not null"},
		{"error", `{"status":"error","data":null,"error":{"message":"the invoice has no total"}}`, schema, "", "says that there is no result: the invoice has no total"},
		{"error without a word", `{"status":"error"}`, schema, "", "no message"},
		{"the data alone", `{"at":"2026-03-01T12:00:00+01:00","n":1}`, schema, `{"at":"2026-03-01T11:00:00Z","n":1}`, ""},
		{"no JSON", "The sum is 3", schema, "", "neither is JSON"},
		{"no schema, and no status", "3", "", "", "must be"},
		{"no schema", `{"status":"success","data":3}`, "", "3", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, r, err := coded(&schemas.RunReport{Stdout: c.printed + "\n"}, json.RawMessage(c.schema))
			if err != nil {
				t.Fatal(err)
			}
			if c.data == "" {
				if r == nil || !strings.Contains(r.Message, c.why) {
					t.Errorf("%v, %+v, want %q", got, r, c.why)
				}
				return
			}
			if r != nil {
				t.Fatalf("rejected: %s", r.Message)
			}
			if p, ok := got.(partial); ok {
				got = p.data
				if p.lacks.Error() != c.why {
					t.Errorf("it lacks %v, want %s", p.lacks, c.why)
				}
			} else if c.why != "" {
				t.Errorf("it is no partial result")
			}
			if b, _ := json.Marshal(got); string(b) != c.data {
				t.Errorf("%s, want %s", b, c.data)
			}
		})
	}
}

func TestCodeModeTakesNoText(t *testing.T) {
	in := schemas.Envelope{State: schemas.StateVerification, Job: schemas.Job{Mode: schemas.ModeCode}, Text: "It is 3."}
	next, err := Verdict(in)
	if err != nil || next.State != schemas.StatePlanning || next.Feedback.Class != schemas.ClassResultInvalid {
		t.Errorf("%v, state %s", err, next.State)
	}
}
