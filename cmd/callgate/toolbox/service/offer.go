package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"callgate.dev/dispatcher/registry"
	"callgate.dev/schemas"
	"callgate.dev/streams"

	"github.com/nats-io/nats.go/micro"
)

// offer is what the instances of a version say of it together.
type offer struct {
	contract  schemas.ToolContract
	digest    string
	instances []string
	checks    bool   // an instance says how the tool is
	conflict  string // what instances disagree on
}

func isTool(info micro.Info) bool {
	return slices.ContainsFunc(info.Endpoints, func(e micro.EndpointInfo) bool {
		_, _, err := streams.ParseToolSubject(e.Subject)
		return err == nil
	})
}

// offers reads the instances in the order of their IDs, so that what is said of
// them does not depend on who answered first.
func (d *Discovery) offers(ctx context.Context, found map[string]micro.Info) map[string]*offer {
	out := map[string]*offer{}
	for _, id := range slices.Sorted(maps.Keys(found)) {
		info := found[id]
		for _, e := range info.Endpoints {
			name, version, err := streams.ParseToolSubject(e.Subject)
			if err != nil {
				continue // no tool's, or a tool's health or contract
			}
			where := fmt.Sprintf("service %s, instance %s, endpoint %s", info.Name, id, e.Name)
			contract, digest, err := d.contract(ctx, where, info, e, name, version)
			if err != nil {
				d.say(where, "refused: "+err.Error())
				continue
			}
			ref := contract.Ref()
			of := out[ref]
			if of == nil {
				of = &offer{contract: contract, digest: digest}
				out[ref] = of
			}
			of.instances = append(of.instances, id)
			if of.digest != digest {
				of.conflict = fmt.Sprintf("instances %s have different contracts for it; another contract needs another version", strings.Join(of.instances, ", "))
			}
			health := streams.ToolHealthSubject(name, version)
			of.checks = of.checks || slices.ContainsFunc(info.Endpoints, func(e micro.EndpointInfo) bool { return e.Subject == health })
		}
	}
	return out
}

// contract returns an endpoint's contract, held to all that it has to be.
func (d *Discovery) contract(ctx context.Context, where string, info micro.Info, e micro.EndpointInfo, name, version string) (schemas.ToolContract, string, error) {
	none := schemas.ToolContract{}
	if e.QueueGroup != QueueGroup {
		return none, "", fmt.Errorf("it is in queue group %q; tools are in %q, so that one instance takes each call", e.QueueGroup, QueueGroup)
	}
	raw := []byte(e.Metadata[Metadata])
	if len(raw) == 0 {
		raw = []byte(info.Metadata[Metadata])
	}
	if len(raw) == 0 {
		var err error
		if raw, err = d.fetch(ctx, name, version); err != nil {
			return none, "", err
		}
	}
	digest := schemas.Digest(raw)
	got, ok := d.checked[digest]
	if !ok {
		if len(d.checked) > 4*d.MaxTools {
			clear(d.checked)
		}
		got.contract, got.err = registry.Check(where, raw)
		d.checked[digest] = got
	}
	c := got.contract
	switch {
	case got.err != nil:
		return none, "", got.err
	case c.Name != name || c.Version != version:
		return none, "", fmt.Errorf("it takes calls on %s, which is not the subject of %s; that is %s", e.Subject, c.Ref(), streams.ToolSubject(c.Name, c.Version))
	case c.RunsIn != schemas.OnHost:
		return none, "", errors.New(`its contract says that it runs in the sandbox; a service's says "runs_in": "host"`)
	}
	return c, digest, nil
}

// fetch asks for a contract that the metadata do not hold.
func (d *Discovery) fetch(ctx context.Context, name, version string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, d.Patience)
	defer cancel()
	subject := streams.ToolContractSubject(name, version)
	reply, err := d.NC.RequestWithContext(ctx, subject, nil)
	if err != nil {
		return nil, fmt.Errorf("no contract under %q in the metadata, nor on %s: %w", Metadata, subject, err)
	}
	return reply.Data, nil
}

// health returns why a tool is out, "" where it is in.
func (d *Discovery) health(ctx context.Context, of *offer) string {
	if !of.checks {
		return "" // that it answered is all there is to know
	}
	ctx, cancel := context.WithTimeout(ctx, d.Patience)
	defer cancel()
	reply, err := d.NC.RequestWithContext(ctx, streams.ToolHealthSubject(of.contract.Name, of.contract.Version), nil)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "its health check took more than " + d.Patience.String()
	case err != nil:
		return "its health check failed: " + err.Error()
	case reply.Header.Get(micro.ErrorHeader) != "":
		return "its health check failed: " + clip(reply.Header.Get(micro.ErrorHeader))
	}
	return ""
}

// clip bounds what a tool says of itself.
func clip(s string) string {
	const most = 500
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
