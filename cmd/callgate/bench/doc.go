// Package bench measures an installation: what the log costs, what the
// pipeline adds to it, what the sandbox costs, and what a pipeline adds to
// that.
//
//	Log       raw relay ──────────────── four fenced hops, nothing decoded
//	Pipeline  raw relay ─┬─ ratio ───── the same bytes on the same server
//	          no-op ─────┘              through the consumer loops
//	          with doors                submission, admission and result too
//	          `callgate up` ─┬─ ratio ── real programs, slots all busy
//	          sandbox alone ─┘          the same programs in the sandbox only
//	Sandbox   bare interpreter · sandbox · bubblewrap · docker
//
// Absolute times are the machine's and the hour's. What is claimed is the
// ratio of two figures of the same run: contestants take turns in short
// rounds, each round begins with another one, and medians are compared. What
// disturbs the machine disturbs both.
//
// Load is a closed loop: so many clients, each of which begins a job when its
// last one is over. Setting up and warming up are outside the clock.
//
// The package does not judge: a goal is printed beside the figure and nothing
// fails because of it.
package bench
