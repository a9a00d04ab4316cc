// Package prompt writes what a model is told: the system message, the job's
// first message, and the message about an answer that was rejected.
//
//	system   what an answer is · where programs run and within which limits ·
//	         the tools' examples · one answer that holds, one that does not and why
//	task     the job's prompt to the letter · context · files · contract
//	rejected which attempt · class · what happened · where · the data around it
//
// Texts are the files in templates, held by golden tests. The prompt stands
// first in its message and is not changed by a byte: whoever wrote it may look
// for it there.
//
// Examples are in the system message and never in messages of their own: a
// user message is always about this job.
//
// A contract's acceptance tests are not shown. A model that sees them can write
// a program that passes them and does nothing else; what a test wants beyond
// the prompt belongs into the prompt. When one fails, its output is part of the
// message about it.
package prompt
