package service

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
)

// maxInstances bounds what is read of the services' answers.
const maxInstances = 4096

// ask returns what the instances of all services say of themselves. They are
// not known beforehand, so it ends when everyone that answered the last time
// has answered again and nothing new has come for a while, or with its
// patience.
func (d *Discovery) ask(ctx context.Context) map[string]micro.Info {
	inbox := d.NC.NewInbox()
	found := map[string]micro.Info{}
	sub, err := d.NC.SubscribeSync(inbox)
	if err != nil {
		d.say("discovery", err.Error())
		return found
	}
	defer sub.Unsubscribe() //nolint:errcheck // it fails where the connection is gone, and the subscription with it
	subject, _ := micro.ControlSubject(micro.InfoVerb, "", "")
	if err := d.NC.PublishRequest(subject, inbox, nil); err != nil {
		d.say("discovery", err.Error())
		return found
	}
	end := time.Now().Add(d.Patience)
	missing := map[string]bool{}
	for id := range d.instances {
		missing[id] = true
	}
	for len(found) < maxInstances {
		left := time.Until(end)
		if len(missing) == 0 {
			left = min(left, d.Quiet)
		}
		wait, cancel := context.WithTimeout(ctx, left)
		msg, err := sub.NextMsgWithContext(wait)
		cancel()
		if err != nil {
			if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, nats.ErrNoResponders) && ctx.Err() == nil {
				d.say("discovery", err.Error())
			}
			break
		}
		var info micro.Info
		if json.Unmarshal(msg.Data, &info) == nil && info.ID != "" {
			found[info.ID] = info
			delete(missing, info.ID)
		}
	}
	d.instances = map[string]bool{}
	for id, info := range found {
		if isTool(info) {
			d.instances[id] = true
		}
	}
	return found
}
