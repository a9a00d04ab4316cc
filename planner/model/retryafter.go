package model

import (
	"math"
	"net/http"
	"strconv"
	"time"
)

// maxRetryAfter bounds what a server may ask for: a job that waits holds a place
// among those that its tenant may have under way.
const maxRetryAfter = 15 * time.Minute

// retryAfter reads how long a server wants to be left alone: Retry-After in
// seconds or as a date (RFC 9110, section 10.2.3), and the milliseconds that
// OpenAI sends beside it. A date is compared with the response's own Date, so
// that clocks which disagree don't matter.
func retryAfter(header http.Header, now func() time.Time) (time.Duration, bool) {
	if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil {
		return bound(ms, time.Millisecond)
	}
	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return bound(seconds, time.Second)
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	sent, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		if now == nil {
			return 0, false
		}
		sent = now()
	}
	return min(max(until.Sub(sent), 0), maxRetryAfter), true
}

func bound(n float64, unit time.Duration) (time.Duration, bool) {
	if math.IsNaN(n) {
		return 0, false
	}
	return time.Duration(min(max(n, 0), float64(maxRetryAfter/unit)) * float64(unit)), true
}
