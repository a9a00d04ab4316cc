package streams

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// Change is something that provisioning did, or would do.
type Change struct {
	Kind   string        `json:"kind"` // "stream" or "consumer"
	Name   string        `json:"name"` // a consumer's as stream/consumer
	Action string        `json:"action"`
	Fields []FieldChange `json:"fields,omitempty"` // on update
}

// Actions of a Change.
const (
	ActionCreate = "create"
	ActionUpdate = "update"
)

// FieldChange is a setting by its JetStream API name, From and To as JSON.
type FieldChange struct {
	Field string `json:"field"`
	From  string `json:"from"`
	To    string `json:"to"`
}

func (c Change) String() string {
	s := c.Action + " " + c.Kind + " " + c.Name
	for _, f := range c.Fields {
		s += fmt.Sprintf("\n  %s: %s → %s", f.Field, f.From, f.To)
	}
	return s
}

// IncompatibleError says what of a topology the server cannot be brought to.
// Nothing was changed.
type IncompatibleError struct{ Faults []string }

func (e *IncompatibleError) Error() string {
	return "provision: nothing was changed: " + strings.Join(e.Faults, "; ")
}

// Provision brings the server to t and returns what it changed: nothing, the
// second time. Everything is checked before the first change; what cannot be
// is an *IncompatibleError.
func Provision(ctx context.Context, js jetstream.JetStream, t Topology) ([]Change, error) {
	changes, err := Plan(ctx, js, t)
	if err != nil {
		return nil, err
	}
	for i, change := range changes {
		if err := apply(ctx, js, t, change); err != nil {
			return changes[:i], fmt.Errorf("provision: %s %s %s: %w", change.Action, change.Kind, change.Name, err)
		}
	}
	return changes, nil
}

// Plan returns what Provision would change, in its order: streams, then the
// consumers on them.
func Plan(ctx context.Context, js jetstream.JetStream, t Topology) ([]Change, error) {
	existing, err := listStreams(ctx, js)
	if err != nil {
		return nil, fmt.Errorf("provision: %w", err)
	}
	p := plan{existing: existing}
	for _, want := range t.Streams {
		p.stream(want)
	}
	for _, want := range t.Consumers {
		if err := p.consumer(ctx, js, want); err != nil {
			return nil, fmt.Errorf("provision: %w", err)
		}
	}
	if err := p.replicas(ctx, js, t); err != nil {
		return nil, fmt.Errorf("provision: %w", err)
	}
	if len(p.faults) > 0 {
		return nil, &IncompatibleError{Faults: p.faults}
	}
	return p.changes, nil
}

func listStreams(ctx context.Context, js jetstream.JetStream) (map[string]jetstream.StreamConfig, error) {
	streams := map[string]jetstream.StreamConfig{}
	list := js.ListStreams(ctx)
	for info := range list.Info() {
		streams[info.Config.Name] = info.Config
	}
	if err := list.Err(); err != nil {
		return nil, fmt.Errorf("list streams: %w", err)
	}
	return streams, nil
}

func apply(ctx context.Context, js jetstream.JetStream, t Topology, c Change) error {
	if c.Kind == "stream" {
		for _, s := range t.Streams {
			if s.Name == c.Name {
				return applyStream(ctx, js, s, c.Action)
			}
		}
	}
	for _, w := range t.Consumers {
		if w.Stream+"/"+w.Config.Durable == c.Name {
			_, err := js.CreateOrUpdateConsumer(ctx, w.Stream, w.Config)
			return err
		}
	}
	return errors.New("not in the topology")
}

// applyStream takes what another provisioner has just made for its own work.
func applyStream(ctx context.Context, js jetstream.JetStream, s jetstream.StreamConfig, action string) error {
	if action == ActionCreate {
		_, err := js.CreateStream(ctx, s)
		if !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			return err
		}
	}
	_, err := js.UpdateStream(ctx, s)
	return err
}
