package schemas

import "time"

// MaxExchangeBytes bounds each of an exchange's two texts.
const MaxExchangeBytes = 512 << 10

// Exchange is one request to a model and what came back, as they went over the
// wire. It is a record for people: nothing is decided from it.
type Exchange struct {
	Tenant   string    `json:"tenant"`
	JobID    string    `json:"job_id"`
	TraceID  string    `json:"trace_id"`
	Sequence uint64    `json:"sequence"` // of the planning event that it was for
	Delivery int       `json:"delivery"` // which of that event's, from 1
	At       time.Time `json:"at"`       // when it was sent

	DurationMS float64 `json:"duration_ms"`
	URL        string  `json:"url"` // without a query
	Status     int     `json:"status,omitempty"`
	Error      string  `json:"error,omitempty"` // why there was no answer, or only a part of one
	// Request and Response are the bodies, the secrets that were configured
	// replaced. One that is not UTF-8 has the bytes replaced that are not.
	Request           string `json:"request"`
	Response          string `json:"response"`
	RequestTruncated  bool   `json:"request_truncated,omitempty"`
	ResponseTruncated bool   `json:"response_truncated,omitempty"`
}
