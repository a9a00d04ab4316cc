// Package model asks any server that speaks OpenAI's chat completions.
//
//	planner.Request ─► go-openai ─► transport ─► HTTP ─► server
//	planner.Response ◄─ go-openai ◄─ one shape ◄─ package reply ◄─┘
//	                          └──── typed error ◄─ failure ◄──────┘
//
// The client library rejects a whole response for one field of another type
// than it expects, and takes a 200 with an error inside for an answer. So the
// transport beneath it reads the body itself, up to a limit, by schemas/reply,
// and hands on a response of one shape, each repair recorded; what is no answer
// never reaches the library. Events of a stream are joined, asked for or not.
//
// It tries once. Whether and when to ask again is the caller's: an error wraps
// a *schemas.Error, marked with schemas.Permanent where another try can't help
// and with schemas.RetryAfter where the server named a time.
//
//	429                          model_rate_limited    (permanent where a quota is used up)
//	408, 409, 425, 5xx, no connection, a cut one
//	                             model_unavailable
//	other statuses               model_unavailable, permanent, with what to fix
//	out of time                  model_timeout
//	200 that is no completion    model_output_unparseable
//
// Keys and header values never appear in an error: they are cut out of what
// servers echo.
package model
