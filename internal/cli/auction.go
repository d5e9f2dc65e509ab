package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coalesce/autotune/tuned"
	"coalesce/internal/cli/auctions"
	"coalesce/internal/cli/effect"
	"coalesce/internal/cli/run"
	"coalesce/internal/cli/whole"
	"coalesce/internal/ui"
	"coalesce/runtime/device"
	"coalesce/solvers/auction"
	"coalesce/solvers/csg"
	"coalesce/solvers/qubo"
	"coalesce/solvers/solve"
)

// auctionFlags are the flags of solve auction.
type auctionFlags struct {
	run.SolveFlags
	options auction.Options
}

func solveAuctionCommand(a *run.App) *cobra.Command {
	s := auctionFlags{SolveFlags: run.SolveFlags{Families: slices.Concat(auction.Subjects(), csg.Subjects(), qubo.Subjects())}}
	cmd := &cobra.Command{
		Use:   "auction FILE...",
		Short: "Find the bids of a combinatorial auction that pay the most together",
		Long: fmt.Sprintf(`Determine the winners of a combinatorial auction: the bids to accept so that no good
is sold twice and the prices add up to the most. Goods may stay unsold (free disposal)
unless FILE rules it out.

FILE is in the text format of CATS, CSV or JSON, plain or compressed with gzip, xz or
zstd; - is standard input. CSV and JSON name goods and bidders. A bidder's bids are
alternatives (XOR), or not (OR), or some of them (OR of XOR). Bidders may have limits,
and the seller reserve prices.

Goods that the same bids ask for count as one. Up to %d of those that at least two bids
ask for are solved as a coalition structure; more by branch and cut on the host, with a
GPU that searches for better bids and bounds nodes. With few goods and many
alternatives a GPU uses tables of all sets of goods, if these take half a second at
most. --time-limit and ctrl-C end branch and cut with the best bids found and a bound on
all others. With several files the command solves each, and --json prints a line for
each.

--payments computes the payments of the winners: first, the bid prices; vcg, the loss
of the others by a winner's presence (Vickrey, Clarke and Groves); core, the least
revenue that no coalition of bidders would beat, nearest to vcg. Bids of one name have
one bidder, and so do bids that share a dummy; every other bid has its own.`, auction.MaxItems),
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return run.Usagef("expected a FILE")
			}
			return solveAuction(cmd.Context(), a, &s, args)
		},
	}
	cmd.Flags().SortFlags = false
	options := s.options.Fields()
	run.AddOptions(cmd.Flags(), options)
	run.AddFormerName(cmd.Flags(), "method", options.Named("algorithm"))
	s.Register(cmd.Flags())
	return cmd
}

func solveAuction(ctx context.Context, a *run.App, s *auctionFlags, paths []string) error {
	if err := s.Check(a); err != nil {
		return err
	}
	if err := s.CheckEffects(s.effects()); err != nil {
		return err
	}
	return a.OpenToSolve(ctx, &s.SolveFlags, func(db *tuned.Database, devices []device.Device) error {
		s.options.Tuning, s.options.Devices = db, devices
		each := func() error {
			return solve.With(auction.Open, s.options, func(session *auction.Session) error {
				return a.Each(ctx, s.JSON, paths, func(path string) error { return solveOneAuction(ctx, a, s, session, path) })
			})
		}
		if a.Team != nil && len(paths) == 1 && a.Folder == "" && s.options.Payments != "" {
			return a.Alone("payments are computed by one process", each)
		}
		return each()
	})
}

// solveOneAuction reads, solves and prints.
func solveOneAuction(ctx context.Context, a *run.App, s *auctionFlags, session *auction.Session, path string) error {
	p := a.Progress()
	defer p.Close()
	start := time.Now()
	p.Set("reading %s", run.NameOf(path))
	auc, err := run.Await(ctx, func() (*auction.Auction, error) { return readAuction(a, path) })
	if err != nil {
		return err
	}
	read := time.Since(start).Seconds()
	if a.Single() {
		if session.Ranks, err = a.Together(session.Devices, true, fmt.Appendf(nil, "%v", *auc)); err != nil {
			return err
		}
	}
	facts := session.Devices[0].Facts()
	session.Log = func(line string) { p.Set("solving %s: %s", run.NameOf(path), line) }
	session.Progress = auctions.Standing(p.Set, run.NameOf(path))
	r, err := run.BestOn(ctx, a, session.Devices, func() (*auction.Result, error) { return session.Solve(ctx, auc) })
	if r != nil {
		r.Seconds.Read = read
	}
	if err != nil && r != nil && s.JSON { // no bids sell every good, or none that were found do
		p.Close()
		return errors.Join(err, run.PrintJSON(a.Out, r))
	}
	if err != nil {
		return run.SolverError(err, auction.ErrCheck)
	}
	r.Seconds.Read = read
	verified, err := s.CompareWithReference(a, p, r.Stopped, err, func() (string, error) { return verifyAuction(ctx, auc, r) })
	if run.Refuted(err) {
		return err
	}
	p.Close()
	err = a.AnswerError(ctx, err)
	if s.JSON {
		return errors.Join(err, run.PrintJSON(a.Out, r))
	}
	return errors.Join(err, printAuction(a, r, facts, verified))
}

// verifyAuction solves with the reference, which shares no code with the kernels, and compares the
// exact revenues.
func verifyAuction(ctx context.Context, auc *auction.Auction, r *auction.Result) (string, error) {
	start := time.Now()
	ref, err := run.Await(ctx, func() (*auction.Result, error) { return auction.Reference(auc) })
	if err != nil {
		return "", run.Unverified(err)
	}
	r.Seconds.Verify = time.Since(start).Seconds()
	if r.Value != ref.Value {
		return "", run.AsCheck(fmt.Errorf("the accepted bids pay %s, the reference finds %s", r.Value, ref.Value))
	}
	return fmt.Sprintf("the sequential reference finds %s too", ref.Value), nil
}

// printAuction writes an answer for people.
func printAuction(a *run.App, r *auction.Result, facts device.Facts, verified string) error {
	if err := auctions.Print(a.Out, r); err != nil {
		return err
	}
	told := run.Answer{
		Report:   &r.Report,
		Instance: auctions.Instance(r),
		Checked:  auctions.Checked(r),
		Verified: verified, Splittings: r.Splittings, Name: facts.Name,
	}
	if r.Algorithm == auction.Branch {
		told.Name = ui.Count(runtime.GOMAXPROCS(0), "core")
	}
	return told.Write(a.Out)
}

func generateAuctionCommand(a *run.App) *cobra.Command {
	var d auctions.Drawing
	var to, output string
	cmd := &cobra.Command{
		Use:   "auction --distribution NAME --goods N --bids M --output FILE [--seed S] [--to FORMAT]",
		Short: "Write a combinatorial auction of a distribution of CATS",
		Long: `Draw an auction with the distributions of CATS (Leyton-Brown, Pearson and Shoham
2000) and that program's default parameters, and write it in its text format, or as
CSV or JSON. The same seed draws the same auction. The distributions are

` + auctions.About(),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output == "" {
				return run.Usagef("expected --output FILE")
			}
			if err := d.Check(); err != nil {
				return run.AsUsage(err)
			}
			if err := d.Fits(a.Free()); err != nil {
				return err
			}
			p := a.Progress()
			defer p.Close()
			p.Set("drawing %d bids", d.Bids)
			drawn, err := run.Await(cmd.Context(), d.Draw)
			if err != nil {
				return err
			}
			return writeAuction(cmd.Context(), a, p, drawn, to, output)
		},
	}
	cmd.Flags().SortFlags = false
	d.Register(cmd.Flags())
	auctionOutput(cmd, &to, &output)
	return cmd
}

func convertAuctionCommand(a *run.App) *cobra.Command {
	var to, output string
	cmd := &cobra.Command{
		Use:   "auction FILE --output FILE [--to FORMAT]",
		Short: "Write a combinatorial auction in another format",
		Long: `Read an auction in the text format of CATS, CSV or JSON and write it in another of
these. Bids keep their numbers, and prices every digit. CATS has no names, which convert
drops, and no limits, reserve prices or goods that have to be sold, which it refuses.
Bidders known by a dummy alone get its number for a name.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || output == "" {
				return run.Usagef("expected a FILE and --output FILE")
			}
			if err := whole.Check(output, args, run.Usagef); err != nil {
				return err
			}
			p := a.Progress()
			defer p.Close()
			p.Set("reading %s", run.NameOf(args[0]))
			auc, err := run.Await(cmd.Context(), func() (*auction.Auction, error) { return readAuction(a, args[0]) })
			if err != nil {
				return err
			}
			for _, note := range auc.Notes {
				p.PrintLine("%s: %s", run.NameOf(args[0]), note)
			}
			return writeAuction(cmd.Context(), a, p, auc, to, output)
		},
	}
	cmd.Flags().SortFlags = false
	auctionOutput(cmd, &to, &output)
	return cmd
}

func auctionOutput(cmd *cobra.Command, to, output *string) {
	cmd.Flags().StringVarP(output, "output", "o", "", "the file to write")
	cmd.Flags().StringVar(to, "to", "", "its format: "+strings.Join(auction.Formats(), ", ")+" (default: told by its name, else cats)")
}

// writeAuction writes a file, and prints the parts of the auction that its format cannot hold.
func writeAuction(ctx context.Context, a *run.App, p *ui.Progress, auc *auction.Auction, to, path string) error {
	format, err := auctions.Format(to, path)
	if err != nil {
		return run.AsUsage(err)
	}
	if err := run.CheckPlain(path); err != nil {
		return err
	}
	var notes []string
	err = whole.Write(ctx, path, func(w io.Writer) (err error) {
		notes, err = auctions.Write(w, auc, format)
		return err
	})
	for _, note := range notes {
		p.PrintLine("%s: %s", path, note)
	}
	return err
}

// effects is the table of `solve auction`.
func (s *auctionFlags) effects() []effect.Rule {
	algorithm := "--algorithm " + s.options.Algorithm
	return []effect.Rule{
		{Flags: "proof", For: "--json, which holds it", Found: effect.Unless(s.JSON, "no --json")},
		{Flags: "proof", For: "--algorithm " + auction.Branch, Found: effect.Unless(s.options.Algorithm == "" || s.options.Algorithm == auction.Branch, algorithm)},
		run.ThreadsRule(s.Device),
	}
}

// readAuction reads FILE, which may be standard input.
func readAuction(a *run.App, path string) (*auction.Auction, error) {
	if path == run.Dash {
		return auction.ReadFromWithin(a.In, run.StandardInput, a.Free().Bytes)
	}
	return auction.ReadWithin(path, a.Free().Bytes)
}
