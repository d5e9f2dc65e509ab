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
	"coalesce/internal/cli/facets"
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
	solveFlags
	options auction.Options
}

func (a *app) solveAuctionCommand() *cobra.Command {
	s := auctionFlags{solveFlags: solveFlags{families: slices.Concat(auction.Subjects(), csg.Subjects(), qubo.Subjects())}}
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
				return usagef("expected a FILE")
			}
			return a.solveAuction(cmd.Context(), &s, args)
		},
	}
	cmd.Flags().SortFlags = false
	options := s.options.Fields()
	addOptions(cmd.Flags(), options)
	addFormerName(cmd.Flags(), "method", options.Named("algorithm"))
	s.registerChoice(cmd.Flags())
	return cmd
}

func (a *app) solveAuction(ctx context.Context, s *auctionFlags, paths []string) error {
	if err := s.check(a); err != nil {
		return err
	}
	if err := s.effective(s.effects()); err != nil {
		return err
	}
	return a.solving(ctx, &s.solveFlags, func(db *tuned.Database, devices []device.Device) error {
		s.options.Tuning, s.options.Devices = db, devices
		each := func() error {
			return solve.With(auction.Open, s.options, func(session *auction.Session) error {
				return a.each(ctx, s.json, paths, func(path string) error { return a.solveOneAuction(ctx, s, session, path) })
			})
		}
		if a.team != nil && len(paths) == 1 && a.folder == "" && s.options.Payments != "" {
			return a.alone("payments are computed by one process", each)
		}
		return each()
	})
}

// solveOneAuction reads, solves and prints.
func (a *app) solveOneAuction(ctx context.Context, s *auctionFlags, session *auction.Session, path string) error {
	p := a.progress()
	defer p.Close()
	start := time.Now()
	p.Set("reading %s", called(path))
	auc, err := await(ctx, func() (*auction.Auction, error) { return a.readAuction(path) })
	if err != nil {
		return err
	}
	read := time.Since(start).Seconds()
	if a.single() {
		if session.Ranks, err = a.together(session.Devices, true, fmt.Appendf(nil, "%v", *auc)); err != nil {
			return err
		}
	}
	facts := session.Devices[0].Facts()
	session.Log = func(line string) { p.Set("solving %s: %s", called(path), line) }
	session.Progress = auctions.Standing(p.Set, called(path))
	r, err := bestOn(ctx, a, session.Devices, func() (*auction.Result, error) { return session.Solve(ctx, auc) })
	if r != nil {
		r.Seconds.Read = read
	}
	if err != nil && r != nil && s.json { // no bids sell every good, or none that were found do
		p.Close()
		return errors.Join(err, printJSON(a.out, r))
	}
	if err != nil {
		return solverError(err)
	}
	r.Seconds.Read = read
	verified, err := s.verified(a, p, r.Stopped, err, func() (string, error) { return verifyAuction(ctx, auc, r) })
	if refuted(err) {
		return err
	}
	p.Close()
	err = a.answered(ctx, err)
	if s.json {
		return errors.Join(err, printJSON(a.out, r))
	}
	return errors.Join(err, a.printAuction(r, facts, verified))
}

// verifyAuction solves with the reference, which shares no code with the kernels, and compares the
// exact revenues.
func verifyAuction(ctx context.Context, auc *auction.Auction, r *auction.Result) (string, error) {
	start := time.Now()
	ref, err := await(ctx, func() (*auction.Result, error) { return auction.Reference(auc) })
	if err != nil {
		return "", unverified(err)
	}
	r.Seconds.Verify = time.Since(start).Seconds()
	if r.Value != ref.Value {
		return "", checkError{fmt.Errorf("the accepted bids pay %s, the reference finds %s", r.Value, ref.Value)}
	}
	return fmt.Sprintf("the sequential reference finds %s too", ref.Value), nil
}

// printAuction writes an answer for people.
func (a *app) printAuction(r *auction.Result, facts device.Facts, verified string) error {
	if err := auctions.Print(a.out, r); err != nil {
		return err
	}
	told := facets.Answer{
		Report:   &r.Report,
		Instance: auctions.Instance(r),
		Checked:  auctions.Checked(r),
		Verified: verified, Splittings: r.Splittings, Name: facts.Name,
	}
	if r.Algorithm == auction.Branch {
		told.Name = ui.Count(runtime.GOMAXPROCS(0), "core")
	}
	return told.Write(a.out)
}

func (a *app) generateAuctionCommand() *cobra.Command {
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
				return usagef("expected --output FILE")
			}
			if err := d.Check(); err != nil {
				return usageError{err}
			}
			if err := d.Fits(a.free()); err != nil {
				return err
			}
			p := a.progress()
			defer p.Close()
			p.Set("drawing %d bids", d.Bids)
			drawn, err := await(cmd.Context(), d.Draw)
			if err != nil {
				return err
			}
			return a.writeAuction(cmd.Context(), p, drawn, to, output)
		},
	}
	cmd.Flags().SortFlags = false
	d.Register(cmd.Flags())
	auctionOutput(cmd, &to, &output)
	return cmd
}

func (a *app) convertAuctionCommand() *cobra.Command {
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
				return usagef("expected a FILE and --output FILE")
			}
			if err := whole.Check(output, args, usagef); err != nil {
				return err
			}
			p := a.progress()
			defer p.Close()
			p.Set("reading %s", called(args[0]))
			auc, err := await(cmd.Context(), func() (*auction.Auction, error) { return a.readAuction(args[0]) })
			if err != nil {
				return err
			}
			for _, note := range auc.Notes {
				p.PrintLine("%s: %s", called(args[0]), note)
			}
			return a.writeAuction(cmd.Context(), p, auc, to, output)
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
func (a *app) writeAuction(ctx context.Context, p *ui.Progress, auc *auction.Auction, to, path string) error {
	format, err := auctions.Format(to, path)
	if err != nil {
		return usageError{err}
	}
	if err := plainName(path); err != nil {
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
