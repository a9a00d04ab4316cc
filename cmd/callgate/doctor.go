package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"callgate.dev/executor/sandbox"
	"callgate.dev/schemas"
	"callgate.dev/streams"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"
)

// diagnosis is `doctor --json`.
type diagnosis struct {
	OK      bool          `json:"ok"` // nothing that a pipeline needs is missing
	Sandbox sandbox.Probe `json:"sandbox"`
	NATS    natsCheck     `json:"nats"`
	Model   modelCheck    `json:"model"`
}

type natsCheck struct {
	OK      bool          `json:"ok"`
	URL     string        `json:"url"`
	Server  string        `json:"server"`
	Error   string        `json:"error"`
	Missing []string      `json:"missing"` // streams and consumers to be provisioned
	Streams []streamCheck `json:"streams"`
	States  []stateCheck  `json:"states"`
	Tenants []tenantCheck `json:"tenants"` // that have jobs under way or waiting

	Executors []machineCheck `json:"executors"` // processes that run programs, and how their machines are
}

type streamCheck struct {
	Name     string   `json:"name"`
	Messages uint64   `json:"messages"`
	Bytes    uint64   `json:"bytes"`
	MaxBytes int64    `json:"max_bytes"`
	Leader   string   `json:"leader"` // the node that decides, "" where there is no cluster
	Behind   []string `json:"behind"` // nodes that are away, or have not caught up
}

func newStreamCheck(info *jetstream.StreamInfo) streamCheck {
	c := streamCheck{info.Config.Name, info.State.Msgs, info.State.Bytes, info.Config.MaxBytes, "", []string{}}
	if info.Cluster != nil && info.Cluster.Name != "" { // a server alone says that it leads, too
		c.Leader = info.Cluster.Leader
		for _, node := range info.Cluster.Replicas {
			if node.Offline || !node.Current {
				c.Behind = append(c.Behind, node.Name)
			}
		}
	}
	return c
}

// admissionStops is from which share of its bound on a log takes no further
// jobs; see intake.AdmissionConfig.
const admissionStops = 0.8

// fill says how full the stream is.
func (s streamCheck) fill() string {
	text := fmt.Sprintf("%s, %d MB", count(s.Messages, "message"), s.Bytes>>20)
	if s.MaxBytes <= 0 {
		return text
	}
	share := float64(s.Bytes) / float64(s.MaxBytes)
	text += fmt.Sprintf(", %.1f %% full", 100*share)
	if s.Name == streams.StreamLog && share >= admissionStops {
		text += ": nothing is admitted"
	}
	return text
}

// cluster says who leads, and who is not there.
func (s streamCheck) cluster() string {
	switch {
	case s.Leader == "":
		return ""
	case len(s.Behind) == 0:
		return ", led by " + s.Leader
	}
	return ", led by " + s.Leader + ", without " + strings.Join(s.Behind, " and ")
}

// stateCheck is the backlog of one state's consumer.
type stateCheck struct {
	State   schemas.State `json:"state"`
	Pending uint64        `json:"pending"`
	Working int           `json:"working"`
	Pulls   int           `json:"pulls"` // workers that wait for work
}

type modelCheck struct {
	OK    bool   `json:"ok"`
	URL   string `json:"url"`
	Model string `json:"model"`
	Error string `json:"error"`
}

func (a *app) doctorCommand() *cobra.Command {
	var m modelFlags
	var allow []string
	var from toolFlags
	var isRelease bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "What this machine offers: sandbox, NATS, model; and what is missing",
		Long: "Looks at the machine, the server and the model's endpoint, and says what is missing for a pipeline here. Exit status\n" +
			"0 when the sandbox can run, 3 when it cannot; a server or a model that is not there is reported and is no failure.\n\n" +
			"With --release it checks a build before jobs rest on it: it runs a pipeline of its own, with recorded answers and tools that\n" +
			"go wrong in every way, and calls the tools that --tools, --mcp and --nats name, unless that would take effect. Exit status 1\n" +
			"where a check does not hold.",
		GroupID: "local",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if isRelease {
				return a.releaseCheck(cmd, &from, allow)
			}
			d := diagnosis{}
			var err error
			if d.Sandbox, err = sandbox.Look(sandbox.Config{AllowMissing: allow}); err != nil {
				return &exitError{exitUsage, err}
			}
			d.OK = d.Sandbox.OK
			d.NATS = a.checkNATS(cmd.Context())
			d.Model = checkModel(cmd.Context(), m)
			if a.json {
				err = a.printJSON(d)
			} else {
				a.tellDiagnosis(d)
			}
			if err == nil && !d.OK {
				return &exitError{status: exitSystem}
			}
			return err
		},
	}
	m.flags(cmd)
	cmd.Flags().BoolVar(&isRelease, "release", false, "run the release check")
	from.flags(cmd.Flags())
	listFlag(cmd.Flags(), &allow, "allow-missing", oneOf(sandbox.Capabilities...), "downgrades to take as allowed: "+strings.Join(sandbox.Capabilities, ", "))
	a.withJSON(cmd)
	return a.withServer(cmd)
}

func (a *app) checkNATS(ctx context.Context) natsCheck {
	check := natsCheck{Missing: []string{}, Streams: []streamCheck{}, States: []stateCheck{}, Tenants: []tenantCheck{}, Executors: []machineCheck{}}
	c, err := a.connect()
	if err != nil {
		check.Error = err.Error()
		return check
	}
	defer c.close()
	check.URL, check.Server = c.url, c.nc.ConnectedServerVersion()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	topology, err := streams.NewTopology(streams.TopologyConfig{})
	if err != nil {
		check.Error = err.Error()
		return check
	}
	for _, want := range topology.Streams {
		s, err := c.js.Stream(ctx, want.Name)
		if noJetStream(err) {
			check.Error = explained(err).Error()
			return check
		}
		if err != nil {
			check.Missing = append(check.Missing, missing("stream "+want.Name, err))
			continue
		}
		check.Streams = append(check.Streams, newStreamCheck(s.CachedInfo()))
	}
	if len(check.Missing) > 0 {
		return check // its consumers are missing with a stream
	}
	for _, state := range schemas.WorkStates {
		sum := stateCheck{State: state}
		for _, lane := range schemas.Lanes {
			cons, err := c.js.Consumer(ctx, streams.StreamLog, streams.WorkConsumer(state, lane))
			if err != nil {
				check.Missing = append(check.Missing, missing("consumer "+streams.WorkConsumer(state, lane), err))
				continue
			}
			info := cons.CachedInfo()
			sum.Pending += info.NumPending
			sum.Working += info.NumAckPending
			sum.Pulls += info.NumWaiting
		}
		check.States = append(check.States, sum)
	}
	if check.OK = len(check.Missing) == 0; !check.OK {
		return check
	}
	if check.Executors, err = c.machines(ctx); err != nil {
		check.OK, check.Error = false, err.Error()
		return check
	}
	if check.Tenants, err = c.tenants(ctx); err != nil {
		check.OK, check.Error, check.Tenants = false, err.Error(), []tenantCheck{}
	}
	return check
}

// missing names what is not there; any other reason than that is said.
func missing(what string, err error) string {
	if errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, jetstream.ErrConsumerNotFound) {
		return what
	}
	return fmt.Sprintf("%s: %v", what, err)
}

// checkModel asks the endpoint for its models: what it answers does not
// matter, only that it does and takes the key.
func checkModel(ctx context.Context, m modelFlags) modelCheck {
	c, err := m.config()
	check := modelCheck{URL: redacted(c.BaseURL), Model: c.Model}
	if err != nil {
		check.Error = err.Error()
		return check
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(c.BaseURL, "/")+"/models", nil)
	if err != nil {
		check.Error = err.Error()
		return check
	}
	if key := os.Getenv("OPENAI_API_KEY"); key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := (&http.Client{Transport: c.Transport}).Do(req)
	if err != nil {
		check.Error = err.Error()
		return check
	}
	defer resp.Body.Close()
	if check.OK = resp.StatusCode == http.StatusOK; !check.OK {
		check.Error = "GET /models: " + resp.Status
	}
	return check
}

func (a *app) tellDiagnosis(d diagnosis) {
	p := d.Sandbox
	rows := [][]string{
		{"sandbox", verdict(p.OK), "kernel " + p.Kernel},
		{"  helper", verdict(p.Helper), ""},
	}
	for _, ns := range slices.Sorted(maps.Keys(p.Namespaces)) {
		rows = append(rows, []string{"  namespace " + ns, verdict(p.Namespaces[ns]), ""})
	}
	rows = append(rows,
		[]string{"  cgroups", verdict(p.Cgroup != ""), strings.TrimSpace(p.Cgroup + " " + strings.Join(slices.Sorted(maps.Keys(p.Controllers)), " "))},
		[]string{"  seccomp", verdict(p.Seccomp != ""), oneLine(p.Seccomp, 24)},
		[]string{"  landlock", verdict(p.Landlock > 0), fmt.Sprintf("ABI %d", p.Landlock)})
	for _, in := range p.Interpreters {
		rows = append(rows, []string{"  " + string(in.Language), "yes", in.Path + " " + in.Version})
	}
	for _, m := range p.Missing {
		allowable := ""
		if m.Allowable {
			allowable = " (can be allowed: --allow-missing " + m.Name + ")"
		}
		rows = append(rows, []string{"  missing " + m.Name, "no", oneLine(m.Reason, 120) + allowable})
	}
	rows = append(rows, []string{"nats", verdict(d.NATS.OK), orDash(strings.TrimSpace(d.NATS.URL + " " + d.NATS.Server + " " + oneLine(d.NATS.Error, 140)))})
	for _, missing := range d.NATS.Missing {
		rows = append(rows, []string{"  missing", "no", oneLine(missing, 140) + "; `callgate provision` makes it"})
	}
	for _, s := range d.NATS.Streams {
		rows = append(rows, []string{"  " + s.Name, "yes", s.fill() + s.cluster()})
	}
	for _, s := range d.NATS.States {
		rows = append(rows, []string{"  " + string(s.State), "yes", fmt.Sprintf("%d waiting, %d in work, %s open", s.Pending, s.Working, count(s.Pulls, "pull"))})
	}
	rows = append(rows, machineRows(d.NATS.Executors)...)
	rows = append(rows, tenantRows(d.NATS.Tenants)...)
	rows = append(rows, []string{"model", verdict(d.Model.OK), "as this shell has it, whatever a running planner uses: " + oneLine(strings.TrimSpace(d.Model.URL+" "+d.Model.Model+" "+d.Model.Error), 200)})
	a.table([]string{"WHAT", "THERE", "DETAIL"}, rows)
}

func verdict(ok bool) string {
	if ok {
		return "yes"
	}
	return "no"
}
