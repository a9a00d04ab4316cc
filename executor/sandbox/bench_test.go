package sandbox

import (
	"context"
	"os/exec"
	"slices"
	"testing"
	"time"

	"callgate.dev/schemas"
)

// BenchmarkCold measures cold starts interleaved, so that what disturbs the
// machine disturbs all alike, and reports medians:
//
//	go test -run - -bench Cold -benchtime 200x ./sandbox/
//
// The paced variant starts one every 30 ms instead of back to back. That is
// where a slow join of a cgroup shows: back to back its cost is hidden.
func BenchmarkCold(b *testing.B) {
	s, err := New(Config{Node: noInterpreter})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	measure(b, coldCases(s))
}

// BenchmarkWarm measures a start that was prepared beside a cold one and a bare
// interpreter.
func BenchmarkWarm(b *testing.B) {
	s, err := New(Config{Warm: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	var cases []coldCase
	for lang, empty := range map[schemas.Language]string{schemas.Python: "pass", schemas.JavaScript: ";"} {
		in := s.interpreters[lang]
		run := func(start schemas.Start) func() error {
			return func() error {
				r, err := s.Run(context.Background(), Spec{Language: lang, Code: []byte(empty), Start: start})
				if err == nil && !r.OK() {
					b.Fatalf("%+v", r.RunReport)
				}
				return err
			}
		}
		cases = append(cases,
			coldCase{string(lang) + "_bare", s.bare(lang, in.Path, map[schemas.Language]string{schemas.Python: "-c", schemas.JavaScript: "-e"}[lang], empty)},
			coldCase{string(lang) + "_cold", run(schemas.StartCold)},
			coldCase{string(lang) + "_warm", run("")})
		if lang == schemas.Python {
			cases = append(cases, coldCase{string(lang) + "_forked", run(schemas.StartForked)})
		}
	}
	measure(b, cases)
}

func measure(b *testing.B, cases []coldCase) {
	for name, pace := range map[string]time.Duration{"back_to_back": 0, "paced": 30 * time.Millisecond} {
		b.Run(name, func(b *testing.B) {
			took := make([][]float64, len(cases))
			for b.Loop() {
				for i, c := range cases {
					if pace > 0 {
						<-time.After(pace)
					}
					began := time.Now()
					if err := c.run(); err != nil {
						b.Fatalf("%s: %v", c.name, err)
					}
					took[i] = append(took[i], float64(time.Since(began).Microseconds())/1000)
				}
			}
			b.ReportMetric(0, "ns/op")
			for i, c := range cases {
				slices.Sort(took[i])
				b.ReportMetric(took[i][len(took[i])/2], c.name+"-p50-ms")
			}
		})
	}
}

type coldCase struct {
	name string
	run  func() error
}

func coldCases(s *Sandbox) []coldCase {
	python := s.interpreters[schemas.Python].Path
	command := func(name string, args ...string) func() error { return s.bare(schemas.Python, name, args...) }
	cases := []coldCase{
		{"python_bare", command(python, "-c", "pass")},
		{"python_sandbox", func() error {
			_, err := s.Run(context.Background(), Spec{Language: schemas.Python, Args: []string{"-c", "pass"}})
			return err
		}},
		{"true_bare", command("/usr/bin/true")},
		{"true_sandbox", s.runTrue},
	}
	if path, err := exec.LookPath("bwrap"); err == nil {
		bwrap := []string{"--unshare-all", "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"}
		cases = append(cases,
			coldCase{"python_bubblewrap", command(path, append(slices.Clone(bwrap), python, "-c", "pass")...)},
			coldCase{"true_bubblewrap", command(path, append(slices.Clone(bwrap), "/usr/bin/true")...)})
	}
	return cases
}

// bare runs a command outside of any sandbox, with the environment of one: what
// this machine's says, of certificates to load, say, is not the interpreter's.
func (s *Sandbox) bare(lang schemas.Language, name string, args ...string) func() error {
	return func() error {
		cmd := exec.CommandContext(context.Background(), name, args...)
		cmd.Env = s.environment(Spec{Language: lang})
		return cmd.Run()
	}
}

// runTrue runs the smallest program, so that what is measured is the sandbox.
func (s *Sandbox) runTrue() error {
	in := *s.interpreters[schemas.Python]
	in.Path = "/usr/bin/true"
	t := *s
	t.interpreters = map[schemas.Language]*Interpreter{schemas.Python: &in}
	_, err := t.Run(context.Background(), Spec{Language: schemas.Python, Args: []string{"x"}})
	return err
}
