// Package steering is what an operator does to jobs: cancel, roll back, fork,
// replay. Each is one fenced append, and nothing else decides anything.
//
//	cancel    … ─► S ─► cancelled
//	rollback  … ─► S ─► copy of an earlier event     rollback_of
//	replay    … ─► failed ─► copy of the event that  replay_id, rollback_of
//	                         the job failed on
//	fork      (another job:) copy of an event        forked_from
//
// History is never rewritten: a copy is a new event behind the last one. An act
// that was done already is not done again. Since every act reads the job's last
// event and appends fenced on it, two operators, or an operator and a worker,
// cannot both have their way: one appends, the other looks again.
//
// A job that is brought back after its end, and a fork, begin with a fresh
// allowance: attempts, turns, tokens and time are counted anew from the copied
// event, or else most of what failed would fail again at once. What the job
// said and heard until then, its workspace and the program under trial are the
// copied event's. Rolling back a job that is under way keeps the counts of the
// copied event.
//
// Cancel and rollback also tell the workers to look at the log at once, on
// callgate.ctl.<tenant>.<job>. The fence stops what they would append; this
// stops their work.
package steering
