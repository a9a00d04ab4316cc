// Package intake stands before the log: two doors through which submissions
// come, and the loop that admits them, which is the state `idle`.
//
//	request ─► callgate.api.submit.<tenant> ─► Door: checked, answered ─┐
//	publish ─► callgate.submit.<tenant>[.batch] ──────────────────────┐ │
//	                                                                  ▼ ▼
//	          rejected: callgate.rejected.<tenant> ◄─ Admission ◄─ submit stream
//	                                                      │ one consumer a tenant and lane,
//	                                                      ▼ one submission each in turn
//	                                        the log: planning, fenced on 0
//
// The submit stream is a work queue with a quota for each tenant, so it is
// where jobs wait: Admission keeps at most so many jobs of a tenant going, and
// stops before the log is full.
//
// A submission is admitted at least once and makes one job: its first event is
// fenced on there being none, and carries the body's digest. The same body
// under the same ID is the same job, whether it was delivered or published
// again; another body is an id_conflict.
//
// What a job must look like is not known here: the planner's Admit is called
// for that, by the Door too, so that both doors refuse the same things.
package intake
