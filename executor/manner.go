package executor

import (
	"callgate.dev/executor/sandbox"
	"callgate.dev/schemas"
)

// manner is how a job wants its programs run, beside what bounds them.
type manner struct {
	tenant        string        // whose zygote it may be forked from
	start         schemas.Start // "" as the sandbox finds best
	deterministic bool
	network       []string       // hosts that they may reach
	audit         *sandbox.Audit // nil for none
	tools         *gateway       // nil where they call none
}

func mannerOf(in schemas.Envelope) manner {
	m := manner{tenant: in.Tenant, deterministic: in.Job.Deterministic}
	if c := in.Job.Contract; c != nil {
		m.start, m.network = c.Isolation.Start(), c.Network
		if c.Audit || c.MaxSizeKB > 0 {
			m.audit = &sandbox.Audit{MaxFileBytes: c.MaxFileBytes()}
		}
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
