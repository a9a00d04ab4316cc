package streams_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/streamstest/rig"
)

func degrader(r *rig.Rig, after, most int) *streams.Degrader {
	r.T.Helper()
	d, err := streams.NewDegrader(r.Ctx, streams.DegraderConfig{JS: r.JS, Now: r.Clock.Now, After: after, Most: most})
	if err != nil {
		r.T.Fatal(err)
	}
	return d
}

func degrades(r *rig.Rig, d *streams.Degrader, tenant, id, refused string) {
	r.T.Helper()
	why, err := d.Degrade(r.Ctx, tenant, id)
	if err != nil || (why == "") != (refused == "") || !strings.Contains(why, refused) {
		r.T.Errorf("%s degrades %s: %q, %v; want %q", tenant, id, why, err, refused)
	}
}

func TestATenantDegradesSoOftenInAnHour(t *testing.T) {
	r := rig.New(t)
	d, other := degrader(r, 0, 2), degrader(r, 0, 2)
	degrades(r, d, "acme", "j1.a.1", "")
	r.Clock.Advance(30 * time.Minute)
	for range 3 { // deliveries and replays of one run, of any process
		degrades(r, d, "acme", "j1.a.2", "")
		degrades(r, other, "acme", "j1.a.2", "")
	}
	degrades(r, other, "acme", "j2.a.1", "degraded 2 times in the last hour")
	degrades(r, other, "beta", "j2.a.1", "")
	r.Clock.Advance(30 * time.Minute) // the first is an hour old
	degrades(r, d, "acme", "j2.a.1", "")
	degrades(r, d, "acme", "j3.a.1", "degraded 2 times in the last hour")
}

func TestFailuresOfTheLastHourSwitchDegradingOn(t *testing.T) {
	r := rig.New(t)
	d := degrader(r, 3, 0)
	fail := func(id string, at time.Time) {
		t.Helper()
		if err := d.Failed(r.Ctx, "acme", id, at); err != nil {
			t.Fatal(err)
		}
	}
	start := r.Clock.Now()
	for i, id := range []string{"a", "b", "a", "b"} { // told again
		fail(id, start.Add(time.Duration(i)*time.Minute))
	}
	r.Clock.Advance(10 * time.Minute)
	degrades(r, d, "acme", "j1", "has 2 failures in the last hour, and degrades from 3 on")
	fail("c", r.Clock.Now())
	degrades(r, d, "acme", "j1", "")
	degrades(r, d, "beta", "j1", "0 failures")
	r.Clock.Advance(50*time.Minute + 30*time.Second) // a is too old, b and c are not
	degrades(r, d, "acme", "j2", "has 2 failures")
	degrades(r, d, "acme", "j1", "") // it was counted
}

// Of failures only the newest are kept: one that is told again later must not
// push out another.
func TestAFailureThatIsToldAgainCountsOnce(t *testing.T) {
	r := rig.New(t)
	d := degrader(r, 2, 0)
	at := func(minute int) time.Time { return rig.Epoch.Add(time.Duration(minute) * time.Minute) }
	r.Clock.Set(at(50))
	for _, minute := range []int{1, 40, 45, 1, 1} {
		if err := d.Failed(r.Ctx, "acme", fmt.Sprint(minute), at(minute)); err != nil {
			t.Fatal(err)
		}
	}
	r.Clock.Set(at(95))
	degrades(r, d, "acme", "j1", "")
	r.Clock.Set(at(101))
	degrades(r, d, "acme", "j2", "has 1 failure in")
}

func TestProcessesNeverGrantMoreThanThereIs(t *testing.T) {
	r := rig.New(t)
	var granted atomic.Int32
	var wg sync.WaitGroup
	for p := range 4 {
		d := degrader(r, 0, 5)
		wg.Go(func() {
			for i := range 5 {
				why, err := d.Degrade(r.Ctx, "acme", fmt.Sprintf("%d.%d", p, i))
				if err != nil {
					t.Error(err)
				}
				if why == "" {
					granted.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if granted.Load() != 5 {
		t.Errorf("%d were granted, of 5", granted.Load())
	}
}

func TestDegraderRefusesWhatItCannotKeep(t *testing.T) {
	r := rig.New(t)
	for _, c := range []streams.DegraderConfig{{}, {JS: r.JS, Now: r.Clock.Now, After: -1}, {JS: r.JS, Now: r.Clock.Now, Most: streams.MaxDegraderCount + 1}} {
		if _, err := streams.NewDegrader(r.Ctx, c); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
	d := degrader(r, streams.MaxDegraderCount, streams.MaxDegraderCount)
	if err := d.Failed(r.Ctx, "acme", strings.Repeat("long", 100), r.Clock.Now()); err != nil || schemas.DegradePeriod != time.Hour {
		t.Error(err)
	}
}
