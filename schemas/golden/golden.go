// Package golden holds one event of each state and record, as they stand on
// the log: decoded and encoded again they are byte-equal. Workers' tests feed
// on them. It does nothing else.
//
// The events tell one job, from its submission to its end, and the other ends
// that it could have come to.
package golden

import (
	"bytes"
	"embed"
	"fmt"

	"callgate.dev/schemas"
)

//go:embed *.json
var files embed.FS

// Raw returns the bytes of a state's event.
func Raw(s schemas.State) []byte {
	b, err := files.ReadFile(string(s) + ".json")
	if err != nil {
		panic(fmt.Sprintf("no golden event of state %q: %v", s, err))
	}
	return bytes.TrimRight(b, "\n")
}

// Envelope returns a state's event, decoded.
func Envelope(s schemas.State) schemas.Envelope {
	e, err := schemas.DecodeEnvelope(Raw(s))
	if err != nil {
		panic(fmt.Sprintf("golden event of state %q: %v", s, err))
	}
	return e
}
