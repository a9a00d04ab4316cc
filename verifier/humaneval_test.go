package verifier_test

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"callgate.dev/schemas"
)

// TestHumanEval: the facts of every recorded answer to the 164 problems are
// found, and every answer that passes its tests defines its entry point with
// the parameters of the reference signature.
func TestHumanEval(t *testing.T) {
	path := os.Getenv("CALLGATE_HUMANEVAL")
	if path == "" {
		path = "../../shared/data/humaneval.jsonl"
	}
	f, err := os.Open(path)
	if err != nil {
		if os.Getenv("CI") == "" {
			t.Skipf("%v: the recorded answers are not part of the project; CALLGATE_HUMANEVAL names them", err)
		}
		t.Fatalf("the recorded answers are missing; CALLGATE_HUMANEVAL names the file: %v", err)
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	problems, answers := 0, 0
	for lines.Scan() {
		var p struct {
			TaskID     string `json:"task_id"`
			Prompt     string `json:"prompt"`
			EntryPoint string `json:"entry_point"`
			Attempts   []struct {
				Code   string `json:"code"`
				Passes bool   `json:"passes"`
			} `json:"attempts"`
		}
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		problems++
		reference := factsOf(t, schemas.Python, p.Prompt+"    pass\n", nil)
		want := schemas.Entrypoint{Name: p.EntryPoint, Params: paramsOf(reference, p.EntryPoint)}
		for i, a := range p.Attempts {
			answers++
			facts := factsOf(t, schemas.Python, a.Code, nil)
			if !facts.Parses {
				if a.Passes {
					t.Errorf("%s, answer %d passes, but does not parse: %+v", p.TaskID, i+1, facts.Error)
				}
				continue
			}
			if class := entryVerdict(t, a.Code, facts, want); a.Passes && class != "" {
				t.Errorf("%s, answer %d passes, but is rejected as %s", p.TaskID, i+1, class)
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if problems != 164 || answers < 164 {
		t.Errorf("%d problems, %d answers", problems, answers)
	}
}

func paramsOf(facts schemas.Facts, name string) []string {
	for _, f := range facts.Functions {
		if f.Name == name {
			params := []string{}
			for _, p := range f.Params {
				params = append(params, p.Name)
			}
			return params
		}
	}
	return nil
}
