package prompt_test

import (
	"encoding/json"
	"strings"
	"testing"

	"callgate.dev/planner/prompt"
	"callgate.dev/schemas"
)

func TestCallableTellsHowAProgramCalls(t *testing.T) {
	contracts := []schemas.ToolContract{{Name: "look-up", Version: "1.0.0", Description: "Looks up a price.", Parameters: json.RawMessage(`{"type":"object","required":["item"],"properties":{"item":{"type":"string"}}}`)}}
	for lang, want := range map[schemas.Language]string{
		schemas.Python:     "`from callgate_tools import look_up`",
		schemas.JavaScript: "`const { look_up } = require(\"./callgate_tools.js\")`",
	} {
		text, err := prompt.Callable(lang, contracts)
		if err != nil || !strings.Contains(text, want) || !strings.Contains(text, "look_up(") || !strings.Contains(text, "at most 64 calls") || !strings.HasSuffix(text, ": Looks up a price.") {
			t.Errorf("%s: %v\n%s", lang, err, text)
		}
	}
	if text, err := prompt.Callable(schemas.Python, nil); text != "" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}
