// Package streams is the event log of all jobs and the one loop that consumes
// it: subjects, topology, the fenced log, blobs, the journal of effects, waits
// and timers.
package streams
