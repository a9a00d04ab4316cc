package sandbox

import (
	"context"
	"errors"
	"testing"

	"callgate.dev/schemas"
)

func TestCheck(t *testing.T) {
	s := newSandbox(t, Config{})
	if err := s.Check(context.Background()); err != nil {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Check(ended); !errors.Is(err, context.Canceled) || schemas.ClassOf(err) == schemas.ClassSandboxUnavailable {
		t.Errorf("under an ended context: %v", err)
	}
}

// Node cannot start its threads under this limit, and Python needs none.
func TestCheckNamesWhatFails(t *testing.T) {
	s := newSandbox(t, Config{Limits: Limits{Pids: 1}})
	err := s.Check(context.Background())
	var failed *CheckError
	if !errors.As(err, &failed) || schemas.ClassOf(err) != schemas.ClassSandboxUnavailable {
		t.Fatalf("%v", err)
	}
	if len(failed.Failed) != 1 || failed.Failed[0].Name != string(schemas.JavaScript) || failed.Failed[0].Reason == "" {
		t.Errorf("%v, want javascript alone", err)
	}
}
