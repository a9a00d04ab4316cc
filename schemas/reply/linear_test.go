package reply

import (
	"encoding/json"
	"strings"
	"testing"

	"callgate.dev/schemas"
)

// A reader that looks for each mark's end, or goes back at each, would take
// hours over these.
func TestManyMarksEnd(t *testing.T) {
	offer := Offered([]schemas.ToolContract{{Name: "f"}})
	units := []string{
		"[", "{", "`", "<", "\n", "{}", "```json\n", "```json\n{}\n```\n", "</think>", "f(a=1)\n", "[f(a=1),", "#", "/*", "<parameter=a>", "<arg_key>", "data: {}\n\n", "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0}]}}]}\n\n",
		"<tool_call>{}", "<tool_call></tool_call>", "<function=f><parameter=a>1</parameter></function>", "[TOOL_CALLS]f", "[TOOL_CALLS]f{}", "✿FUNCTION✿f✿ARGS✿{}", "<|channel|>analysis<|message|>", "<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>",
	}
	for _, m := range marks {
		units = append(units, m.open, m.open+"{}")
	}
	for _, unit := range units {
		for _, prefix := range []string{"", "x"} {
			a := Read([]byte(prefix+strings.Repeat(unit, 1<<20/len(unit))), offer)
			if len(a.Calls) > maxCalls || len(a.Faults) > maxFaults {
				t.Errorf("%q: %d calls, %d faults", unit, len(a.Calls), len(a.Faults))
			}
		}
	}
}

// Ten megabytes of anything end.
func TestTenMegabytesEnd(t *testing.T) {
	for _, unit := range []string{"[", "{", "<tool_call>", "[TOOL_CALLS]", `[{"`} {
		text := strings.Repeat(unit, 10<<20/len(unit))
		Read([]byte(text), Offer{})
		content, err := json.Marshal(map[string]string{"role": "assistant", "content": "x" + text})
		if err != nil {
			t.Fatal(err)
		}
		if a := Read(content, Offer{}); len(a.Calls) > 0 {
			t.Errorf("%d calls of %q", len(a.Calls), unit)
		}
	}
}
