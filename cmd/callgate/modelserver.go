package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"callgate.dev/planner/modelserver"
	"github.com/spf13/cobra"
)

func (a *app) modelserverCommand() *cobra.Command {
	cfg := modelserver.Config{Now: time.Now}
	cmd := &cobra.Command{
		Use:   "modelserver --answers FILE",
		Short: "An OpenAI-compatible server that plays back, or records, answers",
		Long: "Plays recorded answers back over the OpenAI protocol, or with --record passes requests on to a real endpoint\n" +
			"and adds its answers to FILE. The endpoint's key is read from OPENAI_API_KEY, the key that clients must send from\n" +
			"CALLGATE_MODELSERVER_KEY; neither is written anywhere.",
		GroupID: "local",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cfg.Answers == "" {
				return usageError("--answers: name a file of recorded answers")
			}
			cfg.APIKey = os.Getenv("CALLGATE_MODELSERVER_KEY")
			if cfg.Record != "" {
				cfg.RecordKey = os.Getenv("OPENAI_API_KEY")
			}
			cfg.Logger = a.log
			s, err := modelserver.New(cfg)
			if err != nil {
				var taken *net.OpError
				if errors.As(err, &taken) {
					return err
				}
				return &exitError{exitUsage, err}
			}
			fmt.Fprintf(a.out, "ready %s\n", s.URL())
			return s.Serve(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVar(&cfg.Answers, "answers", "", `file of recorded answers, a line each: {"match": "…", "answers": ["…"]}`)
	checkedFlag(f, &cfg.Listen, "listen", "127.0.0.1:8080", isAddress, "address to listen on; port 0 takes a free one")
	f.StringVar(&cfg.Record, "record", "", "base URL of a real endpoint to learn from, ending in /v1")
	f.StringSliceVar(&cfg.Models, "models", nil, "models that exist (default: any name)")
	return cmd
}
