package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"callgate.dev/cmd/callgate/bench"
)

// tellBench prints a report for people.
func (a *app) tellBench(r *bench.Report) {
	h := r.Host
	fmt.Fprintf(a.out, "%d cores (%s), %d MB, Linux %s, data on %s, load %.1f\n", h.Cores, orDash(h.Processor), h.MemoryBytes>>20, h.Kernel, h.Filesystem, h.Load)
	var versions []string
	for _, name := range slices.Sorted(maps.Keys(h.Versions)) {
		versions = append(versions, name+" "+h.Versions[name])
	}
	fmt.Fprintf(a.out, "%s\n\n", strings.Join(versions, ", "))

	var rows [][]string
	for _, f := range r.Figures {
		rows = append(rows, []string{
			f.Name, orDash(f.Sync + f.Language), strconv.Itoa(f.InFlight), pace(f.PaceMS), strconv.Itoa(f.Count),
			blankZero(f.PerSecond, 0), fixed(f.P50MS, 2), fixed(f.P95MS, 2), blankZero(f.CPUMS, 2), f.Means,
		})
	}
	a.table([]string{"FIGURE", "WITH", "IN FLIGHT", "PACE", "COUNT", "PER SECOND", "P50 MS", "P95 MS", "CPU MS", "WHAT"}, rows)
	fmt.Fprintln(a.out)

	rows = nil
	for _, c := range r.Claims {
		rows = append(rows, []string{c.Name, orDash(c.Sync + c.Language), blank(c.InFlight), pace(c.PaceMS), claimed(c.Value, c.Unit), goal(c), c.Means})
	}
	if len(rows) > 0 {
		a.table([]string{"RATIO", "WITH", "IN FLIGHT", "PACE", "VALUE", "GOAL", "WHAT"}, rows)
	}
	for _, l := range r.Left {
		fmt.Fprintf(a.out, "not measured: %s: %s\n", l.Name, oneLine(l.Reason, 160))
	}
}

func goal(c bench.Claim) string {
	if c.Goal == nil {
		return "-"
	}
	sign, bound := "≥ ", c.Goal.AtLeast
	if bound == nil {
		sign, bound = "≤ ", c.Goal.AtMost
	}
	s := sign + claimed(*bound, c.Unit)
	if c.Met != nil && !*c.Met {
		s += ", missed"
	}
	return s
}

func claimed(v float64, unit bench.Unit) string {
	switch unit {
	case bench.UnitMS:
		return fixed(v, 2) + " ms"
	case bench.UnitBytes:
		return fixed(v/(1<<20), 1) + " MB"
	}
	return fixed(v, 3)
}

func fixed(v float64, digits int) string { return strconv.FormatFloat(v, 'f', digits, 64) }

func blankZero(v float64, digits int) string {
	if v == 0 {
		return "-"
	}
	return fixed(v, digits)
}

func blank(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

func pace(ms int64) string {
	if ms == 0 {
		return "-"
	}
	return fmt.Sprintf("%d ms", ms)
}
