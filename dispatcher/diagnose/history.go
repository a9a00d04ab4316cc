package diagnose

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"callgate.dev/schemas"
	"callgate.dev/schemas/repair"
	"callgate.dev/schemas/reply"
)

// What is wrong with a history.
const (
	MessageShape    = "message_shape"
	ResultOrphan    = "result_orphan"
	ResultMisplaced = "result_misplaced"
	ResultUnbound   = "result_unbound"
	ResultRenamed   = "result_renamed"
	ResultRepeated  = "result_repeated"
	ResultMissing   = "result_missing"
	CallRepeated    = "call_repeated"
)

var historyReasons = []repair.Rule{
	{Name: MessageShape, Says: "a message of a history is no object, or has no role that is known"},
	{Name: ResultOrphan, Says: "a tool message answers a call that no assistant message before it made"},
	{Name: ResultMisplaced, Says: "a tool message does not follow its call at once: another message stands between the two"},
	{Name: ResultUnbound, Says: "a tool message has no tool_call_id"},
	{Name: ResultRenamed, Says: "a tool message's ID is that of a call but for case or spaces; it has to be the same to the letter"},
	{Name: ResultRepeated, Says: "a call has two tool messages"},
	{Name: ResultMissing, Says: "a call has no tool message, though the history goes on"},
	{Name: CallRepeated, Says: "two calls of a history have the same ID, so their results can't be told apart"},
}

// Topology is how a history hangs together.
type Topology struct {
	Messages int  `json:"messages"`
	Calls    int  `json:"calls"`
	Results  int  `json:"results"`
	Open     int  `json:"open"`  // calls at the end that wait for their results
	Sound    bool `json:"sound"` // a server would take it
}

type message struct {
	Role    string          `json:"role"`
	CallID  json.RawMessage `json:"tool_call_id"`
	problem string
	raw     json.RawMessage
}

// history reads an array of messages, or the request that holds one.
func history(raw []byte) ([]message, bool) {
	var request struct {
		Messages []json.RawMessage `json:"messages"`
	}
	list := request.Messages
	switch text := strings.TrimSpace(strings.TrimPrefix(string(raw), "\uFEFF")); {
	case strings.HasPrefix(text, "{") && strings.Contains(text, `"messages"`):
		if json.Unmarshal([]byte(text), &request) != nil {
			return nil, false
		}
		list = request.Messages
	case strings.HasPrefix(text, "[") && strings.Contains(text, `"role"`):
		if json.Unmarshal([]byte(text), &list) != nil {
			return nil, false
		}
	}
	if len(list) == 0 {
		return nil, false
	}
	messages := make([]message, len(list))
	for i, one := range list {
		m := message{raw: one}
		if err := json.Unmarshal(one, &m); err != nil {
			m.problem = "it is no message: " + err.Error()
		} else if !slices.Contains([]string{"system", "developer", "user", "assistant", "tool", "function"}, m.Role) {
			m.problem = fmt.Sprintf("its role is %q; known are system, user, assistant and tool", clip(m.Role))
		}
		messages[i] = m
	}
	// An array with a response in it is a response.
	return messages, !slices.ContainsFunc(messages, func(m message) bool { return m.Role == "" && strings.Contains(string(m.raw), `"choices"`) })
}

// topology walks a history once.
type topology struct {
	Report
	made map[string]int  // the message that made a call
	done map[string]bool // calls that have a result
	open []string        // calls of the last assistant message that have none
	at   int             // of that message
	gap  bool            // something else stood behind it
}

func historyReport(messages []message, config Config) Report {
	t := &topology{made: map[string]int{}, done: map[string]bool{}}
	t.Report = Report{Calls: []Call{}, Faults: []Fault{}, History: &Topology{Messages: len(messages)}}
	for i, m := range messages {
		switch {
		case m.problem != "":
			t.fault(MessageShape, "message %d: %s", i, m.problem)
		case m.Role == "assistant":
			t.leave(i)
			t.assistant(i, m, config)
		case m.Role == "tool":
			t.result(i, m)
		default:
			t.leave(i)
		}
	}
	t.History.Open = len(t.open)
	t.History.Sound = len(t.Faults) == 0
	t.Executable = t.History.Sound && len(t.Calls) > 0
	return t.Report
}

// maxFaults bounds what is said of a history.
const maxFaults = 64

func (t *topology) fault(rule, format string, args ...any) {
	if len(t.Faults) < maxFaults {
		t.Faults = append(t.Faults, Fault{Class: schemas.ClassModelOutputUnparseable, Rule: rule, Detail: fmt.Sprintf(format, args...)})
	}
}

// leave ends the place where results of the last calls may stand.
func (t *topology) leave(at int) {
	for _, id := range t.open {
		t.fault(ResultMissing, "message %d made call %q, and message %d stands where its result had to", t.at, clip(id), at)
	}
	t.open, t.gap = nil, true
}

func (t *topology) assistant(at int, m message, config Config) {
	t.at, t.gap = at, false
	r := report(reply.Read(m.raw, config.offer()), config)
	wire := asked(m.raw)
	for _, c := range r.Calls {
		c.Repairs = slices.Clip(c.Repairs)
		t.Calls = append(t.Calls, c)
	}
	for _, f := range r.Faults {
		if f.Class == schemas.ClassModelRefused || f.Rule == reply.EmptyAnswer && len(wire) == 0 {
			continue // said long ago, and no fault of the history
		}
		f.Detail = fmt.Sprintf("message %d: %s", at, f.Detail)
		if len(t.Faults) < maxFaults {
			t.Faults = append(t.Faults, f)
		}
	}
	for _, id := range wire {
		t.History.Calls++
		if before, again := t.made[id]; again {
			t.fault(CallRepeated, "message %d makes call %q, which message %d made already", at, clip(id), before)
			continue
		}
		t.made[id] = at
		t.open = append(t.open, id)
	}
}

// asked returns the IDs under which a message makes calls, to the letter.
func asked(raw json.RawMessage) (ids []string) {
	var m struct {
		Calls []struct {
			ID any `json:"id"`
		} `json:"tool_calls"`
	}
	_ = json.Unmarshal(raw, &m) // what can't be read has been said by the reader
	for _, c := range m.Calls {
		switch id := c.ID.(type) {
		case string:
			ids = append(ids, id)
		case float64:
			ids = append(ids, fmt.Sprint(id))
		}
	}
	return ids
}

func (t *topology) result(at int, m message) {
	t.History.Results++
	var id string
	if json.Unmarshal(m.CallID, &id) != nil || id == "" {
		t.fault(ResultUnbound, "message %d: tool_call_id is %s; it has to be the ID of a call, as a string", at, clip(string(append([]byte{}, m.CallID...))+missing(m.CallID)))
		return
	}
	maker, known := t.made[id]
	switch {
	case t.done[id]:
		t.fault(ResultRepeated, "message %d is a second result of call %q", at, clip(id))
	case !known:
		if near := t.near(id); near != "" {
			t.fault(ResultRenamed, "message %d answers %q, and the call is %q: they have to be the same to the letter", at, clip(id), clip(near))
			t.close(near)
			return
		}
		t.fault(ResultOrphan, "message %d answers call %q, which no message before it made", at, clip(id))
	case maker != t.at || t.gap:
		t.fault(ResultMisplaced, "message %d answers call %q of message %d, and another message stands between the two", at, clip(id), maker)
	}
	t.close(id)
}

func (t *topology) close(id string) {
	t.done[id] = true
	t.open = slices.DeleteFunc(t.open, func(o string) bool { return o == id })
}

// near returns the open call whose ID is id but for case, spaces and signs.
func (t *topology) near(id string) string {
	for _, o := range t.open {
		if fold(o) == fold(id) {
			return o
		}
	}
	return ""
}

func fold(id string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\r\n-_", r) {
			return -1
		}
		return r
	}, strings.ToLower(id))
}

func missing(v json.RawMessage) string {
	if len(v) == 0 {
		return "missing"
	}
	return ""
}
