// Package upkeep bounds what the log keeps: how long the history of a finished
// job stays, and how long a job may rest in a state.
//
//	Janitor  terminal, old  ─► forgotten (fenced, expires) ─► blobs, calls, timer, result ─► history below it
//	Sweeper  live, too old  ─► failed (fenced), deadline_exceeded
//
// The log itself has no maximum age: expiry would take a live job's events
// without a word, and free its ID for a second job. So the janitor first writes
// a fenced event that holds the ID, and only then removes what is behind it. It
// removes the history last: as long as any of it is there, whoever reads the log
// anew finds that the purge is not finished, and finishes it.
//
// Any number of processes may run both. What two of them do at once, the fence
// lets one do; purging what is purged does nothing.
package upkeep
