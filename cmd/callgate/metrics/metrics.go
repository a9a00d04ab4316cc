package metrics

import (
	"net/http"

	"callgate.dev/schemas"
	"callgate.dev/streams"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics of one process.
type Metrics struct {
	registry *prometheus.Registry

	turns, unread                        prometheus.Counter
	attempts, successes, timeouts, fails *prometheus.CounterVec
	rejected, jobs, deliveries, degraded *prometheus.CounterVec
	pending                              prometheus.Gauge
	inject                               prometheus.Histogram
	handle                               *prometheus.HistogramVec
}

// New returns metrics that are all zero. Unavailable counts the tools that are
// out for their health; it is asked at every scrape.
func New(unavailable func() int) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.turns = m.counter("fc_turn_total", "Answers of a model.")
	m.unread = m.counter("fc_parse_failure", "Answers, and arguments of calls, that could not be read.")
	m.attempts = m.counters("fc_tool_call_attempt", "Tool calls that passed the walls and ran.", "tool")
	m.successes = m.counters("fc_tool_call_success", "Tool calls that returned what their contract says.", "tool")
	m.timeouts = m.counters("fc_tool_call_timeout", "Tool calls that ran out of time.", "tool")
	m.fails = m.counters("fc_tool_call_failed", "Tool calls that ended in an error other than a timeout.", "tool")
	m.rejected = m.counters("fc_tool_call_rejected", "Tool calls that a wall refused, by error class.", "class")
	m.jobs = m.counters("callgate_jobs_total", "Jobs that came to rest, by state and error class.", "state", "class")
	m.deliveries = m.counters("callgate_deliveries_total", "Deliveries, by state and what became of them.", "state", "outcome")
	m.degraded = m.counters("callgate_degradations_total", "Steps that were taken about jobs that kept failing, by error class.", "step", "class")
	m.pending = prometheus.NewGauge(prometheus.GaugeOpts{Name: "fc_pending_calls", Help: "Tool calls in the hands of this process's workers."})
	m.inject = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "fc_inject_latency_ms", Help: "From the last result of a round to the request that shows it to the model, in milliseconds.",
		Buckets: []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000, 30_000},
	})
	m.handle = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "callgate_handle_seconds", Help: "From a delivery to its decision, in seconds.",
		Buckets: prometheus.ExponentialBuckets(0.001, 2.5, 12),
	}, []string{"state"})
	m.registry.MustRegister(m.pending, m.inject, m.handle, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "fc_registry_unavailable", Help: "Tools that are out for their health."},
			func() float64 { return float64(unavailable()) }))
	return m
}

func (m *Metrics) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	m.registry.MustRegister(c)
	return c
}

func (m *Metrics) counters(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(c)
	return c
}

// Handler serves the metrics as text.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry})
}

// Observe counts what a worker's loop did with a delivery.
func (m *Metrics) Observe(o streams.Observation) {
	m.deliveries.WithLabelValues(string(o.State), string(o.Outcome)).Inc()
	m.handle.WithLabelValues(string(o.State)).Observe(o.Elapsed.Seconds())
	if o.Out == nil {
		return
	}
	if o.Out.State.Terminal() || o.Out.State == schemas.StateAwaitingHuman {
		m.jobs.WithLabelValues(string(o.Out.State), string(o.Class)).Inc()
	}
	if o.Out.Turn > o.In.Turn {
		m.turns.Add(float64(o.Out.Turn - o.In.Turn))
	}
	for _, d := range o.Out.Degraded[min(len(o.In.Degraded), len(o.Out.Degraded)):] {
		m.degraded.WithLabelValues(string(d.Step), string(d.Class)).Inc()
	}
	if unreadable(o) {
		m.unread.Inc()
	}
	m.calls(o)
}

// unreadable reports whether the planner could not read the model's answer.
func unreadable(o streams.Observation) bool {
	if o.State != schemas.StatePlanning {
		return false
	}
	f := o.Out.Feedback
	return o.Class == schemas.ClassModelOutputUnparseable || f != nil && f.Class == schemas.ClassModelOutputUnparseable
}
