package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nats.go/micro"
)

// pageRecords keeps an answer far below the server's message limit.
const pageRecords = 5000

// Serve answers callgate.api.list from this index, until the returned service
// is stopped. Processes that serve share the requests.
func (x *Index) Serve(nc *nats.Conn, version string) (micro.Service, error) {
	svc, err := micro.AddService(nc, micro.Config{
		Name: "callgate-list", Version: version, Description: "one record a job, from the log",
	})
	if err != nil {
		return nil, fmt.Errorf("serve list: %w", err)
	}
	if err := svc.AddEndpoint("list", micro.HandlerFunc(x.answer), micro.WithEndpointSubject(streams.ListSubject)); err != nil {
		return nil, errors.Join(fmt.Errorf("serve list: %w", err), svc.Stop())
	}
	return svc, nil
}

// answer waits a moment for the fold to reach the log's end, so that who has
// just written finds it; a fold that is far behind answers with what it has.
func (x *Index) answer(req micro.Request) {
	var f Filter
	if err := json.Unmarshal(req.Data(), &f); err != nil {
		refuse(req, schemas.Errorf(schemas.ClassArgumentsInvalid, "list: %v", err))
		return
	}
	if err := f.Validate(); err != nil {
		refuse(req, err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = x.CatchUp(ctx)
	if f.Limit == 0 || f.Limit > pageRecords {
		f.Limit = pageRecords
	}
	records := x.List(f)
	if records == nil {
		records = []Record{}
	}
	_ = req.RespondJSON(records) // whoever asked is gone, or asks again
}

func refuse(req micro.Request, err error) {
	body, _ := json.Marshal(map[string]any{"error": &schemas.Error{Class: schemas.ClassOf(err), Message: err.Error()}})
	_ = req.Error(string(schemas.ClassOf(err)), "list refused", body)
}

// Query returns what f matches from whoever serves the list, and where nobody
// does, from an index made for the purpose.
func Query(ctx context.Context, js jetstream.JetStream, f Filter) ([]Record, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	records := []Record{}
	for page := f; ; {
		got, err := ask(ctx, js.Conn(), page)
		if errors.Is(err, nats.ErrNoResponders) {
			return scan(ctx, js, f)
		}
		if err != nil {
			return nil, err
		}
		records = append(records, got...)
		if f.Limit > 0 && len(records) >= f.Limit {
			return records[:f.Limit], nil
		}
		if len(got) < pageRecords {
			return records, nil
		}
		page.Before = got[len(got)-1].Sequence
	}
}

func ask(ctx context.Context, nc *nats.Conn, f Filter) ([]Record, error) {
	body, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("list: %w", err)
	}
	msg, err := nc.RequestWithContext(ctx, streams.ListSubject, body)
	if err != nil {
		return nil, fmt.Errorf("list: %w", err)
	}
	if msg.Header.Get(micro.ErrorCodeHeader) != "" {
		var refused struct{ Error schemas.Error }
		if err := json.Unmarshal(msg.Data, &refused); err != nil {
			return nil, fmt.Errorf("list: %s", msg.Header.Get(micro.ErrorHeader))
		}
		return nil, &refused.Error
	}
	var records []Record
	if err := json.Unmarshal(msg.Data, &records); err != nil {
		return nil, fmt.Errorf("list: read answer: %w", err)
	}
	return records, nil
}

func scan(ctx context.Context, js jetstream.JetStream, f Filter) ([]Record, error) {
	x, err := New(ctx, js, Config{})
	if err != nil {
		return nil, err
	}
	defer x.Close()
	if err := x.Ready(ctx); err != nil {
		return nil, err
	}
	if found := x.List(f); found != nil {
		return found, nil
	}
	return []Record{}, nil
}
