package executor_test

import (
	"context"
	"fmt"
	"testing"

	"callgate.dev/executor/sandbox"
	"callgate.dev/schemas"
)

// What an attempt costs beside its program: the sandbox alone runs the very
// bytes that the attempt runs.
func BenchmarkAttempt(b *testing.B) {
	const source, tests = "def add(a, b): return a + b", "assert add(2, 3) == 5"
	b.Run("sandbox alone", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := shared.Run(context.Background(), sandbox.Spec{Language: schemas.Python, Code: []byte(source + "\n\n" + tests)}); err != nil {
					b.Error(err)
				}
			}
		})
	})
	for name, unique := range map[string]bool{"facts known": false, "facts new": true} {
		b.Run(name, func(b *testing.B) {
			e := newExecutor(b, &store{})
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					text := source
					if unique {
						text = fmt.Sprintf("%s # %p %d", source, pb, i)
					}
					out, err := e.Handle(context.Background(), event(schemas.Python, text, &schemas.Contract{Tests: tests}))
					if err != nil || !out.Tests.OK() {
						b.Error(err)
					}
				}
			})
		})
	}
}
