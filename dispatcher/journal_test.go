package dispatcher_test

import (
	"context"
	"slices"
	"sync"

	"callgate.dev/schemas"
)

// journal keeps intents and results in memory, by the rules of the real one:
// an intent is declared once, and a call whose intent has no result is of
// unknown outcome to whoever asks next.
type journal struct {
	mu       sync.Mutex
	intents  []string
	results  map[string]schemas.CallResult
	story    []string // "begin ID", "record ID" and what tools add
	beginErr error
	saveErr  error
}

func (j *journal) Begin(_ context.Context, call schemas.Call) (*schemas.CallResult, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.beginErr != nil {
		return nil, j.beginErr
	}
	j.story = append(j.story, "begin "+call.ID)
	if !slices.Contains(j.intents, call.ID) {
		j.intents = append(j.intents, call.ID)
		return nil, nil
	}
	if r, ok := j.results[call.ID]; ok {
		return &r, nil
	}
	return &schemas.CallResult{CallID: call.ID, Error: schemas.Errorf(schemas.ClassOutcomeUnknown, "it may have taken effect")}, nil
}

func (j *journal) Record(ctx context.Context, r schemas.CallResult) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.saveErr != nil {
		return j.saveErr
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	j.story = append(j.story, "record "+r.CallID)
	if j.results == nil {
		j.results = map[string]schemas.CallResult{}
	}
	j.results[r.CallID] = r
	return nil
}

func (j *journal) tell(what string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.story = append(j.story, what)
}
