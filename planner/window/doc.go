// Package window fits a conversation into a model's window.
//
//	system · task          always, whole
//	older rounds           shortened, message by message
//	the last two rounds    whole
//
// A round is an answer of the model with all that came of it. In an older one a
// program becomes a line that says how long it was, a rejection its class and
// first line, and results, arguments and texts keep their beginning. What is
// left out is marked, so that neither a model nor a person takes a part for the
// whole.
//
// Where that is more than the window holds, the following are tried in turn:
// older rounds down to a few words a message, results of the last two rounds
// cut shorter and shorter, the oldest rounds left out. A call and its results
// are shortened or left out together, for the API takes neither alone.
//
// The log keeps the conversation whole: it is fitted anew for each request.
package window
