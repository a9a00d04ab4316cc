package schemas

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDecodeEnvelopeRefuses(t *testing.T) {
	good, err := fullEnvelope().Encode()
	if err != nil {
		t.Fatal(err)
	}
	swap := func(old, new string) string {
		if !strings.Contains(string(good), old) {
			t.Fatalf("%q is not there to be replaced", old)
		}
		return strings.Replace(string(good), old, new, 1)
	}
	for name, c := range map[string]struct{ body, says string }{
		"a newer version":  {swap(`"version":1`, `"version":2`), "version 2, this program reads 1"},
		"no version":       {swap(`"version":1,`, ``), "version 0"},
		"an unknown state": {swap(`"state":"verification"`, `"state":"dreaming"`), `unknown state "dreaming"`},
		"an unknown field": {swap(`"turn":1`, `"turns":1`), `"turns"`},
		"a cased field":    {swap(`"turn":1`, `"Turn":1`), `"Turn"`},
		"a field twice":    {swap(`"turn":1`, `"turn":1,"turn":2`), "duplicate"},
		"a wrong type":     {swap(`"turn":1`, `"turn":"1"`), "/turn"},
		"trailing data":    {string(good) + "{}", "after top-level value"},
		"a cut":            {string(good[:len(good)/2]), "unexpected EOF"},
		"nothing":          {"", "EOF"},
		"invalid UTF-8":    {swap("default", "def\xffult"), "UTF-8"},
	} {
		_, err := DecodeEnvelope([]byte(c.body))
		if ClassOf(err) != ClassInternal || err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}

// TestEndings: what a job comes to says how it came about, on every path.
func TestEndings(t *testing.T) {
	e := fullEnvelope()
	e.Facts.Findings = []Finding{{Rule: "python.eval", Severity: SeverityWarning, Line: 1, Column: 1, Message: "m"}}
	e.Spilled = map[string]BlobRef{"run": {}}
	e.Steering = &Steering{ReplayID: "r"}
	done := e.Succeed(map[string]any{"n": json.Number("12345678901234567890")})
	m := done.Result.Metadata
	if done.State != StateCompleted || done.Result.Status != ResultSuccess || done.Result.Error != nil || done.Result.Code != e.Code.Source || m.CodeHash != "cg1:00" || m.Attempts != 1 || m.Tokens != 245 || len(m.Warnings) != 1 || m.Isolation == nil {
		t.Errorf("%+v", done.Result)
	}
	raw, err := done.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if back, err := DecodeEnvelope(raw); err != nil || fmt.Sprint(back.Result.Data) != "map[n:12345678901234567890]" {
		t.Errorf("the result's number did not survive: %v (%v)", back.Result, err)
	}
	if _, err := DecodeEnvelope([]byte(strings.Replace(string(raw), `"result":{`, `"result":{"more":1,`, 1))); err == nil {
		t.Error("a result with an unknown field is taken")
	}
	failed := e.Fail(Errorf(ClassTestsFailed, "no"))
	if failed.State != StateFailed || failed.Result.Status != ResultError || failed.Result.Error != failed.Error || failed.Result.Code != e.Code.Source {
		t.Errorf("%+v", failed.Result)
	}
	again := e.Replan(Feedback{Class: ClassTestsFailed})
	if again.State != StatePlanning || again.Feedback == nil || again.Result != nil {
		t.Errorf("%+v", again)
	}
	for _, next := range []Envelope{done, failed, again} {
		if next.Spilled != nil || next.Steering != nil || next.Wait != nil || next.Intent != nil {
			t.Errorf("%s carries what belonged to the event before it", next.State)
		}
		if raw, err := next.Encode(); err != nil {
			t.Error(err)
		} else if err := CheckDocument("envelope", raw); err != nil {
			t.Errorf("%s: %v", next.State, err)
		}
	}
	bare := Envelope{JobID: "a", Tenant: "t", Lane: LaneBatch}
	if f := bare.Fail(Errorf(ClassInternal, "x")); f.Result.Code != "" {
		t.Errorf("%+v", f.Result)
	}
}

func FuzzDecodeEnvelope(f *testing.F) {
	paths, err := filepath.Glob("golden/*.json")
	if err != nil || len(paths) == 0 {
		f.Fatalf("no golden events: %v", err)
	}
	for _, p := range paths {
		raw, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := DecodeEnvelope(b)
		if err != nil {
			return
		}
		once, err := e.Encode()
		if err != nil {
			t.Fatal(err)
		}
		back, err := DecodeEnvelope(once)
		if err != nil {
			t.Fatalf("its own encoding is refused: %v\n%s", err, once)
		}
		if twice, err := back.Encode(); err != nil || string(once) != string(twice) {
			t.Fatalf("not stable (%v):\n%s\n%s", err, once, twice)
		}
	})
}
