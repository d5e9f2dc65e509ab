package qubo

import (
	"cmp"
	"context"
	"io"

	"github.com/spf13/cobra"

	"coalesce/internal/cli/atomicfile"
	"coalesce/internal/cli/run"
	"coalesce/solvers/qubo"
	"coalesce/solvers/qubo/problem"
)

// ConvertCommand is `convert`, of programs; commands of other problems go below it.
func ConvertCommand(a *run.App) *cobra.Command {
	var reading qubo.ReadOptions
	var to, output string
	cmd := &cobra.Command{
		Use:   "convert FILE --output FILE [--to FORMAT]",
		Short: "Write a binary quadratic program in another format",
		Long: `Read a binary quadratic program, an Ising model or a maximum cut, and write it in
another format. If the formats' forms or senses differ, convert changes the
coefficients so that the best solutions stay the same. It reports the changes, and
what the format cannot hold. "coalesce convert auction" converts auctions. The
formats:

` + describeFormats(),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || output == "" {
				return run.Usagef("expected a FILE and --output FILE")
			}
			to = cmp.Or(to, qubo.FormatOf(output))
			switch {
			case to == "":
				return run.Usagef("--output is %s, whose name tells no format: --to names one", output)
			case qubo.DescribeFormat(to) == "":
				return run.Usagef("--to is %q, expected one of the formats", to)
			}
			if err := atomicfile.CheckOutput(output, args, run.Usagef); err != nil {
				return err
			}
			p := a.Progress()
			defer p.Close()
			p.Set("reading %s", run.NameOf(args[0]))
			inst, err := run.Await(cmd.Context(), func() (*problem.Instance, error) { return read(a, args[0], reading) })
			if err != nil {
				return err
			}
			p.Set("writing %s", output)
			p.PrintLine("%s: %s, read as %s", args[0], inst, inst.Format)
			for _, note := range inst.Notes {
				p.PrintLine("%s: %s", args[0], note)
			}
			return write(cmd.Context(), a, p.PrintLine, inst, output, to)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&output, "output", "o", "", "the file to write")
	f.StringVar(&to, "to", "", "its format (default: told by its name)")
	run.AddOptions(f, reading.Fields())
	return cmd
}

// write writes a file, and prints what the format changes in the program.
func write(ctx context.Context, a *run.App, say func(string, ...any), inst *problem.Instance, path, format string) error {
	var notes []string
	err := atomicfile.Write(ctx, path, func(w io.Writer) (err error) {
		notes, err = qubo.Write(w, inst, format)
		return err
	})
	if err != nil {
		return err
	}
	say("%s: written as %s", path, format)
	for _, note := range notes {
		say("%s: %s", path, note)
	}
	return nil
}
