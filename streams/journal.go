package streams

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"callgate.dev/schemas"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// JournalConfig is what a Journal needs.
type JournalConfig struct {
	Log   *Log             // Required.
	Now   func() time.Time // Required.
	Owner string           // who runs the calls: a name of this process. Required.
	// Margin is added to a call's time for its lease: how far clocks may
	// differ, and how late an effect may be noticed. Default 2 s.
	Margin time.Duration
}

// Journal puts the effects of calls inside the fence: schemas.Journal.
type Journal struct{ JournalConfig }

// NewJournal returns a journal for handlers that a Worker calls.
func NewJournal(c JournalConfig) (*Journal, error) {
	if c.Log == nil || c.Now == nil || c.Owner == "" {
		return nil, errors.New("journal: log, now and owner: required")
	}
	def(&c.Margin, 2*time.Second)
	return &Journal{c}, nil
}

var errNoDelivery = errors.New("the context is not the one that a Worker gave to its handler")

// Begin appends the intent to run call, in the job's own chain. When it
// returns nil the effect may start: whoever handles the event again will see
// the intent. A call that an earlier delivery declared is not to be started:
// its recorded result is returned, or one of class outcome_unknown.
func (j *Journal) Begin(ctx context.Context, call schemas.Call) (*schemas.CallResult, error) {
	d, ok := deliveryFrom(ctx)
	if !ok {
		return nil, fmt.Errorf("begin call %s: %w", call.ID, errNoDelivery)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.begun[call.ID] {
		return nil, fmt.Errorf("begin call %s: begun already by this handler; an effect is never repeated", call.ID)
	}
	if d.earlier[call.ID] {
		result, err := j.Log.callResult(ctx, d.tenant, d.job, call.ID)
		if result == nil && err == nil {
			unknown := outcomeUnknown(call.ID)
			result = &unknown
		}
		return result, err
	}
	intent := d.env
	intent.State = schemas.RecordCalling
	intent.Intent = &schemas.Intent{CallID: call.ID, Owner: j.Owner, LeaseUntil: j.lease(ctx, call), Resume: d.env.State}
	seq, err := j.Log.append(ctx, intent, d.fence, d.refs, 0)
	if err != nil {
		// Stored or not, this handler must not go on as if it were.
		d.overtook = err
		d.cancel(errMoved)
		return nil, fmt.Errorf("begin call %s: %w", call.ID, err)
	}
	d.fence = seq
	if d.begun == nil {
		d.begun = map[string]bool{}
	}
	d.begun[call.ID] = true
	return nil, nil
}

// Record keeps a call's result, for the delivery that comes after a crash.
func (j *Journal) Record(ctx context.Context, result schemas.CallResult) error {
	d, ok := deliveryFrom(ctx)
	if !ok {
		return fmt.Errorf("record call %s: %w", result.CallID, errNoDelivery)
	}
	d.mu.Lock()
	if d.recorded == nil {
		d.recorded = map[string]schemas.CallResult{}
	}
	d.recorded[result.CallID] = result
	d.mu.Unlock()
	data, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("record call %s: %w", result.CallID, err)
	}
	msg := &nats.Msg{Subject: CallSubject(d.tenant, d.job, result.CallID), Data: data}
	if _, err := j.Log.publishOnce(ctx, msg); err != nil {
		return fmt.Errorf("record call %s: %w", result.CallID, err)
	}
	return nil
}

// lease ends when the effect cannot be under way any more: with the call's own
// time or the handler's, whichever is first.
func (j *Journal) lease(ctx context.Context, call schemas.Call) time.Time {
	left := time.Duration(call.TimeoutMS) * time.Millisecond
	def(&left, schemas.DefaultToolTimeoutMS*time.Millisecond)
	if deadline, ok := ctx.Deadline(); ok {
		left = min(left, time.Until(deadline))
	}
	return j.Now().Add(left + j.Margin).UTC()
}

func outcomeUnknown(callID string) schemas.CallResult {
	return schemas.CallResult{CallID: callID, Error: schemas.Errorf(schemas.ClassOutcomeUnknown,
		"the call was started, and its worker ended before it could say what came of it: it may have taken effect")}
}

// callResult returns the recorded result of a call, nil when there is none.
func (l *Log) callResult(ctx context.Context, tenant, job, callID string) (*schemas.CallResult, error) {
	ctx, cancel := context.WithTimeout(ctx, l.RequestTimeout)
	defer cancel()
	s, err := l.js.Stream(ctx, StreamCalls)
	if err != nil {
		return nil, fmt.Errorf("open stream %s: %w", StreamCalls, err)
	}
	m, err := s.GetLastMsgForSubject(ctx, CallSubject(tenant, job, callID))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read result of call %s: %w", callID, err)
	}
	var result schemas.CallResult
	if err := json.Unmarshal(m.Data, &result); err != nil {
		return nil, fmt.Errorf("read result of call %s: %w", callID, err)
	}
	return &result, nil
}

var _ schemas.Journal = (*Journal)(nil)
