package intake_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"callgate.dev/streams/index"
	"callgate.dev/streams/intake"
	"callgate.dev/streams/streamstest"
	"callgate.dev/streams/streamstest/rig"
)

// BenchmarkAdmission takes b.N waiting submissions to the log, of one tenant
// and of a hundred.
func BenchmarkAdmission(b *testing.B) {
	for _, tenants := range []int{1, 100} {
		b.Run(fmt.Sprintf("tenants=%d", tenants), func(b *testing.B) {
			r := rig.New(b)
			for i := range b.N {
				if _, err := r.JS.PublishAsync(streams.SubmitSubject(fmt.Sprintf("t%d", i%tenants), schemas.LaneBatch), plain); err != nil {
					b.Fatal(err)
				}
			}
			<-r.JS.PublishAsyncComplete()
			x, err := index.New(r.Ctx, r.JS, index.Config{})
			if err != nil {
				b.Fatal(err)
			}
			defer x.Close()
			a, err := intake.NewAdmission(intake.AdmissionConfig{
				JS: r.JS, Log: r.Log, Index: x, Admit: admit, Now: r.Clock.Now, MaxLive: b.N + 1, Logger: slog.New(slog.DiscardHandler),
			})
			if err != nil {
				b.Fatal(err)
			}
			ctx, cancel := context.WithCancel(r.Ctx)
			done := make(chan error, 1)
			b.ResetTimer()
			go func() { done <- a.Run(ctx) }()
			streamstest.Eventually(b, "an empty submit stream", func() bool { return r.Count(streams.StreamSubmit) == 0 })
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
			cancel()
			if err := <-done; err != nil {
				b.Fatal(err)
			}
		})
	}
}
