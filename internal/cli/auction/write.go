package auction

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"coalesce/internal/cli/atomicfile"
	"coalesce/internal/cli/run"
	"coalesce/internal/ui"
	"coalesce/solvers/auction"
	"coalesce/solvers/auction/problem"
)

// GenerateCommand is `generate auction`.
func GenerateCommand(a *run.App) *cobra.Command {
	d := drawing{seed: 1}
	var to, output string
	cmd := &cobra.Command{
		Use:   "auction --distribution NAME --goods N --bids M --output FILE [--seed S] [--to FORMAT]",
		Short: "Write a combinatorial auction of a distribution of CATS",
		Long: `Draw an auction with the distributions of CATS (Leyton-Brown, Pearson and Shoham
2000) and that program's default parameters, and write it in its text format, or as
CSV or JSON. The same seed draws the same auction. The distributions are

` + describeDistributions(),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output == "" {
				return run.Usagef("expected --output FILE")
			}
			if d.distribution == "" || d.goods == 0 {
				return run.Usagef("expected --distribution NAME --goods N")
			}
			if err := d.checkMemory(a.Free()); err != nil {
				return err
			}
			p := a.Progress()
			defer p.Close()
			p.Set("drawing %d bids", d.bids)
			drawn, err := run.Await(cmd.Context(), d.draw)
			if err != nil {
				return err
			}
			return write(cmd.Context(), a, p, drawn, to, output)
		},
	}
	cmd.Flags().SortFlags = false
	run.AddOptions(cmd.Flags(), d.Fields())
	addOutput(cmd, &to, &output)
	return cmd
}

// ConvertCommand is `convert auction`.
func ConvertCommand(a *run.App) *cobra.Command {
	var to, output string
	cmd := &cobra.Command{
		Use:   "auction FILE --output FILE [--to FORMAT]",
		Short: "Write a combinatorial auction in another format",
		Long: `Read an auction in the text format of CATS, CSV or JSON and write it in another of
these. Bids keep their numbers, and prices every digit. CATS has no names, which convert
drops, and no limits, reserve prices, several units of goods, or goods that have to
be sold or bought, which it refuses.
Bidders known by a dummy alone get its number for a name.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || output == "" {
				return run.Usagef("expected a FILE and --output FILE")
			}
			if err := atomicfile.CheckOutput(output, args, run.Usagef); err != nil {
				return err
			}
			p := a.Progress()
			defer p.Close()
			p.Set("reading %s", run.NameOf(args[0]))
			auc, err := run.Await(cmd.Context(), func() (*problem.Auction, error) { return readAuction(a, args[0]) })
			if err != nil {
				return err
			}
			for _, note := range auc.Notes {
				p.PrintLine("%s: %s", run.NameOf(args[0]), note)
			}
			return write(cmd.Context(), a, p, auc, to, output)
		},
	}
	cmd.Flags().SortFlags = false
	addOutput(cmd, &to, &output)
	return cmd
}

func addOutput(cmd *cobra.Command, to, output *string) {
	cmd.Flags().StringVarP(output, "output", "o", "", "the file to write")
	cmd.Flags().StringVar(to, "to", "", "its format: "+strings.Join(auction.Formats(), ", ")+" (default: told by its name, else cats)")
}

// write writes a file, and prints the parts of the auction that its format cannot hold.
func write(ctx context.Context, a *run.App, p *ui.Progress, auc *problem.Auction, to, path string) error {
	format, err := formatFor(to, path)
	if err != nil {
		return run.AsUsage(err)
	}
	if err := run.CheckPlain(path); err != nil {
		return err
	}
	var notes []string
	err = atomicfile.Write(ctx, path, func(w io.Writer) (err error) {
		notes, err = encodeAuction(w, auc, format)
		return err
	})
	for _, note := range notes {
		p.PrintLine("%s: %s", path, note)
	}
	return err
}
