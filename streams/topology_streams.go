package streams

import (
	"time"

	"callgate.dev/schemas"

	"github.com/nats-io/nats.go/jetstream"
)

// logStream has no MaxAge and refuses when it is full: an expired event of a
// live job would go unreported, and would free the job's ID for a second job.
// What goes is decided by the janitor, behind a fenced event. Direct gets are
// off, so that a read is answered by the stream's leader: a follower was seen
// to return an older event than one already delivered.
func logStream(c TopologyConfig) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: StreamLog, Description: "every event of every job",
		Subjects: []string{AllJobSubjects}, Storage: jetstream.FileStorage, Replicas: c.Replicas,
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew, MaxBytes: c.LogBytes,
		AllowMsgTTL: true, // for the event that remembers a forgotten ID
		RePublish:   &jetstream.RePublish{Source: jobPrefix + ">", Destination: livePrefix + ">"},
	}
}

// submitStream is a work queue with a quota on each subject, and so on each
// tenant and lane. The server itself refuses what goes beyond.
func submitStream(c TopologyConfig) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: StreamSubmit, Description: "submissions not admitted yet",
		Subjects: []string{AllSubmitSubjects, AllBatchSubjects}, Storage: jetstream.FileStorage, Replicas: c.Replicas,
		Retention: jetstream.WorkQueuePolicy, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
		MaxMsgsPerSubject: c.SubmitPerTenant, MaxBytes: c.SubmitBytes,
	}
}

func rejectedStream(c TopologyConfig) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: StreamRejected, Description: "submissions that were refused, and why",
		Subjects: []string{AllRejectedSubjects}, Storage: jetstream.FileStorage, Replicas: c.Replicas,
		MaxMsgsPerSubject: c.SubmitPerTenant, MaxBytes: c.SubmitBytes / 8, MaxAge: c.KeepResults,
	}
}

func resultsStream(c TopologyConfig) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: StreamResults, Description: "the outcome of each job",
		Subjects: []string{AllResultSubjects}, Storage: jetstream.FileStorage, Replicas: c.Replicas,
		MaxMsgsPerSubject: 1, MaxAge: c.KeepResults, AllowDirect: true,
	}
}

func callsStream(c TopologyConfig) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: StreamCalls, Description: "the result of each effectful call",
		Subjects: []string{AllCallSubjects}, Storage: jetstream.FileStorage, Replicas: c.Replicas,
		MaxMsgsPerSubject: 1, MaxAge: c.KeepResults,
	}
}

// exchangesStream forgets the oldest when it is full: it is a record, and no job
// waits for it. Requests of a job repeat each other, so they compress well.
func exchangesStream(c TopologyConfig) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: StreamExchanges, Description: "requests to models, and what came back",
		Subjects: []string{AllExchangeSubjects}, Storage: jetstream.FileStorage, Replicas: c.Replicas,
		MaxMsgsPerSubject: 1, MaxBytes: c.ExchangeBytes, MaxAge: c.KeepResults, Compression: jetstream.S2Compression,
	}
}

// timersStream holds schedules until they fire and what they fired until it is
// taken. Rollup is what the server turns on for schedules.
func timersStream(c TopologyConfig) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: StreamTimers, Description: "timers of waiting jobs, and what they fired",
		Subjects: []string{AllTimerSubjects, AllWakeSubjects}, Storage: jetstream.FileStorage, Replicas: c.Replicas,
		Retention: jetstream.WorkQueuePolicy, MaxMsgsPerSubject: 1, AllowMsgSchedules: true, AllowRollup: true,
	}
}

// blobsBucket is the object store, as nats.go lays one out.
func blobsBucket(c TopologyConfig) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: "OBJ_" + BucketBlobs, Description: "fields and workspaces too large for an event",
		Subjects: []string{"$O." + BucketBlobs + ".C.>", "$O." + BucketBlobs + ".M.>"},
		Storage:  jetstream.FileStorage, Replicas: c.Replicas, MaxBytes: c.BlobBytes,
		Discard: jetstream.DiscardNew, AllowRollup: true, AllowDirect: true,
	}
}

// budgetsBucket is a key-value store, as nats.go lays one out. It is read through
// its leader: an account is written on what was read. What is not written for
// the longest period is of none that is under way.
func budgetsBucket(c TopologyConfig) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: "KV_" + BucketBudgets, Description: "what tenants spend, and which calls are paid for",
		Subjects: []string{"$KV." + BucketBudgets + ".>"},
		Storage:  jetstream.FileStorage, Replicas: c.Replicas, MaxMsgsPerSubject: 1, MaxAge: schemas.MaxBudgetPeriod,
		Discard: jetstream.DiscardNew, AllowRollup: true, DenyDelete: true, AllowMsgTTL: true,
	}
}

// Bounds of what is kept of pure tools: an hour, and so many results of at most
// the size that a result has in an event.
const (
	pureAge     = time.Hour
	pureResults = 10_000
)

// pureBucket is a cache: it forgets the oldest when it is full.
func pureBucket(c TopologyConfig) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: "KV_" + BucketPure, Description: "results of pure tools",
		Subjects: []string{"$KV." + BucketPure + ".>"},
		Storage:  jetstream.FileStorage, Replicas: c.Replicas, MaxMsgsPerSubject: 1, MaxMsgs: pureResults, MaxAge: pureAge,
		Discard: jetstream.DiscardOld, AllowRollup: true, DenyDelete: true, AllowDirect: true,
	}
}

// degradedBucket is read through its leader, as accounts are. What is not
// written for the period that is counted says nothing any more.
func degradedBucket(c TopologyConfig) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: "KV_" + BucketDegraded, Description: "what tenants' jobs failed and degraded in the last hour",
		Subjects: []string{"$KV." + BucketDegraded + ".>"},
		Storage:  jetstream.FileStorage, Replicas: c.Replicas, MaxMsgsPerSubject: 1, MaxAge: schemas.DegradePeriod,
		Discard: jetstream.DiscardNew, AllowRollup: true, DenyDelete: true,
	}
}
