package bench

// Report is what a bench found, and the document that `--json` prints.
type Report struct {
	Bench   string   `json:"bench"`
	Host    Host     `json:"host"`
	Rounds  int      `json:"rounds"`
	Figures []Figure `json:"figures"`
	Claims  []Claim  `json:"claims"`
	Left    []Left   `json:"left_out"` // what was not measured, and why
}

// Figure is one contestant under one load.
type Figure struct {
	Name     string `json:"name"`
	Means    string `json:"means"`
	Sync     string `json:"sync,omitempty"`
	Language string `json:"language,omitempty"`
	InFlight int    `json:"in_flight"`
	PaceMS   int64  `json:"pace_ms,omitempty"`
	Count    int    `json:"count"`
	// PerSecond is the median of the rounds' rates.
	PerSecond float64 `json:"per_second,omitempty"`
	P50MS     float64 `json:"p50_ms"`
	P95MS     float64 `json:"p95_ms"`
	// CPUMS is the processor time of a job, server and client included, where
	// one process does all of it.
	CPUMS float64 `json:"cpu_ms,omitempty"`
}

// Claim is what can be said of the figures of this run, with the goal where
// there is one.
type Claim struct {
	Name     string  `json:"name"`
	Means    string  `json:"means"`
	Sync     string  `json:"sync,omitempty"`
	Language string  `json:"language,omitempty"`
	InFlight int     `json:"in_flight,omitempty"`
	PaceMS   int64   `json:"pace_ms,omitempty"`
	Value    float64 `json:"value"`
	Unit     Unit    `json:"unit"`
	Goal     *Goal   `json:"goal,omitempty"`
	Met      *bool   `json:"met,omitempty"`
}

// Unit is what a claim's value counts.
type Unit string

// The units of claims.
const (
	UnitRatio Unit = "ratio"
	UnitMS    Unit = "ms"
	UnitBytes Unit = "bytes"
)

// Goal bounds a claim's value from one side.
type Goal struct {
	AtLeast *float64 `json:"at_least,omitempty"`
	AtMost  *float64 `json:"at_most,omitempty"`
}

func atLeast(v float64) *Goal { return &Goal{AtLeast: &v} }
func atMost(v float64) *Goal  { return &Goal{AtMost: &v} }

// Left is something that could have been measured.
type Left struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

func newReport(name string, c Config, host Host) *Report {
	return &Report{Bench: name, Host: host, Rounds: c.Rounds, Figures: []Figure{}, Claims: []Claim{}, Left: []Left{}}
}

// claim adds c, judged where it has a goal.
func (r *Report) claim(c Claim) {
	if g := c.Goal; g != nil {
		met := g.AtLeast != nil && c.Value >= *g.AtLeast || g.AtMost != nil && c.Value <= *g.AtMost
		c.Met = &met
	}
	r.Claims = append(r.Claims, c)
}

func (r *Report) leave(name, reason string) { r.Left = append(r.Left, Left{name, reason}) }

// ratio is a over b, and 0 where b was not measured: JSON has no infinity.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
