package intake_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/intake"
	"callgate.dev/streams/streamstest"
	"callgate.dev/streams/streamstest/rig"
)

// One worker and a gate in Admit make every turn visible: the order of the
// calls is the order of the turns.
func TestATenantWithAThousandQueuedJobsDelaysNobodyByMoreThanARound(t *testing.T) {
	r := rig.New(t)
	for range 1000 {
		if _, err := r.JS.PublishAsync(streams.SubmitSubject("greedy", schemas.LaneBatch), plain); err != nil {
			t.Fatal(err)
		}
	}
	<-r.JS.PublishAsyncComplete()
	var mu sync.Mutex
	var order []string
	gate := make(chan struct{})
	running(t, r, intake.AdmissionConfig{Workers: 1, MaxLive: 2000, Admit: func(raw []byte, meta schemas.Meta) (schemas.Envelope, error) {
		<-gate
		mu.Lock()
		defer mu.Unlock()
		order = append(order, meta.Tenant)
		return admit(raw, meta)
	}})
	for range 20 {
		gate <- struct{}{}
	}
	// The other tenant's job is here while a hundred turns pass, then stays for
	// as long as it likes: what counts is the turns after it was taken in.
	publish(r, streams.SubmitSubject("modest", schemas.LaneInteractive), plain)
	consumer := streams.AdmissionConsumer("modest", schemas.LaneInteractive)
	streamstest.Eventually(t, "the modest tenant's submission to be taken in", func() bool {
		c, err := r.JS.Consumer(r.Ctx, streams.StreamSubmit, consumer)
		return err == nil && c.CachedInfo().NumAckPending == 1
	})
	mu.Lock()
	before := len(order)
	mu.Unlock()
	for range 10 {
		gate <- struct{}{}
	}
	streamstest.Eventually(t, "ten turns", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(order) >= before+9
	})
	mu.Lock()
	turns := strings.Join(order[before:], " ")
	mu.Unlock()
	close(gate)
	// Delivery from the server to the scheduler overlaps with a turn or two.
	if at := strings.Index(turns, "modest"); at < 0 || strings.Count(turns[:at], "greedy") > 4 {
		t.Fatalf("turns after it was taken in: %s", turns)
	}
}

func TestNoMoreThanMaxLiveJobsOfATenantAreUnderWay(t *testing.T) {
	r := rig.New(t)
	const most = 3
	running(t, r, intake.AdmissionConfig{MaxLive: most})
	for i := range 10 {
		publish(r, streams.SubmitSubject("acme", schemas.LaneBatch), body(map[string]any{"prompt": "x", "id": fmt.Sprintf("b%d", i)}))
	}
	// Another tenant's job goes through while the first waits at its limit,
	// which also says that the scheduler has been round more than once.
	for i := range 3 {
		id := fmt.Sprintf("o%d", i)
		publish(r, streams.SubmitSubject("other", schemas.LaneInteractive), body(map[string]any{"prompt": "x", "id": id}))
		env := admitted(r, "other", id)
		r.Append(env.Fail(schemas.Errorf(schemas.ClassInternal, "done")), env.Sequence)
	}
	streamstest.Eventually(t, "the tenant to reach its limit", func() bool { return live(r, "acme", 10) == most })
	for done := range 10 {
		if n := live(r, "acme", 10); n > most {
			t.Fatalf("%d live jobs", n)
		}
		finishOne(r, "acme", 10)
		streamstest.Eventually(t, "the next job", func() bool { return live(r, "acme", 10) == min(most, 9-done) })
	}
	empty(r)
}

func live(r *rig.Rig, tenant string, jobs int) int {
	n := 0
	for i := range jobs {
		env, err := r.Log.Last(r.Ctx, tenant, fmt.Sprintf("b%d", i))
		if err == nil && env.State.Live() {
			n++
		}
	}
	return n
}

func finishOne(r *rig.Rig, tenant string, jobs int) {
	for i := range jobs {
		env, err := r.Log.Last(r.Ctx, tenant, fmt.Sprintf("b%d", i))
		if err == nil && env.State.Live() {
			r.Append(env.Fail(schemas.Errorf(schemas.ClassInternal, "done")), env.Sequence)
			return
		}
	}
	r.T.Fatal("no live job")
}

func TestAdmissionStopsBeforeTheLogIsFullAndSaysSo(t *testing.T) {
	r := rig.On(t, streamstest.Server(t).URL(), streams.TopologyConfig{LogBytes: 1 << 20})
	a, _ := running(t, r, intake.AdmissionConfig{FullRatio: 0.5})
	big := rig.Planning("big")
	big.Job.Prompt = strings.Repeat("x", 200<<10)
	events := r.Chain(big, schemas.StatePlanning, schemas.StateFailed)
	streamstest.Eventually(t, "admission to stop", func() bool { return strings.Contains(a.Stopped(), "%") })
	publish(r, streams.SubmitSubject("acme", schemas.LaneInteractive), body(map[string]any{"prompt": "x", "id": "held"}))
	log, err := r.JS.Stream(r.Ctx, streams.StreamLog)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Count(streams.StreamSubmit); got != 1 {
		t.Fatalf("%d submissions wait", got)
	}
	if err := log.DeleteMsg(r.Ctx, events[0].Sequence); err != nil {
		t.Fatal(err)
	}
	if err := log.DeleteMsg(r.Ctx, events[1].Sequence); err != nil {
		t.Fatal(err)
	}
	admitted(r, "acme", "held")
	streamstest.Eventually(t, "the reason to go", func() bool { return a.Stopped() == "" })
}

func TestIdleTenantsCostNothingAndComeBack(t *testing.T) {
	r := rig.New(t)
	running(t, r, intake.AdmissionConfig{PullWait: 60 * 1e6, IdleAfter: 20 * 1e6})
	for round := range 3 {
		id := fmt.Sprintf("r%d", round)
		publish(r, streams.SubmitSubject("acme", schemas.LaneInteractive), body(map[string]any{"prompt": "x", "id": id}))
		admitted(r, "acme", id)
		streamstest.Eventually(t, "the consumer to be dropped", func() bool {
			s, err := r.JS.Stream(r.Ctx, streams.StreamSubmit)
			return err == nil && s.CachedInfo().State.Consumers == 0
		})
	}
}
