// Package streams is the event log of all jobs, and the one loop that consumes
// it. It holds the subjects, the topology, the fenced log with its codec, the
// blobs that do not fit into an event, the journal of effects, waits with their
// timers, results and rejections.
//
// It decides nothing about a job: workers do, one event in and one event out.
// It does not know what a model, a tool or a sandbox is. And it is the only
// place that acks, naks, publishes to the log or retries.
//
//	          ┌──────────────── callgate.job.<state>.<lane>.<tenant>.<job> ──┐
//	          ▼                                                              │
//	CALLGATE_LOG ─► consumer of a state ─► Worker ─► Handler ─► Append ──────┤
//	          │                              │                               │
//	          │                              └─ long retry: waiting ─► timer │
//	          │                                                          │   │
//	          ├─► callgate.live.… (watchers)      Waker ◄─ callgate.wake ┘   │
//	          └─► terminal events ─► Results        └────────────────────────┘
//
// # The fence
//
// Every append names the sequence of the event that it follows and, as its
// subject, [FenceSubject]: the same string always. The server refuses all but
// the first. The stored fence is the back-pointer that [Log.History] walks.
// Nothing is concluded from a read that shows nothing newer: it may be older
// than the refusal. So an event is stale only when a newer one was seen.
//
// # The outcome table
//
// What the loop finds or the handler does, what it appends, what becomes of the
// delivery. Appends come before acks; both rows of a crash between the two are
// in it.
//
//	message that names no job          nothing                            term
//	no fence, or another job's         failed (internal)                  ack
//	event that cannot be read          failed (internal)                  ack
//	field whose blob is gone           failed (internal), references kept ack
//	event of a newer version           nothing: as an error               nak, delayed
//	redelivered, newer event seen      nothing                            ack
//	redelivered, job waits             nothing; its timer is set again    ack
//	redelivered, only intents behind   waits for their leases, then goes on
//	waited Tries times                 failed (last error's class)        ack
//	delivered Deliveries times         failed (internal)                  ack
//	limits.wall_ms used up             failed (deadline_exceeded)         ack
//
//	event that can follow              that event                         ack
//	event that cannot follow           failed (internal), names both      ack
//	event that does not fit            failed (too_large)                 ack
//	Permanent, or a class that fails   failed (its class)                 ack
//	error, panic                       nothing, or waiting when LongWait  nak, delayed, or ack
//	RetryAfter                         nothing, or waiting when LongWait  nak, delayed, or ack
//	any of these at the last try       failed (its class)                 ack
//	out of time, class retried         as an error of that class          nak, delayed, or ack
//	out of time, class replanned       planning, calls in flight answered ack
//	out of time, otherwise             failed (its class)                 ack
//	job moved on meanwhile             nothing                            ack
//	worker shuts down                  nothing                            nak
//	deaf to its deadline               as out of time, without it         as out of time
//
//	append refused, newer event seen   nothing                            ack
//	append refused, only intents seen  nothing                            nak, delayed
//	append refused, nothing seen       nothing                            nak, delayed
//	no answer from the server          asks what became of it, repeats
//
// A nak that waits counts as a try, and so does a crash: the server counts
// deliveries, and those counts outlive a crash of the server. What a worker
// could not write does not count while that worker lives. A waiting event
// carries the tries made so far, and so does the event that resumes it.
package streams
