package index_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"callgate.dev/schemas"
	"callgate.dev/streams/index"
	"callgate.dev/streams/streamstest/rig"
)

// BenchmarkHotPath appends four events a job with an index beside, and without:
// the difference is what an index costs the pipeline.
func BenchmarkHotPath(b *testing.B) {
	for _, indexes := range []int{0, 1, 3} {
		b.Run(fmt.Sprintf("indexes=%d", indexes), func(b *testing.B) {
			r := rig.New(b)
			for range indexes {
				x, err := index.New(r.Ctx, r.JS, index.Config{})
				if err != nil {
					b.Fatal(err)
				}
				defer x.Close()
			}
			var n atomic.Int64
			b.SetParallelism(64)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					e := rig.Planning(fmt.Sprintf("j%d", n.Add(1)))
					var last uint64
					for _, s := range []schemas.State{schemas.StatePlanning, schemas.StateSandboxExecution, schemas.StateVerification, schemas.StateCompleted} {
						if last != 0 {
							e = rig.Step(e, s)
						}
						seq, err := r.Log.Append(b.Context(), e, last)
						if err != nil {
							b.Error(err)
							return
						}
						last = seq
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
}

// BenchmarkRebuild folds a log of a hundred thousand events, as at a start.
func BenchmarkRebuild(b *testing.B) {
	r := rig.New(b)
	const jobs, each = 25_000, 4
	gate := make(chan struct{}, 64)
	for i := range jobs {
		gate <- struct{}{}
		go func() {
			r.Chain(rig.Planning(fmt.Sprintf("j%d", i)), schemas.StateSandboxExecution, schemas.StateVerification, schemas.StateCompleted)
			<-gate
		}()
	}
	for range cap(gate) {
		gate <- struct{}{}
	}
	for b.Loop() {
		x, err := index.New(r.Ctx, r.JS, index.Config{})
		if err != nil {
			b.Fatal(err)
		}
		if err := x.Ready(r.Ctx); err != nil {
			b.Fatal(err)
		}
		x.Close()
	}
	b.ReportMetric(jobs*each*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
