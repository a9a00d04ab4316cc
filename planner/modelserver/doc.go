// Package modelserver speaks OpenAI's chat-completions protocol over real HTTP and plays back recorded answers, so that
// everything in front of it runs as it would against a model: no key, no cost, the same answers every time. With an
// upstream it also records: it passes requests on and writes the answers down in the format that it plays.
//
//	POST /v1/chat/completions   JSON, or server-sent events with "stream": true
//	GET  /v1/models             and /v1/models/{model}
//	GET  /healthz               never asks for a key
//
//	request ─► shape ─► key ─► fields ─► match ─► number ─► fault in front? ──yes─► error, raw bytes
//	            404     401     400       404                     │ no
//	            405             413       no_recorded_answer      └─► turn ─► JSON │ event stream ─► [DONE]
//
// It is not a model: it invents nothing, samples nothing, calls no tool that the recording doesn't call, and plays an
// answer whole, whatever max_tokens says. It holds requests to the shape that OpenAI's own API demands, so that a
// client which passes here isn't refused there.
//
// # The answers file
//
// JSON Lines: one object a line, blank lines skipped.
//
//	{"match":"part of a prompt","answers":["the first answer", {"content":null,"tool_calls":[…]}, "the last answer"]}
//
// A conversation belongs to the entry whose match is part of one of its user messages; the longest match wins, the
// earlier line among equals. White space around a match doesn't count and line ends are compared as \n. Lines with the
// same match continue each other, which is what makes recording an append.
//
// An answer is a string (the assistant's content) or an object:
//
//	content        string or null
//	refusal        string: the model declines
//	tool_calls     [{"id"?, "name", "arguments": object, or a string sent exactly as it is, broken JSON too}]
//	finish_reason  stop, length, tool_calls or content_filter (default: tool_calls with calls, else stop)
//	usage          {"prompt_tokens", "completion_tokens"} (default: an estimate, see below)
//	status         an HTTP error to give instead: 400, 401, 403, 404, 408, 409, 422, 429, 500, 502, 503 or 504
//	retry_after    whole seconds, the Retry-After header of a status
//	raw            a string: the body, byte for byte, with status or 200
//	turn           true: the client understands raw and takes it for the assistant's message
//	delay_ms       how long to wait before the first byte, 1 to 600000
//	times          how often to give a status or raw, or to delay (default 1)
//
// # Which answer is played
//
// A turn is an answer that becomes an assistant message: content, refusal, tool_calls, or raw with turn. The turns of
// an entry are numbered from 1, and the request says itself which it wants:
//
//	n = 1 + the number of assistant messages after the first user message that contains the match
//
// Turn n is played, and the last one for every n beyond. Nothing is counted in memory, so a redelivered request gets
// the same answer with the same IDs, and a restart changes nothing. Assistant messages of few-shot examples stand in
// front of the prompt and so don't count. It follows that a client which trims its history must keep the number of its
// assistant messages, for instance by shortening their content.
//
// A fault is an answer that becomes no assistant message: status, or raw without turn. Faults take no number. They
// stand in front of the turn that follows them, or in front of the first repetition of the last turn. Since the
// client repeats a failed request unchanged, only memory can tell that a fault was given: it is given times times in a
// conversation, then passed over, and once more after a restart of the server. An entry without any turn repeats its
// last fault for ever. A delay works the same way: times times late, then at once.
//
// A conversation, for these counts, is everything up to the matching user message, and the request's user field: a
// client that runs the same prompt many times at once gives each its own user. The last 65,536 conversations that met
// a fault are remembered.
//
// # What is made up
//
// The IDs are digests of the request, system_fingerprint is a digest of the answers. Usage is the recorded one, or
// else an estimate of the common rule of thumb: a token for each 4 bytes begun, 3 more a message, 3 for the reply's
// beginning; a tool definition counts by its JSON text.
package modelserver
