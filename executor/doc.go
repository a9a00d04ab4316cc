// Package executor is the worker of the state sandbox_execution: it has a
// program judged by its interpreter's parser, runs it, runs its acceptance
// tests, and runs the tool calls that belong in a sandbox, all in the job's
// workspace. It decides nothing about a program but whether it may start; the
// verdict is the verifier's.
//
//	sandbox_execution
//	  │
//	  ├─ calls at the cursor ─► one workspace, in the model's order ─► tool_calling, where host calls are left
//	  │                                                             └► planning, where none are
//	  │
//	  └─ code under trial
//	       │
//	       ├─ facts      the parser's, in a sandbox of its own; remembered by content
//	       ├─ gate       does not parse, or a finding refuses it ─► verification, nothing ran
//	       ├─ tests      program and tests as one, on a copy of the workspace that is dropped
//	       ├─ program    alone, in the workspace ─► snapshot ─► verification
//	       └─ retry      out of time, memory or a library ─► sandbox_execution, at most twice
//
// # When the program runs alone
//
// Its tests start with the program itself, so a second interpreter for the
// program alone is started only where it can tell something:
//
//   - there are no tests, or the contract wants what the program prints;
//   - the tests passed and something was printed, or a file changed: by the
//     program or by the tests, and only the program's part is the job's result;
//   - the tests failed: then it tells a program that fails by itself from one
//     that fails its tests.
//
// Otherwise program and tests together printed nothing and left nothing, and
// the tests' report is the run's. With a result schema the program goes first,
// and its tests are not started where it fails.
//
// # What the tests are protected from
//
// The tests have a sandbox of their own and a copy of the workspace as it was
// before the program: what the program alone did to files is not there. One mark
// is set when the tests begin, another when the last line of them is through,
// under names that a program cannot know: ending the process early with status
// 0, or hiding the tests' errors, passes nothing. Tests that end the process
// themselves (unittest.main, sys.exit, process.exit) are taken at their status.
// In JavaScript the last line is through before what it left to the event loop
// is: tests that are asynchronous await at the top level of a module, where a
// promise that never settles fails. Program and tests share a process, as they
// must to call each other: a program that reads its own source can fool them.
//
// # What a failed trial leaves
//
// Nothing: the workspace goes on from the last one that ended well, so that an
// attempt does not find the last one's leftovers. A tool call leaves what it
// wrote, failed or not, as in an interactive session. What cannot be kept
// (beyond the limits of package workspace) is class disk_limit, and the
// workspace stays as it was.
//
// # Conservative retries
//
// Where an operator wants it, a trial or a call that failed of time, memory or a
// missing import goes back to sandbox_execution, at most twice, and not to
// verification or to the model: it is run again from the workspace as it was, in
// an interpreter of its own, with twice the room of what it failed of. Not one
// with hosts, none that made an effectful call, and none that would be the same
// again. See schemas.Degradation.
//
// # Errors
//
// What a program did is in the event. A Go error means that the sandbox, the
// object store or this worker could not decide, and is to be tried again:
// sandbox_unavailable is never blamed on a program. A run without hosts has no
// effect outside its sandbox: a redelivery runs it again from the snapshot in the
// event. One with hosts declares an intent first and is run once, and so do the
// effectful calls of a program's; see Config.Journal and Config.Caller.
package executor
