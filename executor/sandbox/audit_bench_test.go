package sandbox

import (
	"context"
	"testing"

	"callgate.dev/schemas"
)

// BenchmarkAudit measures what the audit library costs: of a start, of opening
// files and of writing to them, with and without it in turn.
func BenchmarkAudit(b *testing.B) {
	s, err := New(Config{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	var cases []coldCase
	for _, c := range []struct {
		name string
		spec Spec
	}{
		{"python_start", python("pass")},
		{"node_start", Spec{Language: schemas.JavaScript, Code: []byte(";")}},
		{"python_1000_opens", python("for i in range(1000): open(f'/tmp/{i % 100}', 'w').close()")},
		{"python_100000_writes", python("import os\nf = os.open('out', os.O_WRONLY | os.O_CREAT)\nfor i in range(100000): os.pwrite(f, b'x', 0)")},
	} {
		for name, audit := range map[string]*Audit{"plain": nil, "audited": {MaxFileBytes: 1 << 20}} {
			spec := c.spec
			spec.Audit = audit
			cases = append(cases, coldCase{c.name + "_" + name, func() error {
				r, err := s.Run(context.Background(), spec)
				if err == nil && !r.OK() {
					b.Fatalf("%+v", r.RunReport)
				}
				return err
			}})
		}
	}
	measure(b, cases)
}
