package schemas

import (
	"context"
	"time"
)

// Handler is a worker: one event in, one event out. The returned event is the
// one that follows in, made with in.Next, in.Replan, in.Fail or in.Succeed. An
// error means that the worker could not decide; see Permanent and RetryAfter.
// ctx ends at the deadline, at shutdown, or when the job's log moved on.
type Handler interface {
	Handle(ctx context.Context, in Envelope) (Envelope, error)
}

// HandlerFunc is a Handler that is a function.
type HandlerFunc func(ctx context.Context, in Envelope) (Envelope, error)

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, in Envelope) (Envelope, error) { return f(ctx, in) }

// Deadliner is a Handler that needs another time than its state's default for
// some events: the sum of its calls' timeouts, say. The result is capped by
// what is left of the job's Limits.WallMS.
type Deadliner interface {
	Deadline(in Envelope) time.Duration
}

// Journal puts effects inside the fence. It is bound to the delivery in ctx:
// a handler passes on the ctx it was called with.
type Journal interface {
	// Begin declares that call is about to take effect, and returns once the
	// server holds the intent; only then may the effect start. If an earlier
	// delivery of the same event declared it, Begin returns the result that
	// was recorded then, or one of class outcome_unknown when none was within
	// the lease; the caller must then not start the effect.
	Begin(ctx context.Context, call Call) (recorded *CallResult, err error)
	// Record keeps the result of a call under its ID.
	Record(ctx context.Context, result CallResult) error
}

// Blobs is the object store. Bytes belong to one job and go when it goes.
type Blobs interface {
	Put(ctx context.Context, tenant, job string, sequence uint64, data []byte) (BlobRef, error)
	// Get returns what Put stored, its digest checked.
	Get(ctx context.Context, ref BlobRef) ([]byte, error)
}
