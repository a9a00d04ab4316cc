package diagnose

import (
	"regexp"
	"slices"
	"strings"

	"callgate.dev/dispatcher/repair"
	"callgate.dev/schemas"
)

// How calls and thinking are marked in content. Go's regular expressions take
// linear time.
var (
	mark     = regexp.MustCompile("(?i)<(think|thinking|thought|reasoning|reflection|analysis)>|<(tool_call|function_call)>|```([a-z0-9_+-]*)[ \\t]*\\r?\\n")
	thinkEnd = regexp.MustCompile(`(?i)</(?:think|thinking|thought|reasoning|reflection|analysis)>`)
	callTag  = regexp.MustCompile(`(?i)<(/?)(?:tool_call|function_call)>`)
	endFence = regexp.MustCompile("(?m)^[ \\t]*```")
)

// fromContent finds the calls that a model wrote into its text.
//
// Text that begins like JSON is JSON to its end; marks inside of it are parts
// of strings. In other text marks are met from left to right, so that one
// inside a thinking block or a code example is not a mark.
func (a *Answer) fromContent() {
	text := a.Content
	if begins(text) {
		a.bare(text)
		return
	}
	var rest strings.Builder // the content without thinking
	thought := false
	if first := mark.FindStringIndex(text); true {
		// Some chat templates write the opening tag themselves.
		if end := thinkEnd.FindStringIndex(text); end != nil && (first == nil || end[0] < first[0]) {
			text, thought = text[end[1]:], true
		}
	}
	if thought && begins(text) {
		a.Content = text
		a.bare(text)
		a.thinking(thought)
		return
	}
	for {
		m := mark.FindStringSubmatchIndex(text)
		if m == nil {
			rest.WriteString(text)
			break
		}
		rest.WriteString(text[:m[0]])
		body, whole := text[m[1]:], text[m[0]:]
		switch {
		case m[2] >= 0: // thinking
			thought = true
			text = ""
			if end := thinkEnd.FindStringIndex(body); end != nil {
				text = body[end[1]:]
			}
			if begins(text) && strings.TrimSpace(rest.String()) == "" {
				a.bare(text)
				rest.WriteString(text)
				text = ""
			}
			continue
		case m[4] >= 0: // a call
			text = a.tagged(body, text[m[4]:m[5]])
		default: // a fence
			language, code := strings.ToLower(text[m[6]:m[7]]), body
			text = ""
			if end := endFence.FindStringIndex(body); end != nil {
				code, text = body[:end[0]], body[end[1]:]
			}
			if slices.Contains([]string{"", "json", "json5", "tool_call", "tool_calls", "tool_code"}, language) && begins(code) {
				a.candidate(code, schemas.Repair{Rule: ContentFence, Detail: "the call stands in a fence"}, false)
			}
		}
		rest.WriteString(whole[:len(whole)-len(text)])
	}
	a.Content = rest.String()
	a.thinking(thought)
}

func (a *Answer) thinking(dropped bool) {
	if dropped && len(a.Calls) > 0 {
		a.note(ThinkingDropped, "a thinking block was left out")
	}
}

func (a *Answer) bare(text string) {
	a.candidate(text, schemas.Repair{Rule: ContentJSON, Detail: "the call is the content itself"}, false)
}

// tagged reads a call behind an opening tag, and returns what follows. It ends
// at the next tag of either kind: one search a tag, however many there are.
func (a *Answer) tagged(body, tag string) string {
	from := schemas.Repair{Rule: ContentTag, Detail: "the call stands between <" + tag + "> tags"}
	next := callTag.FindStringSubmatchIndex(body)
	switch {
	case next == nil:
		a.unclosed(body, from)
		return ""
	case next[2] == next[3]: // another opening tag
		a.unclosed(body[:next[0]], from)
		return body[next[0]:]
	}
	a.candidate(body[:next[0]], from, true)
	return body[next[1]:]
}

func (a *Answer) unclosed(text string, from schemas.Repair) {
	before := len(a.Calls)
	a.candidate(text, from, true)
	for i := before; i < len(a.Calls); i++ {
		a.Calls[i].Repairs = append(a.Calls[i].Repairs, schemas.Repair{Rule: UnclosedTag, Detail: "the tag is not closed"})
	}
}

// candidate reads text that may be a call, or an array of them. Where it is
// sure to be meant as one, being none is a fault.
func (a *Answer) candidate(text string, from schemas.Repair, sure bool) {
	reading, err := repair.Value(text, a.Ending())
	if err != nil {
		if e := err.(*repair.Error); sure || hints(text) {
			a.unparseable(e.Rule, "a call in the content can't be read: %s", e.Message)
		}
		return
	}
	calls := []rawJSON{reading.JSON}
	if kind(reading.JSON) == '[' {
		calls = array(reading.JSON)
	} else if o, ok := object(reading.JSON); ok && len(o) == 1 && kind(o["tool_calls"]) == '[' {
		calls = array(o["tool_calls"])
	}
	for _, c := range calls {
		if o, ok := object(c); !ok || !isCall(o, sure) {
			if sure {
				a.unparseable(NotACall, "between the tags stands %s, which is no object with a name and arguments", clip(string(c)))
			}
			return
		}
	}
	for _, c := range calls {
		a.call(c, append([]schemas.Repair{from}, reading.Repairs...), false)
	}
}

// isCall tells a call from data that happens to have a name: it has nothing
// else than a call has. A declaration of a tool, echoed, is no call of it.
func isCall(o map[string]rawJSON, sure bool) bool {
	if f, ok := object(o["function"]); ok {
		return isCall(f, sure)
	}
	name, arguments := keyOf(o, nameKeys), keyOf(o, argumentKeys)
	if str(o[name]) == "" || arguments == "" && !sure {
		return false
	}
	for key := range o {
		if key != name && key != arguments && !slices.Contains([]string{"id", "call_id", "tool_call_id", "type"}, key) {
			return false
		}
	}
	if p, ok := object(o["parameters"]); ok && str(p["type"]) == "object" {
		if _, schema := object(p["properties"]); schema {
			return false
		}
	}
	return arguments == "" || kind(o[arguments]) == '{' || kind(o[arguments]) == '"' || kind(o[arguments]) == 'n'
}

// hints reports whether broken JSON was probably meant as a call.
func hints(text string) bool {
	head := text[:min(len(text), 4096)]
	return strings.Contains(head, "name") && (strings.Contains(head, "arguments") || strings.Contains(head, "parameters"))
}

func begins(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n\uFEFF")
	return text != "" && (text[0] == '{' || text[0] == '[')
}
