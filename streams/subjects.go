package streams

import (
	"fmt"
	"strconv"
	"strings"

	"callgate.dev/schemas"
)

// Every subject of Callgate is written here and nowhere else. A tenant and a
// job ID are single tokens by schemas.CheckName; callers check before they
// build a subject from something a user sent.
const (
	jobPrefix      = "callgate.job."
	livePrefix     = "callgate.live."
	submitPrefix   = "callgate.submit."
	apiPrefix      = "callgate.api.submit."
	rejectedPrefix = "callgate.rejected."
	timerPrefix    = "callgate.timer."
	wakePrefix     = "callgate.wake."
	controlPrefix  = "callgate.ctl."
	resultPrefix   = "callgate.result."
	callPrefix     = "callgate.call."
	exchangePrefix = "callgate.exchange."
	batchSuffix    = ".batch"
)

// Wildcards over all tenants and jobs.
const (
	AllJobSubjects      = jobPrefix + "*.*.*.*"
	AllLiveSubjects     = livePrefix + ">"
	AllSubmitSubjects   = submitPrefix + "*"
	AllBatchSubjects    = submitPrefix + "*" + batchSuffix
	AllAPISubjects      = apiPrefix + "*"
	AllRejectedSubjects = rejectedPrefix + "*"
	AllTimerSubjects    = timerPrefix + "*.*"
	AllWakeSubjects     = wakePrefix + "*.*"
	AllControlSubjects  = controlPrefix + "*.*"
	AllResultSubjects   = resultPrefix + "*.*"
	AllCallSubjects     = callPrefix + "*.*.*"
	AllExchangeSubjects = exchangePrefix + "*.*.*"
)

// JobSubject is where the log holds the event "job is now in state".
func JobSubject(state schemas.State, lane schemas.Lane, tenant, job string) string {
	return jobPrefix + string(state) + "." + string(lane) + "." + tenant + "." + job
}

// FenceSubject covers every event of a job. It is the one string that every
// append names in its fence: on a replicated stream, writers that name
// different strings are checked against different in-flight proposals.
func FenceSubject(tenant, job string) string { return jobPrefix + "*.*." + tenant + "." + job }

// LaneSubject covers every event of a state in a lane, the filter of its
// consumer.
func LaneSubject(state schemas.State, lane schemas.Lane) string {
	return jobPrefix + string(state) + "." + string(lane) + ".*.*"
}

// StateSubject covers every event of a state.
func StateSubject(state schemas.State) string { return jobPrefix + string(state) + ".*.*.*" }

// TenantSubject covers every event of a tenant.
func TenantSubject(tenant string) string { return jobPrefix + "*.*." + tenant + ".*" }

// LiveSubject is where an event is republished, at most once, for watchers.
// Any of the four may be "*".
func LiveSubject(state schemas.State, lane schemas.Lane, tenant, job string) string {
	return livePrefix + string(state) + "." + string(lane) + "." + tenant + "." + job
}

// SubmitSubject is the door for programs that only publish.
func SubmitSubject(tenant string, lane schemas.Lane) string {
	if lane == schemas.LaneBatch {
		return submitPrefix + tenant + batchSuffix
	}
	return submitPrefix + tenant
}

// APISubmitSubject is the door that answers.
func APISubmitSubject(tenant string) string { return apiPrefix + tenant }

// RejectedSubject is where a tenant's refused submissions are kept, each with
// the sequence under which the submit stream had stored it.
func RejectedSubject(tenant string) string { return rejectedPrefix + tenant }

// TimerSubject holds a job's pending timer: at most one message, since a job
// waits for one thing at a time.
func TimerSubject(tenant, job string) string { return timerPrefix + tenant + "." + job }

// WakeSubject is where a job's timer fires. It is never a subject of the log:
// a fired schedule carries no fence, and would bring a cancelled job back.
func WakeSubject(tenant, job string) string { return wakePrefix + tenant + "." + job }

// ControlSubject broadcasts that an operator moved a job; it tells workers to
// look at the log at once, and decides nothing.
func ControlSubject(tenant, job string) string { return controlPrefix + tenant + "." + job }

// ResultSubject holds what a job came to.
func ResultSubject(tenant, job string) string { return resultPrefix + tenant + "." + job }

// CallSubject holds the result of one effectful call.
func CallSubject(tenant, job, callID string) string {
	return callPrefix + tenant + "." + job + "." + callID
}

// ExchangeSubject holds one request to a model and what came back.
func ExchangeSubject(tenant, job, id string) string {
	return exchangePrefix + tenant + "." + job + "." + id
}

// ParseJobSubject reads a subject of the log.
func ParseJobSubject(subject string) (state schemas.State, lane schemas.Lane, tenant, job string, err error) {
	return parseEvent(jobPrefix, subject)
}

// ParseLiveSubject reads a subject that watchers receive.
func ParseLiveSubject(subject string) (state schemas.State, lane schemas.Lane, tenant, job string, err error) {
	return parseEvent(livePrefix, subject)
}

// ParseSubmitSubject reads a subject of the submit stream.
func ParseSubmitSubject(subject string) (tenant string, lane schemas.Lane, err error) {
	rest, ok := strings.CutPrefix(subject, submitPrefix)
	if !ok {
		return "", "", subjectError(subject, submitPrefix+"<tenant>[.batch]")
	}
	lane = schemas.LaneInteractive
	if t, batch := strings.CutSuffix(rest, batchSuffix); batch {
		rest, lane = t, schemas.LaneBatch
	}
	if err := schemas.CheckName("tenant", rest); err != nil {
		return "", "", err
	}
	return rest, lane, nil
}

// ParseAPISubmitSubject reads the tenant that a request was sent as.
func ParseAPISubmitSubject(subject string) (tenant string, err error) {
	return parseTenant(apiPrefix, subject)
}

// ParseRejectedSubject reads the tenant of a rejection.
func ParseRejectedSubject(subject string) (tenant string, err error) {
	return parseTenant(rejectedPrefix, subject)
}

// ParseTimerSubject reads whose timer it is.
func ParseTimerSubject(subject string) (tenant, job string, err error) {
	return parseJob(timerPrefix, subject)
}

// ParseWakeSubject reads whose timer fired.
func ParseWakeSubject(subject string) (tenant, job string, err error) {
	return parseJob(wakePrefix, subject)
}

// ParseControlSubject reads which job was moved.
func ParseControlSubject(subject string) (tenant, job string, err error) {
	return parseJob(controlPrefix, subject)
}

// ParseResultSubject reads whose result it is.
func ParseResultSubject(subject string) (tenant, job string, err error) {
	return parseJob(resultPrefix, subject)
}

// ParseCallSubject reads whose call a recorded result belongs to.
func ParseCallSubject(subject string) (tenant, job, callID string, err error) {
	t, err := tokens(callPrefix, subject, "<tenant>", "<job>", "<call_id>")
	if err != nil {
		return "", "", "", err
	}
	return t[0], t[1], t[2], checkNames(t[0], t[1])
}

func parseEvent(prefix, subject string) (state schemas.State, lane schemas.Lane, tenant, job string, err error) {
	t, err := tokens(prefix, subject, "<state>", "<lane>", "<tenant>", "<job>")
	if err != nil {
		return "", "", "", "", err
	}
	state, lane = schemas.State(t[0]), schemas.Lane(t[1])
	if !state.Known() {
		return "", "", "", "", fmt.Errorf("subject %q: unknown state %q", subject, t[0])
	}
	if lane != schemas.LaneInteractive && lane != schemas.LaneBatch {
		return "", "", "", "", fmt.Errorf("subject %q: unknown lane %q", subject, t[1])
	}
	return state, lane, t[2], t[3], checkNames(t[2], t[3])
}

func parseTenant(prefix, subject string) (string, error) {
	t, err := tokens(prefix, subject, "<tenant>")
	if err != nil {
		return "", err
	}
	return t[0], schemas.CheckName("tenant", t[0])
}

func parseJob(prefix, subject string) (tenant, job string, err error) {
	t, err := tokens(prefix, subject, "<tenant>", "<job>")
	if err != nil {
		return "", "", err
	}
	return t[0], t[1], checkNames(t[0], t[1])
}

func tokens(prefix, subject string, form ...string) ([]string, error) {
	rest, ok := strings.CutPrefix(subject, prefix)
	t := strings.Split(rest, ".")
	if !ok || len(t) != len(form) {
		return nil, subjectError(subject, prefix+strings.Join(form, "."))
	}
	return t, nil
}

func checkNames(tenant, job string) error {
	if err := schemas.CheckName("tenant", tenant); err != nil {
		return err
	}
	return schemas.CheckName("job ID", job)
}

func subjectError(subject, form string) error {
	if len(subject) > 120 {
		subject = subject[:120] + "…"
	}
	return fmt.Errorf("subject %s: the form is %s", strconv.Quote(subject), form)
}
