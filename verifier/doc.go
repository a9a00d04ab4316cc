// Package verifier decides whether an answer is accepted.
//
// It has two halves. An [Analyser] knows how a language's own parser is asked
// what a program is: it owns the scripts and the rules, and reads what a script
// printed, but runs nothing; the executor runs the script in its sandbox, on the
// very bytes and by the very interpreter that will run them. A [Verifier] is the
// worker of the state verification: a pure function of one event.
//
//	executor                                     verifier
//	────────                                     ────────
//	source ─► interpreter, script ─► stdout ─►   Analyser.Facts: decode, rules
//	                                             │ schemas.Facts, in the event
//	run, tests ─► reports ───────────────────►   Verifier.Handle, in this order:
//
//	    parses ── no ──────► syntax_error        ┐
//	    findings ─ refused ► code_rejected       │
//	    signature ─ wrong ─► signature_mismatch  ├► planning, while attempts
//	    run ────── failed ─► the run's class     │   are left; else failed
//	    result ─── wrong ──► result_invalid      │
//	    tests ──── failed ─► tests_failed        ┘
//	    all well ──────────► completed
//
// The rules are warnings to the reader of a result. They are not a boundary:
// what a program may do is the sandbox's to decide, and whoever wants to hide a
// call from a parser can. A contract may make them refusals (strict), and name
// what else must not be used (forbid).
//
// What a program without facts did, nobody knows: it is never accepted.
package verifier
