// Package complete gives shells the words that a flag takes, if these are few.
package complete

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"coalesce/autotune/search"
	"coalesce/internal/cli/run"
	"coalesce/solvers/assignment"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/auction"
	"coalesce/solvers/csg"
	"coalesce/solvers/csg/anytime"
	"coalesce/solvers/qubo"
)

// words are those of flags by the name of their command, then of the flag; none where the flag
// takes words that are many, and no file. Those of "" are of any command.
func words() map[string]map[string][]string {
	return map[string]map[string][]string{
		"": {
			"coalition":  {},
			"device":     {"auto", "host", "emulated", "cuda"},
			"family":     {},
			"fix":        {},
			"header":     {"yes", "no"},
			"index":      {"yes", "no"},
			"lambda":     {},
			"limit":      {},
			"missing":    {},
			"names":      {},
			"part":       {},
			"rules":      {},
			"sizes":      {},
			"strategy":   {search.Halving, search.Exhaustive},
			"target":     {},
			"time-limit": {},
			"type":       {"int32", "int64", "float32", "float64"},
			"values":     {"int16", "int32", "int64", "float32", "float64"},
			"variant":    {},
		},
		"csg": {
			"distribution": csg.Distributions(),
			"format":       anytime.Formats(),
			"type":         {"int16", "int32", "int64", "float32", "float64"},
			"weights":      anytime.Weights(),
		},
		"auction": {
			"distribution": auction.Distributions(),
			"payments":     auction.Rules(),
			"to":           auction.Formats(),
		},
		"assignment": {
			"format": assignment.Formats(),
			"kind":   assignment.Kinds(),
			"metric": problem.Metrics(),
		},
		"qubo": {
			"ascend":  qubo.Ascents(),
			"blend":   qubo.Blends(),
			"form":    {"qubo", "ising", "maxcut"},
			"format":  qubo.Formats(),
			"sense":   {"maximize", "minimize"},
			"to":      qubo.Formats(),
			"without": qubo.PartNames(""),
		},
	}
}

// RegisterFlags registers the words of the flags of a command and of those below it. No file's name is
// offered where a flag takes a number or a time.
func RegisterFlags(cmd *cobra.Command) { flags(cmd, words()) }

// ShellCommand makes the command that prints a shell's completions, and says which shells there are where it gets no
// name of one.
func ShellCommand(root *cobra.Command, mistake func(format string, args ...any) error) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() != "completion" {
			continue
		}
		cmd.Args = cobra.ArbitraryArgs
		cmd.RunE = func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return mistake("expected bash, zsh, fish or powershell")
			}
			return mistake("found %q, expected bash, zsh, fish or powershell", args[0])
		}
	}
}

func flags(cmd *cobra.Command, words map[string]map[string][]string) {
	for _, below := range cmd.Commands() {
		flags(below, words)
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		list := f.Annotations[run.Words]
		if list == nil {
			list = words[cmd.Name()][f.Name]
		}
		if list == nil {
			list = words[""][f.Name]
		}
		switch kind := f.Value.Type(); {
		case f.Name == "values" && kind == "string", kind == "bool": // solve csg's is a file
		case list != nil, kind != "string" && kind != "stringSlice":
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp))
		}
	})
}
