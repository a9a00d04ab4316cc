package planner

import (
	"slices"

	"callgate.dev/planner/prompt"
	"callgate.dev/schemas"
)

// tryProgram counts a program as an attempt and sends it to be run. Last is the
// event of the attempt before: the same program again keeps what was found out
// about it.
func tryProgram(last, in schemas.Envelope, source string) schemas.Envelope {
	digest := schemas.Digest([]byte(source))
	again := rejectedBefore(in, digest, "program")
	in = count(in, digest)
	in.Code = &schemas.Code{Language: in.Job.Language, Source: source, Digest: digest}
	if again != nil {
		if last.Code != nil && last.Code.Digest == digest {
			in.Facts, in.Run, in.Tests = last.Facts, last.Run, last.Tests
		}
		return in.Fail(again)
	}
	return in.Next(schemas.StateSandboxExecution)
}

// tryText counts a final text as an attempt and sends it to be judged.
func tryText(in schemas.Envelope, text string) schemas.Envelope {
	digest := schemas.Digest([]byte(text))
	again := rejectedBefore(in, digest, "text")
	in = count(in, digest)
	in.Text = text
	if again != nil {
		return in.Fail(again)
	}
	return in.Next(schemas.StateVerification)
}

// replan counts an unreadable answer as an attempt and asks again, or ends the
// job where it was the last.
func replan(in schemas.Envelope, content string, why *schemas.Error) schemas.Envelope {
	in = count(in, schemas.Digest([]byte(content)))
	in, spent := formatError(in, why)
	if spent != nil {
		return in.Fail(spent)
	}
	if in.Attempt >= in.Job.Limits.Attempts {
		return in.Fail(schemas.Errorf(why.Class, "%s (attempt %d of %d)", why.Message, in.Attempt, in.Job.Limits.Attempts))
	}
	return in.Replan(schemas.Feedback{Class: why.Class, Message: why.Message})
}

func count(in schemas.Envelope, digest string) schemas.Envelope {
	in.Attempt++
	in.Tried = append(slices.Clip(in.Tried), digest)
	return in
}

// rejectedBefore returns no_progress for an answer that is to the letter an
// earlier attempt's, where nothing can have changed since.
func rejectedBefore(in schemas.Envelope, digest, what string) *schemas.Error {
	for i := len(in.Tried) - 1; i >= 0; i-- {
		if in.Tried[i] != digest {
			continue
		}
		why, index, known := prompt.FindRejection(in.Conversation, i+1)
		if known && slices.ContainsFunc(in.Conversation[index:], func(m schemas.Message) bool { return m.Role == schemas.RoleTool || isChange(m) }) {
			return nil
		}
		if !known {
			why = "rejected"
		}
		return schemas.Errorf(schemas.ClassNoProgress, "attempt %d is the same %s as attempt %d, which was rejected: %s", in.Attempt+1, what, i+1, why)
	}
	return nil
}
