package golden

import (
	"os"
	"strings"
	"testing"

	"callgate.dev/schemas"
)

// TestGoldensAreCanonical: every state and record has one event, which is
// byte-equal after decoding and encoding, and none is for anything else.
func TestGoldensAreCanonical(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") {
			found++
		}
	}
	if found != len(schemas.States()) {
		t.Errorf("%d files for %d states", found, len(schemas.States()))
	}
	for _, s := range schemas.States() {
		t.Run(string(s), func(t *testing.T) {
			e := Envelope(s)
			if e.State != s {
				t.Errorf("it is in state %s", e.State)
			}
			again, err := e.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if string(again) != string(Raw(s)) {
				t.Errorf("not canonical:\n%s\nwant\n%s", again, Raw(s))
			}
			if err := schemas.CheckDocument("envelope", Raw(s)); err != nil {
				t.Errorf("against the schema: %v", err)
			}
		})
	}
}
