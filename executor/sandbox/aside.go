package sandbox

const (
	timeoutsToAside = 3
	runsToReturn    = 5
)

// aside decides whether a tenant's runs are forked. After three in a row that
// ran out of wall time they are not, until five in a row have ended in time:
// what the tenant runs, or its zygote, is not as it should be, and a start that
// shares nothing tells which.
type aside struct {
	timeouts int
	ended    int
	away     bool
}

// note takes the end of one of the tenant's runs.
func (a *aside) note(timedOut bool) {
	if timedOut {
		a.timeouts++
		a.ended = 0
		a.away = a.away || a.timeouts >= timeoutsToAside
		return
	}
	a.timeouts = 0
	if a.ended++; a.ended >= runsToReturn {
		a.away = false
	}
}
