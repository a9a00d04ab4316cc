package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"callgate.dev/executor/machine"
	"callgate.dev/executor/workspace"
	"callgate.dev/streams"
	"callgate.dev/streams/embedded"
	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"
)

// machineFlags say from when on the executor takes no more work, and what its workspaces may hold.
type machineFlags struct{ memory, disk, workspaces int64 }

func (m *machineFlags) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	numberFlag(f, &m.memory, "min-free-memory", 0, 0, unbounded, "bytes of memory below which the executor takes no more runs (default: 512 MiB, or a quarter of the memory where that is less)")
	numberFlag(f, &m.disk, "min-free-disk", 0, 0, unbounded, "bytes of disk, beneath the data and temporary directories, below which it takes none (default: 1 GiB, or 5 % of the disk where that is less)")
	numberFlag(f, &m.workspaces, "workspace-memory", 0, workspace.DefaultLimits.Bytes, unbounded, "bytes that the workspaces of all runs at work may hold together, by their limits; more of them wait (default: 2 GiB)")
}

// machineCheck is what a process says of its machine to who asks.
type machineCheck struct {
	Process string          `json:"process"`
	Slots   int             `json:"slots"` // of its executor, in each lane
	Full    string          `json:"full"`  // why it takes no work, "" where it does
	Spaces  []machine.Space `json:"spaces"`
}

// machine measures where this process's executor runs, and answers who asks
// how it is.
func (p *pipeline) machine() (*machine.Machine, error) {
	dirs := []string{os.TempDir()}
	if p.data != "" {
		dirs = append([]string{p.data}, dirs...)
	}
	m, err := machine.New(machine.Config{MinFreeMemory: p.thresholds.memory, MinFreeDisk: p.thresholds.disk, Dirs: dirs})
	if err != nil {
		return nil, err
	}
	if _, err := m.Look(); err != nil { // before a job finds out
		return nil, err
	}
	sub, err := p.c.nc.Subscribe(streams.MachinesSubject, func(req *nats.Msg) {
		check := machineCheck{Process: owner(), Slots: *p.slots[roleExecutor]}
		spaces, err := m.Look()
		check.Spaces = spaces
		if err == nil {
			err = m.Room()
		}
		if err != nil {
			check.Full = oneLine(err.Error(), 400)
		}
		b, err := json.Marshal(check)
		if err == nil {
			_ = req.Respond(b) // who asked is gone, or asks again
		}
	})
	if err != nil {
		return nil, fmt.Errorf("answer for the machine: %w", err)
	}
	p.onClose(func() error { _ = sub.Unsubscribe(); return nil }) // fails only with the connection gone
	return m, nil
}

// watch ends `up` with the server's first write error, for whoever supervises
// it to start it anew: the server itself never writes to that stream again.
func (u *upFlags) watch(ctx context.Context, s *embedded.Server) error {
	err := s.Watch(ctx)
	if err == nil {
		return nil
	}
	m, merr := machine.New(machine.Config{MinFreeDisk: u.thresholds.disk, Dirs: []string{u.data}})
	if merr != nil {
		return errors.Join(err, merr)
	}
	why := m.Disk()
	if why == nil {
		return fmt.Errorf("%w; look at the disk beneath %s, then start `callgate up` again", err, u.data)
	}
	return fmt.Errorf("%w; %w: make room there, then start `callgate up` again; nothing that was acknowledged is lost", err, why)
}

// Answers come at once from who is there; nobody knows how many those are.
const (
	firstMachine = time.Second
	moreMachines = 200 * time.Millisecond
)

// machines asks every process with an executor how its machine is.
func (c *client) machines(ctx context.Context) ([]machineCheck, error) {
	found := []machineCheck{}
	inbox := c.nc.NewInbox()
	sub, err := c.nc.SubscribeSync(inbox)
	if err != nil {
		return found, err
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := c.nc.PublishRequest(streams.MachinesSubject, inbox, nil); err != nil {
		return found, err
	}
	wait := firstMachine
	for {
		ctx, cancel := context.WithTimeout(ctx, wait)
		m, err := sub.NextMsgWithContext(ctx)
		cancel()
		if err != nil {
			return found, nil // no more of them, or no responders at all
		}
		var check machineCheck
		if json.Unmarshal(m.Data, &check) == nil {
			found = append(found, check)
		}
		wait = moreMachines
	}
}

func machineRows(list []machineCheck) (rows [][]string) {
	for _, m := range list {
		there, detail := "yes", ""
		for i, s := range m.Spaces {
			if i > 0 {
				detail += ", "
			}
			detail += fmt.Sprintf("%s %d MiB free", s.What, s.FreeBytes>>20)
		}
		if m.Full != "" {
			there, detail = "full", "takes no work: "+m.Full
		}
		rows = append(rows, []string{"  executor " + m.Process, there, detail})
	}
	return rows
}
