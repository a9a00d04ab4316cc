package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"callgate.dev/cmd/callgate/metrics"
)

// serveMetrics opens the process's metrics at --metrics-listen, if it is given.
// They name tools and counts, and nothing of a job: whoever can reach the
// address may read them.
func (p *pipeline) serveMetrics() error {
	p.metrics = metrics.New(p.registry.Unavailable)
	if p.metricsListen == "" {
		return nil
	}
	l, err := net.Listen("tcp", p.metricsListen)
	if err != nil {
		return fmt.Errorf("--metrics-listen: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", p.metrics.Handler())
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	p.app.log.Info("metrics are served", "url", "http://"+l.Addr().String()+"/metrics")
	p.onClose(func() error { return errors.Join(server.Close(), ignoreClosed(l.Close())) })
	p.add("metrics", func(ctx context.Context) error {
		defer context.AfterFunc(ctx, func() { _ = server.Close() })() // Serve says why it ended
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve metrics: %w", err)
		}
		return nil
	})
	return nil
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
