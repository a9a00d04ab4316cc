package prompt

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"regexp"
	"testing"

	"callgate.dev/schemas"
)

var fence = regexp.MustCompile("(?s)```(\\w+)\n(.*?)```")

// A model takes examples at their word, so they are run.
func TestCodeExamplesHold(t *testing.T) {
	const meetings = `[{"start":"2026-03-01T12:00:00+02:00"},{"start":"2026-03-01T10:30:00"}]`
	inputs := []string{
		`{"context":[{"amount":3},{"amount":4}]}`, `{"context":{"orders":[{"customer":"a"},{"customer":"b"},{"customer":"a"}]}}`, `{"context":` + meetings + `}`,
		`{"context":[{"id":1,"price":2},{"id":2,"price":"x"}]}`, `{"user_query":"ccc a bb","context":null}`, `{"context":{"invoice":{"vat":1}}}`,
	}
	wants := map[schemas.Language][]string{
		schemas.Python:     {`success 7`, `success {"a":2,"b":1}`, `success {"start":"2026-03-01T10:00:00Z"}`, `partial_success {"mean":2}`, `success ["a","bb","ccc"]`, `error null`},
		schemas.JavaScript: {`success 7`, `success {"a":2,"b":1}`, `success {"start":"2026-03-01T10:00:00.000Z"}`, `partial_success {"mean":2}`, `success ["a","bb","ccc"]`, `error null`},
	}
	run := map[schemas.Language][]string{schemas.Python: {"/usr/bin/python3", "-c"}, schemas.JavaScript: {"node", "-e"}}
	for _, lang := range schemas.Languages {
		text, err := files.ReadFile("templates/code." + string(lang) + ".good.md")
		if err != nil {
			t.Fatal(err)
		}
		programs := fence.FindAllStringSubmatch(string(text), -1)
		if len(programs) != 6 {
			t.Fatalf("%s: %d examples", lang, len(programs))
		}
		for i, p := range programs {
			cmd := exec.Command(run[lang][0], run[lang][1], p[2])
			cmd.Stdin = bytes.NewReader([]byte(inputs[i]))
			out, err := cmd.CombinedOutput()
			var printed schemas.CodeOutput
			if err != nil || json.Unmarshal(out, &printed) != nil {
				t.Errorf("%s, example %d: %v: %s", lang, i+1, err, out)
				continue
			}
			data, err := json.Marshal(printed.Data)
			if got := string(printed.Status) + " " + string(data); err != nil || got != wants[lang][i] || (printed.Error == nil) != (printed.Status == schemas.ResultSuccess) {
				t.Errorf("%s, example %d: %s, want %s", lang, i+1, got, wants[lang][i])
			}
		}
	}
}
