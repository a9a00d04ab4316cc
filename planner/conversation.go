package planner

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"callgate.dev/planner/prompt"
	"callgate.dev/planner/window"
	"callgate.dev/schemas"
)

// MaxResultBytes bounds what one tool message shows of a result.
const MaxResultBytes = 32 << 10

// silence stands for an answer without content: the API takes no message
// without any, and leaving it out would make one turn of two.
const silence = "(no answer)"

// conversation returns what was said until now, ready to be answered.
func conversation(in schemas.Envelope) ([]schemas.Message, error) {
	said := slices.Clone(in.Conversation)
	if in.Round != nil && len(in.Round.Calls) > 0 {
		said = append(said, roundMessages(in.Round)...)
	}
	if in.Feedback != nil {
		r := prompt.Rejection{Attempts: in.Job.Limits.Attempts, Left: in.Job.Limits.Attempts - in.Attempt, Feedback: *in.Feedback}
		if in.Round == nil {
			r.Attempt = in.Attempt // calls are no attempt
		}
		if in.Turn == 0 && in.Code != nil {
			r.Given = in.Code
		}
		text, err := prompt.Rejected(r)
		if err != nil {
			return nil, err
		}
		said = append(said, schemas.Message{Role: schemas.RoleUser, Content: text})
	}
	if n := len(said); n > 0 && said[n-1].Role == schemas.RoleAssistant {
		// After a rollback, say. Some servers take an assistant's message at the end
		// for the beginning of the answer.
		said = append(said, schemas.Message{Role: schemas.RoleUser, Content: "Go on."})
	}
	return said, nil
}

// roundMessages returns the assistant's message with its calls and a tool
// message for each, as the API requires.
func roundMessages(r *schemas.Round) []schemas.Message {
	messages := []schemas.Message{{Role: schemas.RoleAssistant, Content: r.Content}}
	for _, c := range r.Calls {
		messages[0].Calls = append(messages[0].Calls, schemas.MessageCall{ID: c.ID, Name: functionName(c.Name), Arguments: arguments(c)})
		res, ok := r.Result(c.ID)
		if !ok {
			res.Error = schemas.Errorf(schemas.ClassOutcomeUnknown, "no result of this call was kept; it may have happened")
		}
		messages = append(messages, schemas.Message{Role: schemas.RoleTool, CallID: c.ID, Content: resultText(res)})
	}
	return messages
}

// arguments returns what the model wrote, or what it was repaired to. Servers
// whose chat templates parse a history's arguments refuse the whole request
// over one that is not an object, and the model learns from what it is shown.
func arguments(c schemas.Call) string {
	for _, text := range []string{c.Raw, string(c.Arguments)} {
		if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "{") && json.Valid([]byte(trimmed)) {
			return text
		}
	}
	return encode(map[string]string{"unreadable": clip(c.Raw, 1024)})
}

// functionName makes a name that the API takes in a history: it demands 1 to 64
// letters, digits, _ and - even of a name that the model made up.
func functionName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "unnamed"
	}
	return name[:min(len(name), 64)]
}

func resultText(res schemas.CallResult) string {
	text := string(res.Output)
	switch {
	case res.Error != nil:
		text = encode(map[string]any{"error": res.Error})
	case strings.TrimSpace(text) == "":
		text = "null"
	}
	return window.Cut(text, MaxResultBytes)
}

func encode(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return `{"error":{"class":"internal","message":"the result could not be encoded"}}`
	}
	return strings.TrimSpace(b.String())
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
