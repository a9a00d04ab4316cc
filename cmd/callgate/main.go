// Command callgate is the one binary: everything in one process, each worker
// as a role, and the operator's commands.
//
// It is the only place where flags, the environment, the clock and the
// implementations of the workers' ports meet.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}
