package modelserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// toolset checks tools, tool_choice and parallel_tool_calls, and gives the tools' text for counting tokens.
func (o *object) toolset() json.RawMessage {
	raw, offered := o.take("tools")
	var names []string
	if offered {
		list, ok := decodeRaw[[]json.RawMessage](o.checker, raw, "tools", "give an array of tools")
		if ok && (len(list) == 0 || len(list) > 128) {
			o.fault("tools", fmt.Sprintf("has %d tools", len(list)), "give 1 to 128, or leave it out")
		}
		for i, raw := range list {
			if tool, ok := o.object(raw, index("tools", i)); ok {
				names = append(names, tool.tool())
			}
		}
	}
	if choice, ok := o.take("tool_choice"); ok {
		o.toolChoice(choice, offered, names)
	}
	if _, ok := decode[bool](o, "parallel_tool_calls", "give true or false"); ok && !offered {
		o.fault("parallel_tool_calls", "is set without tools", "leave it out or offer tools")
	}
	return raw
}

func (o *object) tool() (name string) {
	o.typed("function")
	raw, ok := o.required("function", "give an object with name, description and parameters")
	if !ok {
		return ""
	}
	function, ok := o.object(raw, o.at("function"))
	if !ok {
		return ""
	}
	name = function.functionName()
	decode[string](function, "description", "give a string")
	decode[bool](function, "strict", "give true or false")
	if raw, ok := function.take("parameters"); ok {
		if schema, ok := o.object(raw, function.at("parameters")); ok && len(schema.fields) > 0 {
			if kind, _ := decode[string](schema, "type", "give \"object\""); kind != "object" {
				o.fault(schema.at("type"), "is "+quote(kind), "give a JSON Schema of type \"object\"")
			}
		}
	}
	function.done("a function has name, description, parameters and strict")
	o.done("a tool has type and function")
	return name
}

func (o *object) toolChoice(raw json.RawMessage, offered bool, names []string) {
	const want = "give none, auto, required or {\"type\":\"function\",\"function\":{\"name\":…}}"
	if !offered {
		o.fault("tool_choice", "is set without tools", "leave it out or offer tools")
	}
	if kind(raw) == "a string" {
		word, _ := decodeRaw[string](o.checker, raw, "tool_choice", want)
		if !slices.Contains([]string{"none", "auto", "required"}, word) {
			o.fault("tool_choice", "is "+quote(word), want)
		}
		return
	}
	choice, ok := o.object(raw, "tool_choice")
	if !ok {
		return
	}
	choice.typed("function")
	if raw, ok := choice.required("function", want); ok {
		if function, ok := o.object(raw, "tool_choice.function"); ok {
			if name := function.functionName(); offered && !slices.Contains(names, name) {
				o.fault("tool_choice.function.name", "is "+quote(name)+", which isn't among the tools", "name one that is offered")
			}
		}
	}
}

// sampling checks the parameters that steer a model and do nothing to a recording.
func (o *object) sampling(messages []message) {
	o.between("temperature", 0, 2)
	o.between("top_p", 0, 1)
	o.between("presence_penalty", -2, 2)
	o.between("frequency_penalty", -2, 2)
	if n := o.whole("n", 1, 128); n > 1 {
		o.fault("n", fmt.Sprintf("is %d", n), "a recording has one answer: give 1 or leave it out")
	}
	limit, newer := o.whole("max_tokens", 1, 1<<31), o.whole("max_completion_tokens", 1, 1<<31)
	if limit != 0 && newer != 0 {
		o.fault("max_tokens", "is set together with max_completion_tokens", "set one of them")
	}
	decode[int64](o, "seed", "give a whole number")
	decode[bool](o, "store", "give true or false")
	logprobs, _ := decode[bool](o, "logprobs", "give true or false")
	if top := o.whole("top_logprobs", 0, 20); top > 0 && !logprobs {
		o.fault("top_logprobs", "is set without logprobs", "leave it out")
	}
	decode[map[string]float64](o, "logit_bias", "give an object of numbers")
	decode[map[string]string](o, "metadata", "give an object of strings")
	for _, name := range []string{"service_tier", "reasoning_effort", "verbosity", "safety_identifier", "prompt_cache_key"} {
		decode[string](o, name, "give a string")
	}
	o.stop()
	o.responseFormat(messages)
}

func (o *object) between(name string, low, high float64) {
	want := fmt.Sprintf("give a number from %g to %g", low, high)
	if value, ok := decode[float64](o, name, want); ok && (value < low || value > high) {
		o.fault(name, fmt.Sprintf("is %g", value), want)
	}
}

func (o *object) stop() {
	raw, ok := o.take("stop")
	if !ok || kind(raw) == "a string" {
		return
	}
	const want = "give a string or an array of 1 to 4 strings"
	if list, ok := decodeRaw[[]string](o.checker, raw, "stop", want); ok && (len(list) == 0 || len(list) > 4) {
		o.fault("stop", fmt.Sprintf("has %d strings", len(list)), want)
	}
}

func (o *object) responseFormat(messages []message) {
	raw, ok := o.take("response_format")
	if !ok {
		return
	}
	format, ok := o.object(raw, "response_format")
	if !ok {
		return
	}
	switch name, _ := decode[string](format, "type", "give a string"); name {
	case "text":
	case "json_object":
		// OpenAI refuses this too: without the word, a model in JSON mode may emit white space until its limit.
		if !slices.ContainsFunc(messages, func(m message) bool { return strings.Contains(strings.ToLower(m.text), "json") }) {
			o.fault("messages", "don't contain the word json", "say it in a message to use response_format json_object")
		}
	case "json_schema":
		if raw, ok := format.required("json_schema", "give an object with name and schema"); ok {
			if schema, ok := o.object(raw, format.at("json_schema")); ok {
				schema.functionName()
				if raw, ok := schema.take("schema"); ok {
					o.object(raw, schema.at("schema"))
				}
			}
		}
	default:
		o.fault("response_format.type", "is "+quote(name), "give text, json_object or json_schema")
	}
}
