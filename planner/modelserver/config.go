package modelserver

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"
)

// Config says what a server plays, or records, and where.
type Config struct {
	Answers       string        // path of the answers file; where Record is set it may not exist yet
	AnswersReader io.Reader     // the answers themselves, instead of a path; not with Record
	Listen        string        // address, for instance 127.0.0.1:0; empty for a handler without a listener
	Record        string        // base URL of a real endpoint, ending in /v1, to pass requests to and learn from
	RecordKey     string        // the key sent there; empty passes the client's own on
	APIKey        string        // the key that clients must send; empty asks for none
	Models        []string      // the models that exist; empty takes any name
	MaxBodyBytes  int64         // largest request body; default 8 MiB
	StopGrace     time.Duration // how long a stop waits for answers under way; default 5 s
	Logger        *slog.Logger  // default: none
	Now           func() time.Time
}

// Validate reports everything that is wrong with a configuration.
func (c *Config) Validate() error {
	var faults []error
	if (c.Answers == "") == (c.AnswersReader == nil) {
		faults = append(faults, errors.New("answers: give a path or a reader, and only one of them"))
	}
	if c.MaxBodyBytes < 0 {
		faults = append(faults, fmt.Errorf("max body bytes: is %d: give a size, or 0 for 8 MiB", c.MaxBodyBytes))
	}
	if c.StopGrace < 0 {
		faults = append(faults, fmt.Errorf("stop grace: is %s: give a duration, or 0 for 5 s", c.StopGrace))
	}
	if c.Record != "" {
		if u, err := url.Parse(c.Record); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			faults = append(faults, fmt.Errorf("record: %s is no base URL: give for instance https://api.openai.com/v1", quote(c.Record)))
		}
		if c.AnswersReader != nil {
			faults = append(faults, errors.New("record: needs a path to append to, not a reader"))
		}
	} else if c.RecordKey != "" {
		faults = append(faults, errors.New("record key: is set without record"))
	}
	return errors.Join(faults...)
}

func (c *Config) setDefaults() {
	if c.MaxBodyBytes == 0 {
		c.MaxBodyBytes = 8 << 20
	}
	if c.StopGrace == 0 {
		c.StopGrace = 5 * time.Second
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
}

func (c *Config) loadBook() (*book, error) {
	if c.AnswersReader != nil {
		return load("reader", c.AnswersReader)
	}
	file, err := os.Open(c.Answers)
	if c.Record != "" && errors.Is(err, fs.ErrNotExist) {
		return load(c.Answers, strings.NewReader(""))
	}
	if err != nil {
		return nil, fmt.Errorf("open answers: %w", err)
	}
	defer file.Close()
	b, err := load(c.Answers, file)
	if err == nil && b.len() == 0 && c.Record == "" {
		return nil, fmt.Errorf("load answers from %s: it has none: give one JSON object a line", c.Answers)
	}
	return b, err
}
