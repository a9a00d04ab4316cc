package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
)

// What is kept of the services' answers. Of both, half is for instances that did
// not answer the last time: so whatever many newcomers say, nobody who was there
// goes unheard.
const (
	maxInstances = 8192
	maxAnswers   = 64 << 20 // bytes of all
	maxAnswer    = 2 << 20  // bytes of one; contracts that need more are given apart
)

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
	bytes := 0
	for {
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
		if len(msg.Data) > maxAnswer {
			d.say("discovery", fmt.Sprintf("an instance's answer has more than %d bytes and is not read; a contract may be given on a subject of its own", maxAnswer))
			continue
		}
		if json.Unmarshal(msg.Data, &info) != nil || info.ID == "" {
			continue
		}
		delete(missing, info.ID)
		if !isTool(info) {
			continue
		}
		share := 2
		if d.instances[info.ID] {
			share = 1
		}
		if bytes+len(msg.Data) > maxAnswers/share || len(found) >= maxInstances/share {
			d.say("discovery", fmt.Sprintf("instances are left out: of newcomers at most %d, with %d bytes, are heard at once", maxInstances/2, maxAnswers/2))
			continue
		}
		bytes += len(msg.Data)
		found[info.ID] = info
	}
	d.instances = map[string]bool{}
	for id := range found {
		d.instances[id] = true
	}
	return found
}
