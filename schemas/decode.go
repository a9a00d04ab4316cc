package schemas

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
)

// Meta is what the stream knows of a submission that its body does not say.
type Meta struct {
	Tenant   string
	Lane     Lane
	Sequence uint64    // on the submit stream
	Stored   time.Time // when the stream took it
	Door     string    // "api" or "publish"
}

// DecodeEnvelope reads an event strictly: unknown fields, a newer version and
// states that this version does not know are errors.
func DecodeEnvelope(b []byte) (Envelope, error) {
	var e Envelope
	if err := DecodeStrict(b, &e); err != nil {
		return Envelope{}, Errorf(ClassInternal, "envelope: %v", err)
	}
	if e.Version != EnvelopeVersion {
		return Envelope{}, Errorf(ClassInternal, "envelope: version %d, this program reads %d", e.Version, EnvelopeVersion)
	}
	if !e.State.Known() {
		return Envelope{}, Errorf(ClassInternal, "envelope: unknown state %q", clip(string(e.State), 40))
	}
	return e, nil
}

// Encode writes an event in its canonical form: decoding and encoding it again
// gives the same bytes.
func (e Envelope) Encode() ([]byte, error) {
	e.Version = EnvelopeVersion
	b, err := marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encode envelope of job %s: %w", e.JobID, err)
	}
	return b, nil
}

// Digest returns the sha256 of b in hex.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// DecodeStrict reads exactly one JSON value into a struct. Unknown, duplicate
// and differently cased fields, invalid UTF-8 and anything after the value are
// errors.
//
// It uses what is to become encoding/json/v2: on envelopes that is more than
// twice as fast as encoding/json, which cannot refuse duplicates at all.
func DecodeStrict(b []byte, into any) error {
	return jsonv2.Unmarshal(b, into, jsonv2.RejectUnknownMembers(true))
}

// marshal writes JSON without escaping <, > and &: code is full of them.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}
