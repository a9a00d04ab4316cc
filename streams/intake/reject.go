package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"callgate.dev/schemas"
	"callgate.dev/streams"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// excerptBytes of a refused body are kept, and shown.
const excerptBytes = 200

// reject keeps a refusal. Within the stream's window of two minutes a repeated
// one, of a submission that came back because its ack was lost, is dropped.
// Sequence is 0 for a request that the door refused before it was stored.
func reject(ctx context.Context, js jetstream.JetStream, tenant string, r schemas.Rejection, body []byte) error {
	r.Excerpt = excerpt(body)
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("keep rejection: %w", err)
	}
	msg := &nats.Msg{Subject: streams.RejectedSubject(streams.TenantWord(tenant)), Data: data, Header: nats.Header{
		streams.HeaderClass: {string(r.Error.Class)},
	}}
	if r.Sequence != 0 {
		msg.Header.Set(nats.MsgIdHdr, "submission-"+strconv.FormatUint(r.Sequence, 10))
	}
	if _, err := js.PublishMsg(ctx, msg); err != nil {
		return fmt.Errorf("keep rejection on %s: %w", msg.Subject, err)
	}
	return nil
}

// excerpt is the beginning of a body, safe to print on a terminal.
func excerpt(body []byte) string {
	cut := len(body) > excerptBytes
	if cut {
		body = body[:excerptBytes]
	}
	s := strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return '·'
		}
		return r
	}, string(body))
	if cut {
		s += "…"
	}
	return s
}

// problem is err as what a submitter is told.
func problem(err error) schemas.Error {
	var e *schemas.Error
	if errors.As(err, &e) {
		return *e
	}
	return schemas.Error{Class: schemas.ClassInternal, Message: err.Error()}
}
