package executor

import "callgate.dev/schemas"

// manner is how a job wants its programs run, beside what bounds them.
type manner struct {
	start         schemas.Start // "" as the sandbox finds best
	deterministic bool
}

func mannerOf(job schemas.Job) manner {
	m := manner{deterministic: job.Deterministic}
	if c := job.Contract; c != nil {
		m.start = c.Isolation.Start()
	}
	return m
}

// apart is m for a call whose tool's contract may want its run further apart
// than the job does.
func (m manner) apart(a schemas.Apart) manner {
	if start := a.Start(); start != "" {
		m.start = start
	}
	return m
}
