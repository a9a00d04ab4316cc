package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"callgate.dev/schemas"
	"github.com/spf13/cobra"
)

// inspection is `inspect --json`: facts without the list of calls.
type inspection struct {
	Parses    bool                `json:"parses"`
	Error     *schemas.ParseError `json:"error"`
	CodeHash  string              `json:"code_hash"`
	Functions []schemas.Function  `json:"functions"`
	Imports   []schemas.Import    `json:"imports"`
	Findings  []schemas.Finding   `json:"findings"`
}

func (a *app) inspectCommand() *cobra.Command {
	var (
		l            localFlags
		contractFile string
	)
	cmd := &cobra.Command{
		Use:   "inspect [--lang python|javascript] FILE|-",
		Short: "What a program is, by its own interpreter's parser, and what the rules say",
		Long: "Has the program parsed, in the sandbox, by the interpreter that would run it; it is not run. Exit status 1 when it\n" +
			"does not parse or a finding refuses it.",
		Args:    cobra.ExactArgs(1),
		GroupID: "local",
		RunE: func(cmd *cobra.Command, args []string) error {
			lang, err := l.language(args[0])
			if err != nil {
				return err
			}
			source, err := a.readInput(args[0])
			if err != nil {
				return err
			}
			var contract *schemas.Contract
			if contractFile != "" {
				b, err := a.readInput(contractFile)
				if err != nil {
					return err
				}
				contract = new(schemas.Contract)
				dec := json.NewDecoder(strings.NewReader(string(b)))
				dec.DisallowUnknownFields()
				if err := dec.Decode(contract); err != nil {
					return usageError("--contract %s: %w", contractFile, err)
				}
			}
			e, box, err := l.local(false)
			if err != nil {
				return err
			}
			defer box.Close()
			facts, err := e.Inspect(cmd.Context(), lang, source, contract)
			if err != nil {
				return err
			}
			if a.json {
				err = a.printJSON(inspection{facts.Parses, facts.Error, facts.CodeHash, facts.Functions, facts.Imports, facts.Findings})
			} else {
				a.tellFacts(&facts)
			}
			if _, refused := facts.Refused(); err == nil && (refused || !facts.Parses) {
				return failed()
			}
			return err
		},
	}
	l.flags(cmd)
	cmd.Flags().StringVar(&contractFile, "contract", "", "a job's contract as JSON, whose rules are applied")
	return a.withJSON(cmd)
}

func (a *app) tellFacts(f *schemas.Facts) {
	if !f.Parses {
		fmt.Fprintf(a.out, "does not parse: line %d, column %d: %s\n", f.Error.Line, f.Error.Column, printable(f.Error.Message))
		return
	}
	fmt.Fprintf(a.out, "code hash %s\n", f.CodeHash)
	for _, fn := range f.Functions {
		var params []string
		for _, p := range fn.Params {
			params = append(params, p.Name)
		}
		fmt.Fprintf(a.out, "line %d: function %s(%s)\n", fn.Line, fn.Name, strings.Join(params, ", "))
	}
	for _, i := range f.Imports {
		fmt.Fprintf(a.out, "line %d: import %s %s\n", i.Line, i.Module, strings.Join(i.Names, ", "))
	}
	if len(f.Findings) > 0 {
		var rows [][]string
		for _, x := range f.Findings {
			rows = append(rows, []string{strconv.Itoa(x.Line), strconv.Itoa(x.Column), string(x.Severity), x.Rule, oneLine(x.Message, 120)})
		}
		a.table([]string{"LINE", "COLUMN", "SEVERITY", "RULE", "MESSAGE"}, rows)
	}
}
