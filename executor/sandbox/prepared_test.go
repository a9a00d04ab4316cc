package sandbox

import (
	"context"
	"testing"

	"callgate.dev/schemas"
)

func TestPreparedOnce(t *testing.T) {
	s := newSandbox(t, Config{})
	for _, spec := range []Spec{
		{Language: schemas.Python, Code: []byte("import sys\nprint(6 * 7, sys.argv, input(), __file__)"), Stdin: []byte("in\n")},
		{Language: schemas.JavaScript, Code: []byte("console.log(42, process.argv[1], require('fs').readFileSync(0, 'utf8'))"), Stdin: []byte("in\n")},
		{Language: schemas.JavaScript, Program: "main.mjs", Code: []byte("console.log(await Promise.resolve(42))")},
	} {
		spec.Start = schemas.StartCold
		cold, err := s.Run(context.Background(), spec)
		if err != nil {
			t.Fatal(err)
		}
		spec.Start = schemas.StartPrepared
		for range 3 {
			r, err := s.Run(context.Background(), spec)
			if err != nil {
				t.Fatal(err)
			}
			if r.Stdout != cold.Stdout || !r.OK() {
				t.Errorf("%+v", r.RunReport)
			}
			t.Logf("%q cold %v prepared %v %v", r.Stdout, cold.WallMS, r.WallMS, r.Changed)
		}
	}
}
