package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"callgate.dev/schemas"
)

// Every class that a program can provoke is told by exec, whether its
// interpreter started for it or waited.
func TestExecTellsEachClass(t *testing.T) {
	t.Parallel()
	flags := strings.NewReplacer("run_", "", "_", "-")
	for _, mode := range [][]string{nil, {"--warm"}} {
		t.Run(strings.Join(append([]string{"cold"}, mode...), ""), func(t *testing.T) {
			t.Parallel()
			seen := map[schemas.Class]bool{}
			for _, c := range badPrograms {
				args := slices.Concat([]string{"exec", "--json", "--lang", c.lang}, mode)
				for k, v := range c.limits {
					args = append(args, "--"+flags.Replace(k), fmt.Sprint(v))
				}
				home := t.TempDir()
				file := filepath.Join(home, c.name)
				if err := os.WriteFile(file, []byte(c.code), 0o600); err != nil {
					t.Fatal(err)
				}
				want := c.class
				if want == schemas.ClassSyntaxError { // told by the analyser, which exec does not ask
					want = schemas.ClassRuntimeError
				}
				var r schemas.RunReport
				got := callgate(t, home, append(args, file)...)
				got.decode(t, &r)
				if got.status != 1 || r.Class == nil || *r.Class != want {
					t.Errorf("%s: status %d, %s: %s", c.name, got.status, r.Status, r.Detail)
					continue
				}
				seen[*r.Class] = true
				if start := r.Isolation.Start; len(mode) == 0 && start != schemas.StartCold || len(mode) > 0 && c.limits["pids"] == nil && c.limits["disk_bytes"] == nil && start == schemas.StartCold {
					t.Errorf("%s started %s", c.name, start)
				}
			}
			for _, class := range []schemas.Class{
				schemas.ClassRuntimeError, schemas.ClassWallTimeout, schemas.ClassCPUTimeout, schemas.ClassOutOfMemory, schemas.ClassOutputLimit,
				schemas.ClassDiskLimit, schemas.ClassProcessLimit, schemas.ClassSyscallDenied,
			} {
				if !seen[class] {
					t.Errorf("no program provokes %s", class)
				}
			}
		})
	}
}
