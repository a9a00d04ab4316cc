package streams

// EncodeOutcome lets tests see what is left out without sending megabytes.
var EncodeOutcome = encodeOutcome
