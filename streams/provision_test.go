package streams_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"callgate.dev/streams"
	"callgate.dev/streams/streamstest"

	"github.com/nats-io/nats.go/jetstream"
)

func topology(t *testing.T, c streams.TopologyConfig) streams.Topology {
	t.Helper()
	top, err := streams.NewTopology(small(c))
	if err != nil {
		t.Fatal(err)
	}
	return top
}

func TestProvisionIsIdempotentAndShowsWhatItChanges(t *testing.T) {
	_, js := streamstest.Server(t).Connect(t)
	ctx := t.Context()
	top := topology(t, streams.TopologyConfig{})
	made, err := streams.Provision(ctx, js, top)
	if err != nil {
		t.Fatal(err)
	}
	if len(made) != len(top.Streams)+len(top.Consumers) {
		t.Fatalf("made %d things of %d", len(made), len(top.Streams)+len(top.Consumers))
	}
	if again, err := streams.Provision(ctx, js, top); err != nil || len(again) != 0 {
		t.Fatalf("the second time: %v, %v", again, err)
	}

	changed := topology(t, streams.TopologyConfig{SubmitPerTenant: 7, AckWait: 45 * time.Second})
	got, err := streams.Provision(ctx, js, changed)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprint(got)
	for _, want := range []string{
		"update stream CALLGATE_SUBMIT", "max_msgs_per_subject: 100000 → 7",
		"update consumer CALLGATE_LOG/planning", "ack_wait: 30000000000 → 45000000000",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("changes do not show %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "stream CALLGATE_LOG") {
		t.Errorf("an unchanged stream is shown as changed:\n%s", text)
	}
	s, err := js.Stream(ctx, streams.StreamSubmit)
	if err != nil || s.CachedInfo().Config.MaxMsgsPerSubject != 7 {
		t.Fatalf("the change is shown but was not made: %v", err)
	}
}

func TestProvisionRefusesBeforeItChangesAnything(t *testing.T) {
	for name, tc := range map[string]struct {
		there  jetstream.StreamConfig
		config streams.TopologyConfig
		says   []string
	}{
		"storage": {
			there: jetstream.StreamConfig{Name: streams.StreamResults, Subjects: []string{"callgate.result.*.*"}, Storage: jetstream.MemoryStorage},
			says:  []string{streams.StreamResults, "storage", "memory", "file"},
		},
		"retention": {
			there: jetstream.StreamConfig{Name: streams.StreamSubmit, Subjects: []string{"callgate.submit.*"}},
			says:  []string{streams.StreamSubmit, "retention", "limits", "workqueue"},
		},
		"subjects of another stream": {
			there: jetstream.StreamConfig{Name: "EVERYTHING", Subjects: []string{"callgate.>"}},
			says:  []string{streams.StreamLog, "callgate.job.*.*.*.*", "EVERYTHING", "callgate.>"},
		},
		"more replicas than nodes": {
			config: streams.TopologyConfig{Replicas: 3},
			says:   []string{"3 replicas", "fewer replicas"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, js := streamstest.Server(t).Connect(t)
			ctx := t.Context()
			before := 0
			if tc.there.Name != "" {
				if _, err := js.CreateStream(ctx, tc.there); err != nil {
					t.Fatal(err)
				}
				before = 1
			}
			_, err := streams.Provision(ctx, js, topology(t, tc.config))
			var refused *streams.IncompatibleError
			if !errors.As(err, &refused) {
				t.Fatalf("error %v, want an IncompatibleError", err)
			}
			for _, want := range tc.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not name %q", err, want)
				}
			}
			n := 0
			for range js.StreamNames(ctx).Name() {
				n++
			}
			if n != before {
				t.Errorf("%d streams after the refusal, %d before", n, before)
			}
		})
	}
}

func TestProvisionersAtOnceAgree(t *testing.T) {
	node := streamstest.Server(t)
	top := topology(t, streams.TopologyConfig{})
	errs := make([]error, 4)
	var wg sync.WaitGroup
	for i := range errs {
		_, js := node.Connect(t)
		wg.Go(func() { _, errs[i] = streams.Provision(t.Context(), js, top) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestTopologyConfigNamesEveryFault(t *testing.T) {
	_, err := streams.NewTopology(streams.TopologyConfig{Replicas: 2, LogBytes: -1, AckWait: -time.Second})
	for _, want := range []string{"replicas 2", "log bytes -1", "ack wait -1s"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %q", err, want)
		}
	}
}
