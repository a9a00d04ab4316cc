// Package planner asks the model what to do next and writes its answer down as
// the next event of the job.
//
//	planning event
//	  │ limits used up? ──────────────────────────────► failed
//	  │ code came with the job? ──────────────────────► sandbox_execution
//	  ▼
//	conversation + results of the round, or the feedback
//	  ▼
//	system · task · conversation · tools ─► Model ─► answer
//	                                                  ├ calls ─────► tool_calling
//	                                                  ├ program ───► sandbox_execution
//	                                                  ├ text ──────► verification
//	                                                  ├ unreadable ► planning, with feedback
//	                                                  └ refusal, or the same again ► failed
//
// A [Planner] is a schemas.Handler. It has no clock, no randomness and no
// environment: the same event and the same answer give the same next event.
// It runs nothing, checks no call and judges no program.
//
// # The conversation
//
// An event's conversation holds all that was said after the job's first
// message, and the API would take it at any point: the calls of a round are in
// [schemas.Round] until all have results, and enter the conversation together
// with them: the assistant's message first, then a tool message for each call,
// in the order of the calls. Every answer of the model is exactly one assistant
// message, empty and unreadable ones included, and nothing else is one. What
// the model says beside calls is kept in that message; its thinking is not.
//
// # Turns and attempts
//
// Every answer is a turn. A program, a final text and an unreadable answer are
// attempts too, and so is a program that came with the job. Tried holds a
// digest for each attempt. A program or text that was rejected before ends the
// job as no_progress, unless tools were called since: they may have changed
// what it meets.
//
// # Changing the mode
//
// Where an operator wants it, a job that failed three times goes on in its other
// mode, tools or code, as far as its contract has a place for both: answers that
// were rejected count, and rounds whose calls all failed. The model is told, and
// the conversation stays.
//
// What of it a model is shown is fitted into its window anew for each request;
// see package window.
//
// Subpackages: admission makes a job of a submission, prompt writes messages,
// answer reads them, window fits them, tokens counts them, model asks servers,
// modelserver is one.
package planner
