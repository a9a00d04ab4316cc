package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"callgate.dev/schemas"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// batchSummary is `batch --json`.
type batchSummary struct {
	Jobs      int                   `json:"jobs"`
	Completed int                   `json:"completed"`
	Attempts  map[string]int        `json:"completed_by_attempts"` // attempts to jobs
	Classes   map[schemas.Class]int `json:"failed_by_class"`
}

// summary prints what the batch came to and returns its exit status.
func (b *batchRun) summary() error {
	s := batchSummary{Jobs: len(b.records), Attempts: map[string]int{}, Classes: map[schemas.Class]int{}}
	for _, r := range b.records {
		switch {
		case r.completed():
			s.Completed++
			s.Attempts[strconv.Itoa(r.Attempts)]++
		case r.Error != nil:
			s.Classes[r.Error.Class]++
		default:
			s.Classes[schemas.ClassCancelled]++
		}
	}
	if b.app.json {
		if err := b.app.printJSON(s); err != nil {
			return err
		}
	} else {
		b.jobTable()
		rows := [][]string{}
		for _, n := range slices.Sorted(maps.Keys(s.Attempts)) {
			rows = append(rows, []string{"completed", "by answer " + n, strconv.Itoa(s.Attempts[n])})
		}
		for _, class := range slices.Sorted(maps.Keys(s.Classes)) {
			rows = append(rows, []string{"not completed", string(class), strconv.Itoa(s.Classes[class])})
		}
		rows = append(rows, []string{"all", "", strconv.Itoa(s.Jobs)})
		b.app.table([]string{"JOBS", "", "COUNT"}, rows)
	}
	if s.Completed < s.Jobs {
		return failed()
	}
	return nil
}

// tableJobs is up to how many jobs are told of one by one.
const tableJobs = 200

// jobTable prints a line a job, in the input's order, for a batch that can be
// read.
func (b *batchRun) jobTable() {
	if len(b.records) > tableJobs {
		return
	}
	of := make(map[string]batchRecord, len(b.records))
	for _, r := range b.records {
		of[r.CustomID] = r
	}
	var rows [][]string
	for _, id := range b.order {
		r := of[id]
		requests, ms, why := "-", "-", tableError(r.Error)
		if r.Result != nil {
			requests = strconv.Itoa(r.Result.Metadata.Turns)
			if t := r.Result.Metadata.ExecutionTimeMS; t > 0 {
				ms = fmt.Sprintf("%.0f", t)
			}
		}
		rows = append(rows, []string{oneLine(id, 40), orDash(string(r.State)), strconv.Itoa(r.Attempts), requests, ms, why})
	}
	b.app.table([]string{"CUSTOM_ID", "STATE", "ANSWERS", "TURNS", "RUN MS", "WHY"}, rows)
	fmt.Fprintln(b.app.out)
}

// progress shows how far a batch is: a bar on a terminal, plain lines
// elsewhere, on standard error.
type progress struct {
	app              *app
	total            int
	done, bad, tries int
	bars             *mpb.Progress
	bar              *mpb.Bar
	last             time.Time
}

func (a *app) newProgress(total int) *progress {
	p := &progress{app: a, total: total, last: time.Now()}
	if terminal(a.err) {
		p.bars = mpb.New(mpb.WithOutput(a.err), mpb.WithWidth(50))
		p.bar = p.bars.AddBar(int64(total),
			mpb.PrependDecorators(decor.CountersNoUnit("%d / %d jobs ")),
			mpb.AppendDecorators(decor.Percentage(), decor.Any(func(decor.Statistics) string { return p.words() }),
				decor.OnComplete(decor.AverageETA(decor.ET_STYLE_GO, decor.WC{W: 8}), "")))
	}
	return p
}

// add counts a record. Calls are serialised by the run.
func (p *progress) add(r batchRecord) {
	p.done++
	p.tries += r.Attempts
	if !r.completed() {
		p.bad++
	}
	switch {
	case p.bar != nil:
		p.bar.Increment()
	case time.Since(p.last) > 2*time.Second:
		p.last = time.Now()
		fmt.Fprintf(p.app.err, "%d of %s%s\n", p.done, count(p.total, "job"), p.words())
	}
}

func (p *progress) words() string {
	return fmt.Sprintf("  %d completed, %d not, %s", p.done-p.bad, p.bad, count(p.tries, "answer"))
}

func (p *progress) end() {
	if p.bar == nil {
		fmt.Fprintf(p.app.err, "%d of %s%s\n", p.done, count(p.total, "job"), p.words())
		return
	}
	if p.done < p.total {
		p.bar.Abort(false)
	}
	p.bars.Wait()
}
