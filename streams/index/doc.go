// Package index folds the log's headers into one record a job: what `list`
// shows, what admission counts, what the janitor, the sweeper and replay look
// for.
//
//	log ─► ordered consumer, headers only ─► fold ─► records in memory ─► List, Live
//	                                                       ▲
//	                          callgate.api.list, a queue group ─ Serve, Query
//
// Nothing is stored: an index is the log, read again at every start, and any
// number of processes may hold one. Keeping it costs the pipeline no write and
// no acknowledgement, only a consumer that is read beside it.
//
// A record is a hint of where its job is. Whoever acts on one reads the job's
// last event from the log first, and appends fenced on that.
package index
