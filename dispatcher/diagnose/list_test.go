package diagnose_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"callgate.dev/dispatcher/diagnose"
	"callgate.dev/schemas/repair"
)

var update = flag.Bool("update", false, "write RULES.md")

// What is documented is what the code has.
func TestTheListIsTheCode(t *testing.T) {
	var b strings.Builder
	table := func(rules []repair.Rule) {
		b.WriteString("\n| rule | |\n| --- | --- |\n")
		for _, r := range rules {
			fmt.Fprintf(&b, "| `%s` | %s |\n", r.Name, strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(r.Says))
		}
	}
	b.WriteString("# What `callgate diagnose` says\n\n## Repairs\n\nWhat was changed, so that a response and its calls could be read.\n")
	table(diagnose.Repairs())
	b.WriteString("\n## Causes\n\nWhy there is no answer, or why a call is not run. Nothing here is repaired, and the model or the server is asked again.\n")
	table(diagnose.Causes())
	if *update {
		if err := os.WriteFile("RULES.md", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile("RULES.md"); err != nil || string(got) != b.String() {
		t.Errorf("RULES.md is not what the code says (%v): go test ./diagnose -update", err)
	}
}
