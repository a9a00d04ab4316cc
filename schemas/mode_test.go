package schemas

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestCoded(t *testing.T) {
	for job, want := range map[string]bool{
		`{"prompt":"x"}`:                                                                         false,
		`{"prompt":"x","mode":"code"}`:                                                           true,
		`{"prompt":"x","contract":{"result_schema":true}}`:                                       false,
		`{"prompt":"x","context":1,"contract":{"result_schema":true}}`:                           true,
		`{"prompt":"x","context":1,"contract":{"result_schema":true},"mode":"auto","tools":[]}`:  true,
		`{"prompt":"x","context":1,"contract":{"result_schema":true},"mode":"tools"}`:            false,
		`{"prompt":"x","context":1,"contract":{"result_schema":true},"tools":["read_file"]}`:     false,
		`{"prompt":"x","context":1,"contract":{"result_schema":true},"tool_choice":"required"}`:  false,
		`{"prompt":"x","context":1,"contract":{"result_schema":true,"tests":"pass"}}`:            false,
		`{"prompt":"x","context":1,"contract":{"result_schema":true,"entrypoint":{"name":"f"}}}`: false,
	} {
		if j, err := DecodeJob([]byte(job)); err != nil || j.Coded() != want {
			t.Errorf("%s: %v, coded is %v", job, err, j.Coded())
		}
	}
	for job, want := range map[string]string{
		`{"prompt":"x","mode":"fast"}`:                             "/mode",
		`{"prompt":"x","mode":"code","tool_choice":"required"}`:    "tool_choice is",
		`{"prompt":"x","mode":"code","contract":{"tests":"pass"}}`: "entrypoint or tests",
	} {
		if _, err := DecodeJob([]byte(job)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", job, err)
		}
	}
}

func TestInUTC(t *testing.T) {
	var v any
	in := `{"a":"2026-03-01T12:00:00+02:00","b":["2026-03-01T00:30:00.25-05:30","2026-03-01T12:00:00Z"],"c":"2026-03-01T12:00:00","d":"2026-03-01","e":"at 2026-03-01T12:00:00+02:00","f":1}`
	if err := json.Unmarshal([]byte(in), &v); err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(InUTC(v))
	want := `{"a":"2026-03-01T10:00:00Z","b":["2026-03-01T06:00:00.25Z","2026-03-01T12:00:00Z"],"c":"2026-03-01T12:00:00","d":"2026-03-01","e":"at 2026-03-01T12:00:00+02:00","f":1}`
	if err != nil || string(got) != want {
		t.Errorf("%v: %s, want %s", err, got, want)
	}
}
