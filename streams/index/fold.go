package index

import (
	"cmp"
	"slices"
	"strconv"
	"sync"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"

	"github.com/nats-io/nats.go"
)

// records is the fold's state.
type records struct {
	mu       sync.RWMutex
	tenants  map[string]*tenant
	unpurged map[streams.JobKey]uint64
	position uint64
	moved    chan struct{} // closed and replaced when position moves
	freed    map[chan struct{}]bool
}

type tenant struct {
	jobs map[string]*Record
	live int
}

func newRecords() *records {
	return &records{
		tenants:  map[string]*tenant{},
		unpurged: map[streams.JobKey]uint64{},
		moved:    make(chan struct{}),
		freed:    map[chan struct{}]bool{},
	}
}

// event is a message of the log without its body.
type event struct {
	subject string
	header  nats.Header
	seq     uint64
	stored  time.Time
}

// fold applies an event. Events come in the log's order; one that does not
// parse only moves the position.
func (x *records) fold(e event) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if e.seq <= x.position {
		return
	}
	x.position = e.seq
	close(x.moved)
	x.moved = make(chan struct{})
	state, _, name, id, err := streams.ParseJobSubject(e.subject)
	if err != nil {
		return
	}
	t := x.tenants[name]
	if t == nil {
		t = &tenant{jobs: map[string]*Record{}}
		x.tenants[name] = t
	}
	r := t.jobs[id]
	was := r != nil && r.Live()
	switch {
	case state == schemas.RecordForgotten:
		// What it forgets is still there, or it would not have been folded:
		// someone has to finish the purge.
		if r != nil {
			x.unpurged[streams.JobKey{Tenant: name, JobID: id}] = e.seq
			delete(t.jobs, id)
		}
		r = nil
	case r == nil:
		r = &Record{ID: id, Tenant: name, State: state, CreatedAt: e.stored.UTC()}
		if at, err := time.Parse(time.RFC3339Nano, e.header.Get(streams.HeaderCreated)); err == nil {
			r.CreatedAt = at
		}
		t.jobs[id] = r
	}
	if r != nil {
		r.apply(state, e)
	}
	x.count(t, was, r != nil && r.Live())
	if len(t.jobs) == 0 {
		delete(x.tenants, name)
	}
}

func (r *Record) apply(state schemas.State, e event) {
	r.Sequence, r.UpdatedAt = e.seq, e.stored.UTC()
	if state == schemas.RecordCalling {
		return // an intent moves no state
	}
	r.State = state
	r.Class = schemas.Class(e.header.Get(streams.HeaderClass))
	if n, err := strconv.Atoi(e.header.Get(streams.HeaderAttempt)); err == nil {
		r.Attempts = n
	}
}

func (x *records) count(t *tenant, was, is bool) {
	switch {
	case is && !was:
		t.live++
	case was && !is:
		t.live--
		for ch := range x.freed {
			select {
			case ch <- struct{}{}:
			default: // one signal is pending, and is enough
			}
		}
	}
}

// list returns copies of what f matches, newest first.
func (x *records) list(f Filter) []Record {
	x.mu.RLock()
	var found []Record
	for name, t := range x.tenants {
		if f.Tenant != "" && f.Tenant != name {
			continue
		}
		for _, r := range t.jobs {
			if f.match(r) {
				found = append(found, *r)
			}
		}
	}
	x.mu.RUnlock()
	slices.SortFunc(found, func(a, b Record) int { return cmp.Compare(b.Sequence, a.Sequence) })
	if f.Limit > 0 && len(found) > f.Limit {
		found = found[:f.Limit]
	}
	return found
}
