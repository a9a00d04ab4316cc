package intake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"callgate.dev/schemas"

	"github.com/nats-io/nats.go/jetstream"
)

// wild reports whether no consumer can be had for a subject alone. The server
// stores a message that was published to a literal "*", but reads every filter
// that has one as a wildcard: a consumer for it would take all tenants'
// submissions. A ">" within a token is refused by nats.go, though not by the
// server.
func wild(subject string) bool {
	return strings.Contains(subject, ">") || slices.Contains(strings.Split(subject, "."), "*")
}

// expel refuses the submissions stored on such a subject. It looks at each
// message that the subject matches as a wildcard, from where it stopped last,
// until ctx ends.
func (a *Admission) expel(ctx context.Context, stream jetstream.Stream, subject string, from uint64) (next uint64, err error) {
	for next = max(from, 1); ; next++ {
		msg, err := stream.GetMsg(ctx, next, jetstream.WithGetMsgSubject(subject))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return next, nil
		}
		if err != nil {
			return next, fmt.Errorf("look for submissions on %q: %w", subject, err)
		}
		next = msg.Sequence
		if msg.Subject != subject {
			continue
		}
		tenant, _ := split(subject)
		refused := schemas.Rejection{Sequence: msg.Sequence, At: a.Now().UTC(), Error: problem(schemas.CheckName("tenant", tenant))}
		if err := reject(ctx, a.JS, tenant, refused, msg.Data); err != nil {
			return next, err
		}
		if err := stream.DeleteMsg(ctx, msg.Sequence); err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
			return next, fmt.Errorf("drop submission %d: %w", msg.Sequence, err)
		}
	}
}
