package prompt

import (
	"fmt"
	"strings"

	"callgate.dev/schemas"
)

// Rejection is why an answer does not stand.
type Rejection struct {
	Attempt  int // 0 where the answer was no attempt
	Attempts int // allowed
	Left     int // of those
	Feedback schemas.Feedback
	// Given is the program that came with the job, where it is the one that was
	// rejected: no message of the conversation shows it otherwise.
	Given *schemas.Code
}

const happened = "What happened: "

// Rejected writes the user message that follows a rejected answer.
func Rejected(r Rejection) (string, error) {
	data := struct{ Header, Happened, Message, Where, Shape, Program, Left string }{
		Header:   "The answer was rejected: " + string(r.Feedback.Class) + ".",
		Happened: happened, Where: r.Feedback.Where, Shape: r.Feedback.Shape, Message: r.Feedback.Message,
	}
	if r.Attempt > 0 {
		data.Header = fmt.Sprintf("%s of %d was rejected: %s.", attempt(r.Attempt), r.Attempts, r.Feedback.Class)
	}
	switch {
	case r.Left == 1:
		data.Left = "1 attempt is"
	case r.Left > 1:
		data.Left = fmt.Sprintf("%d attempts are", r.Left)
	}
	if r.Given != nil {
		data.Program = fenced(r.Given.Language, r.Given.Source)
	}
	return execute("rejected.tmpl", data)
}

// FindRejection looks up, in what Rejected wrote earlier, why attempt n does
// not stand. It returns the index of the message too.
func FindRejection(conversation []schemas.Message, n int) (why string, index int, ok bool) {
	prefix := attempt(n) + " of "
	for i, m := range conversation {
		if m.Role != schemas.RoleUser || !strings.HasPrefix(m.Content, prefix) {
			continue
		}
		header, rest, _ := strings.Cut(m.Content, "\n")
		_, class, _ := strings.Cut(header, "was rejected: ")
		why = strings.TrimSuffix(class, ".")
		if _, message, ok := strings.Cut(rest, happened); ok {
			line, _, _ := strings.Cut(message, "\n")
			why += ": " + line
		}
		return why, i, true
	}
	return "", 0, false
}

func attempt(n int) string { return fmt.Sprintf("Attempt %d", n) }
