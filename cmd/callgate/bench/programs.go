package bench

import (
	"context"
	"fmt"

	"callgate.dev/executor/sandbox"
	"callgate.dev/schemas"
	"callgate.dev/verifier"
)

// A job of the bench is a small program with tests, as models are asked for
// most. Its number makes it another program, so that nothing about it is known
// from an earlier job.
func prompt(number string) string {
	return "Write the Python function intersperse(numbers, delimiter): bench program " + number
}

func program(number string) string {
	return `from typing import List

# ` + number + `
def intersperse(numbers: List[int], delimiter: int) -> List[int]:
    """Insert delimiter between every two consecutive elements of numbers."""
    if not numbers:
        return []
    result = []
    for n in numbers[:-1]:
        result.append(n)
        result.append(delimiter)
    result.append(numbers[-1])
    return result
`
}

const tests = `def check(candidate):
    assert candidate([], 7) == []
    assert candidate([5, 6, 3, 2], 8) == [5, 8, 6, 8, 3, 8, 2]
    assert candidate([2, 2, 2], 2) == [2, 2, 2, 2, 2]

check(intersperse)
`

func job(id, number string) schemas.Job {
	none := []string{}
	return schemas.Job{
		ID: id, Prompt: prompt(number), Language: schemas.Python, Tools: &none,
		Contract: &schemas.Contract{Entrypoint: &schemas.Entrypoint{Name: "intersperse", Params: []string{"numbers", "delimiter"}}, Tests: tests},
	}
}

// alone is the sandbox without a pipeline. It runs what the executor runs for
// a job, in the same number of sandboxes and under the same limits.
type alone struct {
	box    *sandbox.Sandbox
	script schemas.AnalyserScript
}

func newAlone(box *sandbox.Sandbox) (*alone, error) {
	script, err := verifier.Analyser{}.Script(schemas.Python)
	if err != nil {
		return nil, fmt.Errorf("load the analyser's script: %w", err)
	}
	return &alone{box, script}, nil
}

// job runs the analyser on a program and then the program with its tests.
func (a *alone) job(ctx context.Context, number string) error {
	source := []byte(program(number))
	if err := a.run(ctx, sandbox.Spec{
		Language: schemas.Python, Args: append(append([]string{}, a.script.Flags...), a.script.Name), Stdin: source,
		Files: append([]schemas.File{{Path: a.script.Name, Data: a.script.Source}}, a.script.Files...),
	}); err != nil {
		return err
	}
	return a.tested(ctx, number)
}

// tested runs a program with its tests, as for a program whose facts are known.
func (a *alone) tested(ctx context.Context, number string) error {
	return a.run(ctx, sandbox.Spec{Language: schemas.Python, Code: []byte(program(number) + "\n\n" + tests), KeepFiles: true})
}

func (a *alone) run(ctx context.Context, spec sandbox.Spec) error {
	res, err := a.box.Run(ctx, spec)
	if err == nil && !res.OK() {
		err = fmt.Errorf("the program ended as %s: %s: %s", res.Status, res.Detail, res.StderrBytes())
	}
	return err
}
