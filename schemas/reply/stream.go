package reply

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"callgate.dev/schemas"
	"callgate.dev/schemas/repair"
)

func isStream(text string) bool {
	return strings.HasPrefix(text, "data:") || strings.HasPrefix(text, "event:") || strings.HasPrefix(text, ": ") || strings.HasPrefix(text, ":\n")
}

// stream joins the chunks of an event stream to one message, and reads that
// like any other. Where neither a finish_reason nor [DONE] came, nobody knows
// what else would have come: there is no answer.
func (a *Answer) stream(text string) {
	j := &joined{Answer: a}
	a.note(StreamJoined, "the answer came as events")
	for data := range events(text) {
		if data == "[DONE]" {
			j.done = true
			break
		}
		if !j.chunk(data) {
			return
		}
	}
	switch {
	case a.Err != nil:
		return
	case !j.done && j.finish == "":
		a.fault(schemas.ClassModelUnavailable, StreamCut, "the stream ended after %d events, with neither a finish_reason nor [DONE]", j.events)
		return
	case !j.done:
		a.note(StreamEnd, "[DONE] never came, the finish_reason did")
	case j.finish == "":
		a.note(StreamEnd, "[DONE] came without a finish_reason, so the answer is not taken for finished")
	}
	if j.events == 0 || !j.spoke {
		a.unparseable(NoChoices, "no event of the stream has a choice")
	}
	a.count(j.usage)
	a.counted(j.usage)
	if j.finish != "" {
		a.ended(quoted(j.finish))
	}
	a.Content, a.Refusal = j.content.String(), j.refusal.String()
	j.toolCalls()
}

// events yields the data of each event: its data lines, joined. Comments and
// other fields say nothing of an answer.
func events(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		var data []string
		flush := func() bool {
			one := strings.TrimSpace(strings.Join(data, "\n"))
			data = data[:0]
			return one == "" || yield(one)
		}
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\r\n")
			field, ok := strings.CutPrefix(line, "data:")
			switch {
			// Some servers leave the empty line out that ends an event.
			case ok && len(data) > 0 && (strings.HasPrefix(strings.TrimSpace(field), "{") && complete(data) || strings.TrimSpace(field) == "[DONE]"), line == "":
				if !flush() {
					return
				}
				if ok {
					data = append(data, field)
				}
			case ok:
				data = append(data, field)
			}
		}
		flush()
	}
}

// complete reports whether lines end like an object does.
func complete(lines []string) bool {
	return strings.HasSuffix(strings.TrimSpace(lines[len(lines)-1]), "}")
}

// joined is what the chunks so far say.
type joined struct {
	*Answer
	events           int
	done, spoke      bool
	finish           string
	usage            rawJSON
	content, refusal strings.Builder
	calls            []*part
}

// part is a call as far as it has come.
type part struct {
	index           int
	id, kind, name  string
	numeric, shaped bool // the ID was a number; the arguments were an object
	arguments       strings.Builder
}

// chunk reads one event, and reports whether the stream can go on.
func (j *joined) chunk(data string) bool {
	j.events++
	reading, err := repair.Value(data, repair.Unknown)
	if err != nil {
		switch e := err.(*repair.Error); e.Rule {
		case repair.Truncated, repair.Unfinished:
			j.fault(schemas.ClassModelUnavailable, StreamCut, "event %d is cut off: %s", j.events, e.Message)
		default:
			j.unparseable(ResponseSyntax, "event %d is not JSON: %s", j.events, e.Message)
		}
		return false
	}
	body, ok := object(reading.JSON)
	if !ok {
		j.unparseable(ResponseSyntax, "event %d is %s; it has to be an object", j.events, shape(reading.JSON))
		return false
	}
	j.Repairs = append(j.Repairs, reading.Repairs...)
	if isError(body["error"]) {
		j.failed(body)
		return false
	}
	if m := words(body["model"]); m != "" {
		j.Model = m
	}
	if kind(body["usage"]) == '{' {
		j.usage = body["usage"]
	}
	for _, v := range array(body["choices"]) {
		choice, _ := object(v)
		if i := words(choice["index"]); i != "" && i != "0" {
			j.note(ExtraChoices, "a choice %s; choice 0 is read", clip(i))
			continue
		}
		if isError(choice["error"]) {
			j.failed(choice)
			return false
		}
		j.spoke = true
		if f := words(choice["finish_reason"]); f != "" {
			j.finish = f
		}
		delta, ok := object(choice["delta"])
		if !ok {
			if delta, ok = object(choice["message"]); ok {
				j.note(Delta, "a message stands in the place of a delta")
			}
		}
		j.delta(delta, str(choice["text"]))
	}
	return true
}

func (j *joined) delta(d map[string]rawJSON, text string) {
	switch kind(d["content"]) {
	case 0, 'n':
		j.content.WriteString(text)
	default:
		j.content.WriteString(j.contentOf(d["content"]))
	}
	j.refusal.WriteString(words(d["refusal"]))
	list := array(d["tool_calls"])
	if kind(d["tool_calls"]) == '{' {
		j.note(ToolCallsObject, "tool_calls is one object")
		list = []rawJSON{d["tool_calls"]}
	}
	for _, v := range list {
		if c, ok := object(v); ok {
			j.fragment(c)
		}
	}
	if f, ok := object(d["function_call"]); ok {
		j.note(FunctionCall, "the call stands in function_call")
		j.fragment(map[string]rawJSON{"index": rawJSON("0"), "type": rawJSON(`"function"`), "function": d["function_call"], "id": f["id"]})
	}
}

// fragment adds a piece of a call to the call that it belongs to: the one of
// its index, else of its ID, else the last one.
func (j *joined) fragment(c map[string]rawJSON) {
	f, ok := object(c["function"])
	if !ok {
		f = c
	}
	p := j.part(c, words(c["id"]), str(f["name"]))
	if p == nil {
		return
	}
	if id := words(c["id"]); id != "" {
		p.id, p.numeric = id, kind(c["id"]) != '"'
	}
	if t := str(c["type"]); t != "" {
		p.kind = t
	}
	if name := str(f[keyOf(f, nameKeys)]); name != p.name { // some servers repeat it
		p.name += name
	}
	switch v := f[keyOf(f, argumentKeys)]; kind(v) {
	case '"':
		p.arguments.WriteString(str(v))
	case 0, 'n':
	default:
		p.shaped = true
		p.arguments.Write(v)
	}
}

func (j *joined) part(c map[string]rawJSON, id, name string) *part {
	index, err := strconv.Atoi(words(c["index"]))
	at := slices.IndexFunc(j.calls, func(p *part) bool { return err == nil && p.index == index })
	switch {
	case err != nil:
		j.note(StreamIndex, "a call has no index")
		at = slices.IndexFunc(j.calls, func(p *part) bool { return id != "" && p.id == id })
		if at < 0 && id == "" && name == "" {
			at = len(j.calls) - 1
		}
		index = len(j.calls)
	case at >= 0 && id != "" && j.calls[at].id != "" && j.calls[at].id != id && name != "":
		j.note(StreamIndex, "two calls have the index %d", index)
		if at = slices.IndexFunc(j.calls, func(p *part) bool { return p.id == id }); at < 0 {
			index = len(j.calls)
		}
	}
	if at >= 0 {
		return j.calls[at]
	}
	if len(j.calls) > maxCalls {
		return nil // toolCalls says so
	}
	if n := len(j.calls); n > 0 && index < j.calls[n-1].index {
		j.note(StreamOrder, "call %d came after call %d", index, j.calls[n-1].index)
	}
	p := &part{index: index}
	j.calls = append(j.calls, p)
	return p
}

// toolCalls reads the calls that came together as if they had come at once.
func (j *joined) toolCalls() {
	sort.SliceStable(j.calls, func(a, b int) bool { return j.calls[a].index < j.calls[b].index })
	for _, p := range j.calls {
		id := quoted(p.id)
		if p.numeric {
			id = []byte(p.id)
		}
		arguments := quoted(p.arguments.String())
		if p.shaped {
			j.note(ObjectArguments, "arguments are an object")
		}
		j.call(fmt.Appendf(nil, `{"id":%s,"type":%s,"function":{"name":%s,"arguments":%s}}`, id, quoted(p.kind), quoted(p.name), arguments), nil, wire)
	}
}
