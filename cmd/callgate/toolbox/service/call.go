package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	"callgate.dev/dispatcher/registry"
	"callgate.dev/schemas"
	"callgate.dev/streams"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
)

// Headers of a call. A tool that takes effect tells a call that it has had
// already by its ID; an answer may carry the ID, and is refused under another.
const (
	HeaderCall    = "Callgate-Call-Id"
	HeaderTenant  = "Callgate-Tenant"
	HeaderTimeout = "Callgate-Timeout-Ms"
)

// caller calls one version of a tool.
type caller struct {
	nc       *nats.Conn
	log      *slog.Logger
	contract schemas.ToolContract
}

// Call is registry.HostTool's. The reply comes to an inbox that is this call's
// alone, so an answer that is late finds nobody.
func (c *caller) Call(ctx context.Context, call schemas.Call) (json.RawMessage, error) {
	msg := &nats.Msg{Subject: streams.ToolSubject(c.contract.Name, c.contract.Version), Data: call.Arguments, Header: nats.Header{
		HeaderCall:    {call.ID},
		HeaderTenant:  {registry.Tenant(ctx)},
		HeaderTimeout: {strconv.FormatInt(call.TimeoutMS, 10)},
	}}
	reply, err := c.nc.RequestMsgWithContext(ctx, msg)
	if err != nil {
		return nil, c.unanswered(ctx, call, err)
	}
	if id := reply.Header.Get(HeaderCall); id != "" && id != call.ID {
		c.log.Error("refused a result of another call", "tool", call.Tool, "call_id", call.ID, "result_of", clip(id))
		return nil, c.uncertain(call, fmt.Sprintf("it answered call %q, which this is not", clip(id)))
	}
	if text := reply.Header.Get(micro.ErrorHeader); text != "" {
		return nil, schemas.Errorf(classOf(reply.Header.Get(micro.ErrorCodeHeader)), "%s", clip(text))
	}
	return reply.Data, nil
}

// classOf reads the code of a service's error.
func classOf(code string) schemas.Class {
	switch code {
	case "400":
		return schemas.ClassArgumentsInvalid
	case "403":
		return schemas.ClassToolDenied
	}
	return schemas.ClassToolFailed
}

// unanswered says whether a call without an answer may have had an effect.
func (c *caller) unanswered(ctx context.Context, call schemas.Call, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, nats.ErrNoResponders):
		return errors.New("no instance of it is there; nothing ran")
	case errors.Is(err, nats.ErrMaxPayload):
		return schemas.Errorf(schemas.ClassArgumentsInvalid, "the arguments have %d bytes, and the server takes messages of at most %d", len(call.Arguments), c.nc.MaxPayload())
	}
	return c.uncertain(call, err.Error())
}

// uncertain is the error of a call that was sent and whose answer was lost.
func (c *caller) uncertain(call schemas.Call, why string) error {
	if call.Effect == schemas.Effectful {
		return schemas.Errorf(schemas.ClassOutcomeUnknown, "%s; it may have taken effect", why)
	}
	return schemas.Errorf(schemas.ClassToolFailed, "%s", why)
}
