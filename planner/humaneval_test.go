package planner_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"os"
	"testing"

	"callgate.dev/planner/answer"
	"callgate.dev/schemas"
)

// TestRecordedAnswers reads real models' programs back to the byte, however the
// block around them ends.
func TestRecordedAnswers(t *testing.T) {
	file, err := os.Open(cmp.Or(os.Getenv("CALLGATE_HUMANEVAL"), "../../shared/data/humaneval.jsonl"))
	if err != nil {
		if os.Getenv("CI") == "" && os.IsNotExist(err) {
			t.Skipf("%v: the recorded answers are not part of the project", err)
		}
		t.Fatal(err)
	}
	defer file.Close()
	problems, programs := 0, 0
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var p struct {
			TaskID     string `json:"task_id"`
			EntryPoint string `json:"entry_point"`
			Attempts   []struct{ Code string }
		}
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		problems++
		for i, a := range p.Attempts {
			programs++
			encoded, err := json.Marshal(map[string]string{"code": a.Code})
			if err != nil {
				t.Fatal(err)
			}
			for _, content := range []string{
				"```python\n" + a.Code + "```",
				"```python\n" + a.Code + "\n```\n",
				"Here it is:\n\n```py\n" + a.Code + "```\n\nIt works.\n\n```\nTrue\n```",
				"```\n" + a.Code + "```",
				string(encoded),
			} {
				got, err := answer.Read(content, "stop", answer.Want{Language: schemas.Python, Entrypoint: p.EntryPoint, Program: true})
				if err != nil || got.Source != a.Code {
					t.Errorf("%s, attempt %d: %v\ngot  %q\nwant %q", p.TaskID, i+1, err, got.Source, a.Code)
				}
			}
			if got, err := answer.Read(a.Code, "stop", answer.Want{Language: schemas.Python, Entrypoint: p.EntryPoint, Program: true}); err != nil || got.Source == "" {
				t.Errorf("%s, attempt %d without a fence: %v, taken for the text %q", p.TaskID, i+1, err, got.Text)
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if problems != 164 || programs != 293 {
		t.Errorf("%d problems, %d programs", problems, programs)
	}
}
