package window

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"callgate.dev/schemas"
)

// size is how much a shortened message keeps, in bytes.
type size struct{ text, value int }

var (
	short = size{text: 240, value: 80}
	least = size{text: 48, value: 16}
)

// shorten returns an older message in few words.
func shorten(m schemas.Message, to size) schemas.Message {
	switch m.Role {
	case schemas.RoleAssistant:
		m.Content = Cut(withoutPrograms(m.Content), to.text)
		calls := make([]schemas.MessageCall, len(m.Calls))
		for i, c := range m.Calls {
			c.Arguments = arguments(c.Arguments, to)
			calls[i] = c
		}
		if m.Calls != nil {
			m.Calls = calls
		}
	case schemas.RoleTool:
		m.Content = Cut(m.Content, to.text)
	default:
		m.Content = Cut(outline(m.Content), to.text)
	}
	return m
}

// Cut returns the beginning of a text, at most n bytes, and says that it is one.
func Cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + fmt.Sprintf(" [cut here: %d bytes of %d are shown]", n, len(text))
}

// outline keeps a rejection's header and the first line of what happened.
func outline(text string) string {
	header, rest, more := strings.Cut(text, "\n")
	if !more {
		return text
	}
	first, left, _ := strings.Cut(strings.TrimLeft(rest, "\n"), "\n")
	out := header + "\n\n" + first
	if strings.TrimSpace(left) != "" {
		out += " [further lines are left out]"
	}
	return out
}

// withoutPrograms puts a line in the place of each code block, and of an answer
// that is a program in JSON.
func withoutPrograms(text string) string {
	var object map[string]json.RawMessage
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "{") && json.Unmarshal([]byte(trimmed), &object) == nil {
		var code string
		if json.Unmarshal(object["code"], &code) == nil && code != "" {
			return leftOut(code)
		}
	}
	var out strings.Builder
	var block []string
	mark := ""
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		switch {
		case mark == "" && strings.HasPrefix(bare, "```"):
			mark = bare[:len(bare)-len(strings.TrimLeft(bare, "`"))]
		case mark == "":
			out.WriteString(line)
		case bare == mark:
			out.WriteString(leftOut(strings.Join(block, "")) + "\n")
			mark, block = "", nil
		default:
			block = append(block, line)
		}
	}
	if mark != "" {
		out.WriteString(leftOut(strings.Join(block, "")))
	}
	return strings.TrimSpace(out.String())
}

func leftOut(program string) string {
	lines := strings.Count(strings.TrimRight(program, "\n"), "\n") + 1
	many := "lines"
	if lines == 1 {
		many = "line"
	}
	return fmt.Sprintf("[a program of %d %s, %d bytes, is left out here]", lines, many, len(program))
}

// arguments shortens the long values of a call. What it returns is an object,
// as servers whose chat templates read a history's arguments demand.
func arguments(text string, to size) string {
	if len(text) <= to.text {
		return text
	}
	var object map[string]any
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if dec.Decode(&object) == nil {
		for key, value := range object {
			if s, ok := value.(string); ok {
				object[key] = Cut(s, to.value)
			} else if s := encode(value); len(s) > to.value {
				object[key] = Cut(s, to.value)
			}
		}
		if out := encode(object); len(out) <= 4*to.text {
			return out
		}
	}
	return encode(map[string]string{"left_out": fmt.Sprintf("arguments of %d bytes", len(text))})
}

func encode(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return "{}" // what was decoded can be encoded
	}
	return strings.TrimSpace(b.String())
}
