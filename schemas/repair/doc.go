// Package repair reads the JSON that a language model wrote as the arguments
// of a call, where it is almost JSON, and says each thing that it changed.
//
//	text ─► find the value ─► parse tolerantly ─► one object ─► Reading{JSON, Repairs}
//	        fence, prose      quotes, commas,     or *Error{Rule, Offset, Message}
//
// Text that is a JSON object already passes through byte for byte. Everything
// else is read by the rules listed in [Rules], each of which has one possible
// meaning; where a text has two (an unescaped quote, two different objects, the
// same key twice, a backslash before a letter that JSON does not know) it is an
// error, for the model to mend.
//
// A text may have been cut off. What an object would have become is not known
// then, and half of a program is a different program: closing brackets are
// added only where every string was closed and the model said that it had
// finished ([Finished]), and nothing at all is repaired in an answer that is
// known to be cut ([Cut]).
//
// Reading takes one pass over the text and bounded recursion, whatever the
// text is.
package repair
