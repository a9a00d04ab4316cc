package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"callgate.dev/schemas"
	"callgate.dev/streams"
)

// patience decides when a broken test ends, never whether a sound one passes.
const patience = 3 * time.Minute

// rig is a whole pipeline in a process of its own, and a connection to it as a
// program of any user has one.
type rig struct {
	t    *testing.T
	ctx  context.Context
	home string
	up   *process
	c    *client
}

// newRig starts `callgate up` with answers, a line each.
func newRig(t *testing.T, answers []string, args ...string) *rig {
	t.Helper()
	home := t.TempDir()
	write(t, filepath.Join(home, "answers.jsonl"), strings.Join(answers, "\n"))
	return newRigAt(t, home, nil, append([]string{"--answers", "answers.jsonl"}, args...)...)
}

func newRigAt(t *testing.T, home string, env []string, args ...string) *rig {
	t.Helper()
	p, url := up(t, home, env, append([]string{"--listen", "127.0.0.1:0", "--data", "data"}, args...)...)
	return rigOf(t, home, p, url)
}

// rigOf is the rig of a pipeline that runs.
func rigOf(t *testing.T, home string, p *process, url string) *rig {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	c, err := dial(url, t.Name())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	return &rig{t: t, ctx: ctx, home: home, up: p, c: c}
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// turns is a line of an answers file: prompts that have match get these.
func turns(match string, answers ...any) string {
	b, err := json.Marshal(map[string]any{"match": match, "answers": answers})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// program is an answer that is a program.
func program(lang, source string) string { return "```" + lang + "\n" + source + "\n```" }

// encode is a job as programs of any language send it.
func encode(job map[string]any) []byte {
	b, err := json.Marshal(job)
	if err != nil {
		panic(err)
	}
	return b
}

// door is a way in: it returns the number under which a submission was stored,
// or the refusal that its sender was told of.
type door struct {
	name   string
	submit func(r *rig, tenant string, body []byte) (uint64, *schemas.Error)
}

// doors are both of them. The one for programs that only publish refuses
// nothing itself: what is wrong is said on the tenant's rejections.
var doors = []door{
	{"api", func(r *rig, tenant string, body []byte) (uint64, *schemas.Error) {
		r.t.Helper()
		reply, err := r.c.nc.RequestWithContext(r.ctx, streams.APISubmitSubject(tenant), body)
		if err != nil {
			r.t.Fatal(err)
		}
		var answer struct {
			schemas.Accepted
			Error *schemas.Error `json:"error"`
		}
		if err := json.Unmarshal(reply.Data, &answer); err != nil {
			r.t.Fatalf("%v: %s", err, reply.Data)
		}
		if got, want := reply.Header.Get("Nats-Service-Error-Code") != "", answer.Error != nil; got != want {
			r.t.Errorf("error header: %v, error: %v", got, answer.Error)
		}
		return answer.Sequence, answer.Error
	}},
	{"publish", func(r *rig, tenant string, body []byte) (uint64, *schemas.Error) {
		r.t.Helper()
		ack, err := r.c.js.Publish(r.ctx, streams.SubmitSubject(tenant, schemas.LaneInteractive), body)
		if err != nil {
			r.t.Fatal(err)
		}
		return ack.Sequence, nil
	}},
}

// rejection waits for the record of a submission that was refused.
func (r *rig) rejection(tenant string, match func(schemas.Rejection) bool) schemas.Rejection {
	r.t.Helper()
	for {
		all, err := streams.Rejections(r.ctx, r.c.js, tenant, time.Time{})
		if err != nil {
			r.t.Fatalf("no rejection of tenant %s: %v", tenant, err)
		}
		for _, x := range all {
			if match(x) {
				return x
			}
		}
		r.pause("a rejection of tenant " + tenant)
	}
}

// end waits until a job is over, and returns its whole history.
func (r *rig) end(tenant, job string) []schemas.Envelope {
	r.t.Helper()
	w, err := streams.NewWatcher(streams.WatcherConfig{Log: r.c.log})
	if err != nil {
		r.t.Fatal(err)
	}
	if last, err := w.Wait(r.ctx, tenant, job); err != nil {
		r.t.Fatalf("job %s of %s, last %s: %v", job, tenant, last.State, err)
	}
	h, err := r.c.log.History(r.ctx, tenant, job)
	if err != nil {
		r.t.Fatal(err)
	}
	return h.Events
}

// pause waits between two looks at something that gives no signal.
func (r *rig) pause(what string) {
	r.t.Helper()
	select {
	case <-r.ctx.Done():
		r.t.Fatalf("waited in vain for %s", what)
	case <-time.After(20 * time.Millisecond):
	}
}

// works holds the pipeline to what it is for: the next job runs.
func (r *rig) works(tenant, id string) {
	r.t.Helper()
	_, refused := doors[0].submit(r, tenant, encode(map[string]any{"id": id, "prompt": "nothing", "code": "print('works')"}))
	if refused != nil {
		r.t.Fatal(refused)
	}
	events := r.end(tenant, id)
	if last := events[len(events)-1]; last.State != schemas.StateCompleted || last.Result.Data != "works\n" {
		r.t.Errorf("the next job: %s, %v", last.State, last.Error)
	}
}
