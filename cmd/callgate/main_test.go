package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets scripts run callgate as a command of its own: the test binary
// under that name.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"callgate": main})
}

// TestScripts runs the command line as its users do.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("ROOT", root)
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
			env.Setenv("HOME", env.WorkDir)
			for _, name := range []string{"OPENAI_API_KEY", "OPENAI_BASE_URL"} {
				env.Setenv(name, "")
			}
			env.Setenv("PATH", os.Getenv("PATH")+string(os.PathListSeparator)+env.Getenv("PATH"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": status, "isup": isup, "natsserver": natsserver, "plainserver": plainserver, "until": until, "waitready": waitready, "programs": programs, "http": request,
			"jsonfield": jsonfield, "jsonmatch": jsonmatch, "jsonkeys": jsonkeys, "jsonlen": jsonlen, "jsonenv": jsonenv,
		},
	})
}
