package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"callgate.dev/streams"
	"callgate.dev/streams/index"
	"github.com/nats-io/nats.go/jetstream"
)

// tenantCheck is what a tenant has under way. Jobs that wait are not on the
// log yet: they are admitted as live ones end.
type tenantCheck struct {
	Tenant  string `json:"tenant"`
	Live    uint64 `json:"live"`
	Waiting uint64 `json:"waiting"`
}

// tenants returns every tenant with a job under way or waiting, the busiest
// first.
func (c *client) tenants(ctx context.Context) ([]tenantCheck, error) {
	found := map[string]*tenantCheck{}
	of := func(tenant string) *tenantCheck {
		if found[tenant] == nil {
			found[tenant] = &tenantCheck{Tenant: tenant}
		}
		return found[tenant]
	}
	for _, state := range index.States() {
		if state.Terminal() {
			continue
		}
		records, err := index.Query(ctx, c.js, index.Filter{State: state})
		if err != nil {
			return nil, fmt.Errorf("count jobs in %s: %w", state, err)
		}
		for _, r := range records {
			of(r.Tenant).Live++
		}
	}
	s, err := c.js.Stream(ctx, streams.StreamSubmit)
	if err != nil {
		return nil, fmt.Errorf("open stream %s: %w", streams.StreamSubmit, err)
	}
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(">"))
	if err != nil {
		return nil, fmt.Errorf("count submissions: %w", err)
	}
	for subject, n := range info.State.Subjects {
		if tenant, _, err := streams.ParseSubmitSubject(subject); err == nil {
			of(tenant).Waiting += n
		}
	}
	list := make([]tenantCheck, 0, len(found))
	for _, name := range slices.Sorted(maps.Keys(found)) {
		list = append(list, *found[name])
	}
	slices.SortStableFunc(list, func(x, y tenantCheck) int {
		return cmp.Compare(y.Live+y.Waiting, x.Live+x.Waiting)
	})
	return list, nil
}

// tableTenants is up to how many tenants are told of one by one.
const tableTenants = 20

func tenantRows(list []tenantCheck) (rows [][]string) {
	for i, t := range list {
		if i == tableTenants {
			return append(rows, []string{"  more tenants", "yes", fmt.Sprintf("%d; --json has them all", len(list)-i)})
		}
		rows = append(rows, []string{"  tenant " + t.Tenant, "yes", fmt.Sprintf("%s under way, %s waiting to be admitted", count(t.Live, "job"), count(t.Waiting, "submission"))})
	}
	return rows
}
