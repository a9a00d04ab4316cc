package modelserver

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"mime"
	"unicode/utf8"
)

// request is what playing an answer needs of a chat-completion request that passed every check.
type request struct {
	model        string
	user         string
	messages     []message
	tools        json.RawMessage
	stream       bool
	includeUsage bool
}

// digest names a request or a conversation: equal text gives equal names.
type digest [sha256.Size]byte

func (d digest) hex(length int) string { return hex.EncodeToString(d[:])[:length] }

// id is of the conversation's whole state, so that a redelivered request is answered under the same IDs.
func (r *request) id() digest {
	return r.digest(len(r.messages), r.model)
}

// conversation is what all requests about one prompt share.
func (r *request) conversation(prompt int) digest { return r.digest(prompt+1, "") }

func (r *request) digest(messages int, model string) digest {
	sum := sha256.New()
	field(sum, []byte(model))
	field(sum, []byte(r.user))
	for i := range r.messages[:messages] {
		field(sum, r.messages[i].raw)
	}
	return digest(sum.Sum(nil))
}

// field writes lengths too: without them, moving a byte from one field to the next would give the same digest.
func field(sum hash.Hash, text []byte) {
	fmt.Fprintf(sum, "%d:", len(text))
	sum.Write(text)
}

// decodeRequest checks a body as OpenAI's API does. Where several things are wrong, the answer names the first and
// counts the rest.
func decodeRequest(contentType string, body []byte) (*request, *apiError) {
	if media, _, err := mime.ParseMediaType(contentType); err != nil || media != "application/json" {
		return nil, invalid("", "unsupported_content_type",
			"Unsupported content type "+quote(contentType)+": send the header Content-Type: application/json.")
	}
	if !utf8.Valid(body) {
		return nil, invalid("", "", "The body is not UTF-8: send JSON in UTF-8.")
	}
	if err := json.Unmarshal(body, new(json.RawMessage)); err != nil {
		where := ""
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			where = fmt.Sprintf(" at byte %d", syntax.Offset)
		}
		return nil, invalid("", "", fmt.Sprintf("The body is not JSON%s (%s): send one JSON object.", where, err))
	}
	c := &checker{}
	r := &request{}
	if o, ok := c.object(body, ""); ok {
		r.read(o)
	}
	if len(c.faults) == 0 {
		return r, nil
	}
	first := c.faults[0]
	text := first.String() + "."
	if more := len(c.faults) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more faults)", more)
	}
	return nil, invalid(first.Path, "", "Invalid request: "+text)
}

func (r *request) read(o *object) {
	if raw, ok := o.required("model", "name the model"); ok {
		name, ok := decodeRaw[string](o.checker, raw, "model", "give the model's name as a string")
		if r.model = name; ok && name == "" {
			o.fault("model", "is empty", "name the model")
		}
	}
	if raw, ok := o.required("messages", "give the conversation as an array"); ok {
		r.messages = o.messages(raw)
	}
	r.user, _ = decode[string](o, "user", "give a string")
	r.stream, _ = decode[bool](o, "stream", "give true or false")
	if raw, ok := o.take("stream_options"); ok {
		if options, ok := o.object(raw, "stream_options"); ok {
			r.includeUsage, _ = decode[bool](options, "include_usage", "give true or false")
			decode[bool](options, "include_obfuscation", "give true or false")
			options.done("stream_options has include_usage")
		}
		if !r.stream {
			o.fault("stream_options", "is set without streaming", "leave it out or set \"stream\": true")
		}
	}
	r.tools = o.toolset()
	o.sampling(r.messages)
	o.done("see OpenAI's reference of chat completions for the parameters")
}

func compact(raw json.RawMessage) []byte {
	var text bytes.Buffer
	if err := json.Compact(&text, raw); err != nil {
		return raw
	}
	return text.Bytes()
}
