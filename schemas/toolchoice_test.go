package schemas

import (
	"strings"
	"testing"
)

func TestToolChoice(t *testing.T) {
	for job, want := range map[string]string{
		`{"prompt":"x","tool_choice":"auto"}`:                            "",
		`{"prompt":"x","tool_choice":"none","tools":[]}`:                 "",
		`{"prompt":"x","tool_choice":"required"}`:                        "",
		`{"prompt":"x","tool_choice":"a","tools":["a@1.0.0"]}`:           "",
		`{"prompt":"x","tool_choice":"a","tools":["b","c"]}`:             `/tool_choice: "a" is not among the job's tools; auto, none, required or one of b, c is expected`,
		`{"prompt":"x","tool_choice":"required","tools":[]}`:             "tools is empty",
		`{"prompt":"x","tool_choice":"a b"}`:                             "/tool_choice",
		`{"prompt":"x","tool_choice":{"type":"function","name":"read"}}`: "/tool_choice",
	} {
		_, err := DecodeJob([]byte(job))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", job, err, want)
		}
	}
}
