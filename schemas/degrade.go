package schemas

import (
	"context"
	"slices"
	"time"
)

// DegradeStep is a way of working on a job that keeps failing. An operator
// switches them on, one by one; the last step, to ask a person, is AskRules.
type DegradeStep string

const (
	// DegradeRetry runs the same program once more, started cold and with more
	// room, where time, memory or an import failed it. The model is not asked.
	DegradeRetry DegradeStep = "retry"
	// DegradeMode asks the model in the job's other mode.
	DegradeMode DegradeStep = "mode"
)

// DegradeSteps lists them.
var DegradeSteps = []DegradeStep{DegradeRetry, DegradeMode}

const (
	// MaxRetries bounds the conservative retries of a program or a call.
	MaxRetries = 2
	// MaxDegradations bounds the steps of a job, for its events carry them all.
	MaxDegradations = 32
	// ModeFailures is how many answers of a job fail before it is asked in its
	// other mode.
	ModeFailures = 3
	// DegradePeriod is the time over which a tenant's failures and degradations
	// are counted, up to now.
	DegradePeriod = time.Hour
)

// Degradation is one step that was taken, and why. The events of a job carry all
// of theirs.
type Degradation struct {
	Step   DegradeStep `json:"step"`
	Number int         `json:"number"` // counts from 1, of Step for Subject
	Class  Class       `json:"class"`  // of what had failed
	Reason string      `json:"reason"` // what had failed, in a sentence
	// Subject is what is run again, a program's digest or a call's ID. Empty for
	// a mode.
	Subject string `json:"subject,omitempty"`
	Mode    Mode   `json:"mode,omitempty"` // that the model is asked in from now on
	// Sequence is the event whose handling failed.
	Sequence uint64 `json:"sequence"`
}

// Degrader counts what tenants' jobs fail and degrade, for all processes. An ID
// is the same for each delivery and each replay of what it names, so that it
// counts once.
type Degrader interface {
	// Failed counts a failure that was found by an event of that time.
	Failed(ctx context.Context, tenant, id string, at time.Time) error
	// Degrade counts a degradation, or returns why the tenant may not degrade now.
	// One that was counted in the period is allowed again.
	Degrade(ctx context.Context, tenant, id string) (refused string, err error)
}

// Degrade returns e with one more step on record.
func (e Envelope) Degrade(d Degradation) Envelope {
	e.Degraded = append(slices.Clip(e.Degraded), d)
	return e
}

// Retries returns the retries of a subject, oldest first: an event of it that has
// any is the last of them.
func (e Envelope) Retries(subject string) (list []Degradation) {
	for _, d := range e.Degraded {
		if d.Step == DegradeRetry && d.Subject == subject {
			list = append(list, d)
		}
	}
	return list
}

// WithRoom returns the limits of the run that these retries led to. Each doubles
// what it failed of, up to MaxLimits. A limit that the job set itself, and not
// to its default, holds in a retry as well.
func (l Limits) WithRoom(retries []Degradation) Limits {
	own, d, most := l.OrDefault(), DefaultLimits, MaxLimits
	l = own
	for _, r := range retries {
		switch r.Class {
		case ClassWallTimeout, ClassCPUTimeout:
			double(&l.RunTimeoutMS, own.RunTimeoutMS == d.RunTimeoutMS, most.RunTimeoutMS)
			double(&l.CPUMS, own.CPUMS == d.CPUMS, most.CPUMS)
		case ClassOutOfMemory:
			double(&l.MemoryBytes, own.MemoryBytes == d.MemoryBytes, most.MemoryBytes)
		}
	}
	return l
}

func double(field *int64, may bool, most int64) {
	if may {
		*field = max(*field, min(2**field, most))
	}
}
