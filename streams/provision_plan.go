package streams

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// fixed are the settings that the server never changes on what exists. Those
// in lasting can be turned on but not off.
var (
	fixedOfStreams   = []string{"storage", "mirror", "allow_msg_counter", "persist_mode"}
	lasting          = []string{"allow_msg_ttl", "allow_msg_schedules", "deny_delete", "deny_purge", "sealed"}
	fixedOfConsumers = []string{"ack_policy", "deliver_policy", "opt_start_seq", "opt_start_time", "replay_policy", "max_waiting"}
)

type plan struct {
	existing map[string]jetstream.StreamConfig
	changes  []Change
	faults   []string
	place    bool // a stream is to be made or replicated anew
}

func (p *plan) fault(format string, args ...any) {
	p.faults = append(p.faults, fmt.Sprintf(format, args...))
}

func (p *plan) stream(want jetstream.StreamConfig) {
	for name, other := range p.existing {
		if name != want.Name {
			p.overlap(want, other)
		}
	}
	have, ok := p.existing[want.Name]
	if !ok {
		p.changes = append(p.changes, Change{Kind: "stream", Name: want.Name, Action: ActionCreate})
		p.place = true
		return
	}
	fields := diff(have, normalStream(want))
	for _, f := range fields {
		switch {
		case slices.Contains(fixedOfStreams, f.Field),
			f.Field == "retention" && (have.Retention == jetstream.WorkQueuePolicy || want.Retention == jetstream.WorkQueuePolicy),
			slices.Contains(lasting, f.Field) && f.From == "true":
			p.fault("stream %s exists with %s %s, and the server cannot change that to %s; back it up and remove it, or choose another account", want.Name, f.Field, f.From, f.To)
		case f.Field == "num_replicas":
			p.place = true
		}
	}
	if len(fields) > 0 {
		p.changes = append(p.changes, Change{Kind: "stream", Name: want.Name, Action: ActionUpdate, Fields: fields})
	}
}

func (p *plan) overlap(want, other jetstream.StreamConfig) {
	for _, a := range want.Subjects {
		for _, b := range other.Subjects {
			if overlap(a, b) {
				p.fault("stream %s needs the subjects %s, which stream %s already takes with %s", want.Name, a, other.Name, b)
				return
			}
		}
	}
}

func (p *plan) consumer(ctx context.Context, js jetstream.JetStream, want Consumer) error {
	name := want.Stream + "/" + want.Config.Durable
	create := Change{Kind: "consumer", Name: name, Action: ActionCreate}
	if _, ok := p.existing[want.Stream]; !ok {
		p.changes = append(p.changes, create)
		return nil
	}
	c, err := js.Consumer(ctx, want.Stream, want.Config.Durable)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		p.changes = append(p.changes, create)
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at consumer %s: %w", name, err)
	}
	have := c.CachedInfo().Config
	have.Name = ""
	fields := diff(have, normalConsumer(want.Config))
	for _, f := range fields {
		if slices.Contains(fixedOfConsumers, f.Field) {
			p.fault("consumer %s exists with %s %s, and the server cannot change that to %s; remove it, and it is made anew", name, f.Field, f.From, f.To)
		}
	}
	if len(fields) > 0 {
		p.changes = append(p.changes, Change{Kind: "consumer", Name: name, Action: ActionUpdate, Fields: fields})
	}
	return nil
}

// replicas finds out whether replicas can be placed the only way the server
// tells: by placing some, for an empty stream that goes at once.
func (p *plan) replicas(ctx context.Context, js jetstream.JetStream, t Topology) error {
	n := 1
	for _, s := range t.Streams {
		n = max(n, s.Replicas)
	}
	if n == 1 || !p.place || len(p.faults) > 0 {
		return nil
	}
	id := nuid.Next()
	probe := jetstream.StreamConfig{
		Name: "CALLGATE_PROBE_" + id, Subjects: []string{"callgate.probe." + id}, Replicas: n, Storage: jetstream.FileStorage,
		Description: "finds out whether replicas can be placed; safe to remove",
	}
	_, err := js.CreateStream(ctx, probe)
	var api *jetstream.APIError
	if errors.As(err, &api) {
		p.fault("%d replicas cannot be placed: the server says %q; start more nodes of the cluster, or ask for fewer replicas", n, api.Description)
		return nil
	}
	if err != nil {
		return fmt.Errorf("place %d replicas: %w", n, err)
	}
	return js.DeleteStream(ctx, probe.Name)
}

// normalStream fills in what the server does when a setting is zero.
func normalStream(c jetstream.StreamConfig) jetstream.StreamConfig {
	def(&c.MaxMsgs, -1)
	def(&c.MaxBytes, -1)
	def(&c.MaxMsgsPerSubject, -1)
	def(&c.MaxMsgSize, -1)
	def(&c.MaxConsumers, -1)
	def(&c.Replicas, 1)
	if c.Duplicates == 0 {
		c.Duplicates = 2 * time.Minute
		if c.MaxAge > 0 {
			c.Duplicates = min(c.Duplicates, c.MaxAge)
		}
	}
	return c
}

func normalConsumer(c jetstream.ConsumerConfig) jetstream.ConsumerConfig {
	def(&c.MaxWaiting, 512)
	def(&c.MaxDeliver, -1)
	return c
}

// diff compares two configurations by their JSON, in which zero settings are
// absent. What the server writes into metadata for itself does not count.
func diff(have, want any) []FieldChange {
	a, b := settings(have), settings(want)
	names := map[string]bool{}
	for k := range a {
		names[k] = true
	}
	for k := range b {
		names[k] = true
	}
	var fields []FieldChange
	for name := range names {
		from, to := string(a[name]), string(b[name])
		if zeroJSON(from) && zeroJSON(to) || from == to || name == "metadata" {
			continue
		}
		fields = append(fields, FieldChange{Field: name, From: from, To: to})
	}
	slices.SortFunc(fields, func(x, y FieldChange) int { return strings.Compare(x.Field, y.Field) })
	return fields
}

func settings(config any) map[string]json.RawMessage {
	m := map[string]json.RawMessage{}
	b, err := json.Marshal(config)
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		panic(fmt.Sprintf("settings of %T: %v", config, err)) // plain structs of the client library
	}
	return m
}

func zeroJSON(s string) bool {
	return slices.Contains([]string{"", "null", "false", "0", `""`, "{}", "[]"}, s)
}

// overlap reports whether a subject exists that both filters match.
func overlap(a, b string) bool {
	s, t := strings.Split(a, "."), strings.Split(b, ".")
	for i := 0; i < len(s) && i < len(t); i++ {
		if s[i] == ">" || t[i] == ">" {
			return true
		}
		if s[i] != t[i] && s[i] != "*" && t[i] != "*" {
			return false
		}
	}
	return len(s) == len(t)
}
