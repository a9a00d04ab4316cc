package executor_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"callgate.dev/schemas"
)

var update = flag.Bool("update", false, "write the golden events that the executor gives now")

// Each testdata/golden/NAME.in.json is an event, NAME.out.json the event that
// follows it. What a clock or the machine says is left out of both.
func TestGoldenEvents(t *testing.T) {
	ins, err := filepath.Glob("testdata/golden/*.in.json")
	if err != nil || len(ins) == 0 {
		t.Fatalf("%d golden events, %v", len(ins), err)
	}
	for _, path := range ins {
		name := strings.TrimSuffix(filepath.Base(path), ".in.json")
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			in, err := schemas.DecodeEnvelope(raw)
			if err != nil {
				t.Fatal(err)
			}
			if b, err := in.Encode(); err != nil || !bytes.Equal(b, compact(t, raw)) {
				t.Fatalf("decoding and encoding changes the event to\n%s\n%v", b, err)
			}
			in.Sequence = 7
			out := handle(t, newExecutor(t, &store{}), in)
			still(&out)
			b, err := out.Encode()
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := json.Indent(&got, b, "", "  "); err != nil {
				t.Fatal(err)
			}
			got.WriteByte('\n')
			golden := strings.Replace(path, ".in.", ".out.", 1)
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("%s; is\n%s", golden, got.Bytes())
			}
		})
	}
}

func compact(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := json.Compact(&out, b); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// still takes out what differs from run to run and from machine to machine.
func still(e *schemas.Envelope) {
	for _, r := range []*schemas.RunReport{e.Run, e.Tests} {
		if r != nil {
			r.WallMS, r.CPUMS, r.PeakMemoryBytes, r.Isolation = 0, 0, 0, schemas.Isolation{}
		}
	}
	if e.Round != nil {
		for i := range e.Round.Results {
			e.Round.Results[i].DurationMS = 0
		}
	}
}
