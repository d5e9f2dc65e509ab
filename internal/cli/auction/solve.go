// Package auction has the commands about combinatorial auctions: solve, convert and generate, what verify knows of them, and what
// they print.
package auction

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"coalesce/autotune/tuned"
	"coalesce/internal/cli/effect"
	"coalesce/internal/cli/run"
	"coalesce/internal/picture"
	"coalesce/internal/ui"
	"coalesce/runtime/device"
	"coalesce/solvers/auction"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/csg"
	"coalesce/solvers/qubo"
	"coalesce/solvers/solve"
)

// solveFlags are the flags of solve auction.
type solveFlags struct {
	run.SolveFlags
	// begin with the winning bids in this file: their numbers, between blanks, or an earlier result's JSON
	start   string `option:"start"`
	options auction.Options
}

// SolveCommand is `solve auction`.
func SolveCommand(a *run.App) *cobra.Command {
	s := solveFlags{SolveFlags: run.SolveFlags{Families: slices.Concat(auction.Subjects(), csg.Subjects(), qubo.Subjects())}}
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

Goods may have several units, of which bids ask for some. With --minimize, or where
FILE says so, the auctioneer buys: the bids of the least costs win that together offer
all units of each good, and more where FILE allows free disposal. Both are solved by
branch and bound on the host.

--k-best K lists K allocations, the best first: sets of bids, of which none is
missing between two of the list.

--payments computes the payments of the winners: first, the bid prices; vcg, the loss
of the others by a winner's presence (Vickrey, Clarke and Groves); core, the least
revenue that no coalition of bidders would beat, nearest to vcg. Bids of one name have
one bidder, and so do bids that share a dummy; every other bid has its own.`, auction.MaxItems),
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return run.Usagef("expected a FILE")
			}
			return solveFiles(cmd.Context(), a, &s, args)
		},
	}
	cmd.Flags().SortFlags = false
	options := s.options.Fields()
	run.AddOptions(cmd.Flags(), options)
	run.AddOptions(cmd.Flags(), s.Fields())
	run.AddFormerName(cmd.Flags(), "method", options.Find("algorithm"))
	s.Register(cmd.Flags())
	return cmd
}

func solveFiles(ctx context.Context, a *run.App, s *solveFlags, paths []string) error {
	if err := s.Check(a, len(paths)); err != nil {
		return err
	}
	if err := s.CheckEffects(s.effects()); err != nil {
		return err
	}
	return a.OpenToSolve(ctx, &s.SolveFlags, func(db *tuned.Database, devices []device.Device) error {
		s.options.Tuning, s.options.Devices = db, devices
		each := func() error {
			return solve.WithSession(auction.Open, s.options, func(session *auction.Session) error {
				return a.SolveEach(ctx, s.JSON, paths, func(path string) error { return solveOne(ctx, a, s, session, path) })
			})
		}
		if a.Team != nil && len(paths) == 1 && a.Folder == "" {
			switch {
			case s.options.KBest > 1:
				return a.OnRankZero("the k best allocations are for one process", each)
			case s.options.Payments != "":
				return a.OnRankZero("payments are computed by one process", each)
			}
		}
		return each()
	})
}

// solveOne reads, solves and prints.
func solveOne(ctx context.Context, a *run.App, s *solveFlags, session *auction.Session, path string) error {
	p := a.Progress()
	defer p.Close()
	start := time.Now()
	run.ShowReading(p, path)
	auc, err := run.Await(ctx, func() (*problem.Auction, error) { return readAuction(a, path) })
	if err != nil {
		return a.ReadError(err)
	}
	if auc, err = s.options.Apply(auc); err != nil {
		return err
	}
	if s.start != "" {
		text, err := a.ReadStart(s.start, "bids")
		if err != nil {
			return err
		}
		if session.Start, err = problem.ParseAllocation(text, run.NameOf(s.start), auc); err != nil {
			return err
		}
	}
	read := time.Since(start).Seconds()
	if a.HasOneInstance() {
		if session.Ranks, err = a.JoinRanks(session.Devices, true, fmt.Append(nil, *auc, session.Start)); err != nil {
			return err
		}
	}
	facts := session.Devices[0].Facts()
	p.SetLimit(session.TimeLimit)
	session.Log = func(line string) { p.Set("solving %s: %s", run.NameOf(path), line) }
	session.Progress = showIncumbent(p, run.NameOf(path))
	r, err := run.BestOn(ctx, a, session.Devices, func() (*auction.Result, error) { return session.Solve(ctx, auc) })
	if r != nil {
		r.Seconds.Read = read
	}
	if err != nil && r != nil && s.JSON { // no bids sell every good, or none that were found do
		p.Close()
		return errors.Join(err, run.PrintJSON(a.Out, r))
	}
	if err != nil {
		return run.SolverError(err, problem.ErrCheck)
	}
	r.Seconds.Read = read
	verified, err := s.CompareWithReference(a, p, r.Stopped, err, func() (string, error) { return compareWithReference(ctx, auc, r) })
	if run.IsRefuted(err) {
		return err
	}
	p.Close()
	err = errors.Join(a.AnswerError(ctx, err), s.Draw(ctx, a, func() (*picture.Drawing, error) { return Picture(r) }))
	if s.JSON {
		return errors.Join(err, run.PrintJSON(a.Out, r))
	}
	return errors.Join(err, writeResult(a, r, facts, verified))
}

// compareWithReference solves with the reference, which shares no code with the kernels, and compares the
// exact revenues.
func compareWithReference(ctx context.Context, auc *problem.Auction, r *auction.Result) (string, error) {
	start := time.Now()
	ref, err := run.Await(ctx, func() (*auction.Result, error) { return auction.Reference(auc) })
	if err != nil {
		return "", run.UnverifiedError(err)
	}
	r.Seconds.Verify = time.Since(start).Seconds()
	if r.Value != ref.Value && (r.Proven || r.Value.Float() > ref.Value.Float()) {
		return "", run.AsCheck(fmt.Errorf("the accepted bids pay %s, the reference finds %s", r.Value, ref.Value))
	}
	if r.Value != ref.Value {
		return fmt.Sprintf("the sequential reference finds %s, beyond the target", ref.Value), nil
	}
	return fmt.Sprintf("the sequential reference finds %s too", ref.Value), nil
}

// writeResult writes an answer for people.
func writeResult(a *run.App, r *auction.Result, facts device.Facts, verified string) error {
	if err := writeWinners(a.Out, r); err != nil {
		return err
	}
	told := run.Answer{
		Report:   &r.Report,
		Instance: describeInstance(r),
		Checked:  describeCheck(r),
		Verified: verified, Splittings: r.Splittings, Name: facts.Name,
	}
	if r.Algorithm == auction.Branch {
		told.Name = ui.Count(runtime.GOMAXPROCS(0), "core")
	}
	return told.Write(a.Out)
}

// effects is the table of `solve auction`.
func (s *solveFlags) effects() []effect.Rule {
	algorithm := "--algorithm " + s.options.Algorithm
	return []effect.Rule{
		{Flags: "proof", For: "--json, which holds it", Found: effect.UnlessRequested(s.JSON, "no --json")},
		{Flags: "proof start", For: "--algorithm " + auction.Branch, Found: effect.UnlessRequested(s.options.Algorithm == "" || s.options.Algorithm == auction.Branch, algorithm)},
		run.ThreadsRule(s.Device),
	}
}

// readAuction reads FILE, which may be standard input.
func readAuction(a *run.App, path string) (*problem.Auction, error) {
	if path == run.Dash {
		return auction.ReadFromWithin(a.In, run.StandardInput, a.Free().Bytes)
	}
	return auction.ReadWithin(path, a.Free().Bytes)
}

// Verdict checks a result against the auction in FILE.
func Verdict(a *run.App, result []byte, path string) (*solve.Verdict, error) {
	auc, err := readAuction(a, path)
	if err != nil {
		return nil, err
	}
	return auction.Verify(auc, result)
}
