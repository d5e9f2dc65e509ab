package auction

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"coalesce/solvers/auction/internal/integer"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/formats"
	"coalesce/solvers/solve"
)

// Apply is an auction with what the options say of it, Minimize and Units, as Solve solves it. Errors wrap solve.ErrInput.
func (o *Options) Apply(a *problem.Auction) (*problem.Auction, error) {
	if a == nil || !o.Minimize && o.Units == "" {
		return a, checkUnits(a)
	}
	changed := *a
	changed.Minimize = a.Minimize || o.Minimize
	if o.Units != "" {
		if err := a.Check(); err != nil {
			return nil, err
		}
		var err error
		if changed.Units, err = parseUnits(o.Units, a); err != nil {
			return nil, err
		}
		if a.Units != nil && !slices.Equal(a.Units, changed.Units) {
			return nil, solve.InvalidInput("Units", "found %.40q beside an auction that has other units, expected none", o.Units)
		}
	}
	return &changed, checkUnits(&changed)
}

// checkUnits returns an error if bids ask for several units of a good and nothing says how many there are.
func checkUnits(a *problem.Auction) error {
	if a == nil || a.Units != nil {
		return nil
	}
	for k := range a.Bids {
		if slices.ContainsFunc(a.Bids[k].Quantities, func(n int64) bool { return n > 1 }) {
			return solve.InvalidInput("Units", "found none, and bid %d asks for several units of a good, expected how many there are of each: in the file, or the option units", a.Bids[k].Number)
		}
	}
	return nil
}

// parseUnits reads a number for all goods of a checked auction, or NAME=NUMBER between blanks or commas.
func parseUnits(text string, a *problem.Auction) ([]int64, error) {
	fields := strings.FieldsFunc(text, func(c rune) bool { return c == ' ' || c == ',' })
	number := func(word string) (int64, error) {
		n, err := strconv.ParseInt(word, 10, 32)
		if err != nil || n < 0 {
			return 0, solve.InvalidInput("Units", "found %.40q, expected a number of units, or NAME=NUMBER", word)
		}
		return n, nil
	}
	if len(fields) == 1 && !strings.Contains(fields[0], "=") {
		n, err := number(fields[0])
		return slices.Repeat([]int64{n}, int(a.Goods)), err
	}
	units := slices.Repeat([]int64{1}, int(a.Goods))
	id := map[string]int64{}
	for g := range a.Goods {
		id[a.GoodName(g)] = g
	}
	for _, field := range fields {
		k := strings.LastIndexByte(field, '=')
		g, ok := id[field[:max(0, k)]]
		if !ok {
			return nil, solve.InvalidInput("Units", "found %.40q, expected NAME=NUMBER of a good of the auction", field)
		}
		n, err := number(field[k+1:])
		if err != nil {
			return nil, err
		}
		units[g] = n
	}
	return units, nil
}

// planRows plans the solve of an auction that is no set packing.
func (r *run) planRows(ctx context.Context) (*Result, iter.Seq[solve.Attempt[*Result]], error) {
	if r.Algorithm != "" && r.Algorithm != Branch {
		return nil, nil, solve.InvalidInput("Algorithm", "found %s, expected %s: %w", r.Algorithm, Branch, problem.ErrUnits)
	}
	if err := r.RefuseVariant(Branch); err != nil {
		return nil, nil, err
	}
	if r.RankCount() > 1 {
		return nil, nil, solve.InvalidInput("Ranks", "found %d, expected 1: one process solves auctions with several units of a good, and those that buy", r.RankCount())
	}
	r.result = NewResult(r.auction)
	return r.result, func(yield func(solve.Attempt[*Result]) bool) {
		yield(solve.Attempt[*Result]{Name: Branch, Run: func() (*Result, error) { return r.byRows(ctx) }})
	}, nil
}

// amountOf is a bound of the program as one of the auction, in its units.
func (r *run) amountOf(units int64) *big.Int {
	m := big.NewInt(integer.Multiplier(r.auction))
	x := new(big.Int).Add(big.NewInt(units), new(big.Int).Sub(m, big.NewInt(1)))
	x.Div(x, m)
	if r.auction.Minimize {
		x.Neg(x)
	}
	return x
}

// byRows solves the auction by branch and bound over rows of whole numbers. Where it was cut short, the result is the best so far, with a bound.
func (r *run) byRows(ctx context.Context) (*Result, error) {
	a := r.auction
	p := integer.New(a)
	res := NewResult(a)
	res.Items, res.Device, res.Algorithm, res.Variant = len(p.Rows), "host", Branch, "integer/branch"
	res.Reason = "tables and coalition structures take one unit of each good, which is sold"
	set := integer.Settings{Best: r.KBest, Log: r.Proof || a.SellAll || a.Minimize}
	winners, err := solve.StartAs[problem.Allocation](&r.Settings)
	if err != nil {
		return nil, err
	}
	searching, stop := context.WithCancel(ctx)
	defer stop()
	if r.Settings.Start != nil {
		if err := winners.CheckFor(a); err != nil {
			return nil, solve.InvalidInput("Start", "%w", err)
		}
		set.Start = res.onesOf(winners, a.KeptBeside(winners))
		if reaches(a, solve.Number(a.FormatPrice(a.Value(winners, a.KeptBeside(winners)))), r.Target) {
			stop()
		}
	}
	decimals := func(units int64) solve.Number { return solve.Number(a.FormatPrice(r.amountOf(units))) }
	if r.Progress != nil || r.Target != nil {
		set.Progress = func(value, bound, nodes int64) {
			best := solve.Number("")
			if value > math.MinInt64 {
				best = decimals(value)
			}
			if reaches(a, best, r.Target) {
				stop()
			}
			if r.Progress != nil {
				r.Progress(solve.NewIncumbent(time.Since(r.start).Seconds(), best, decimals(bound), nodes))
			}
		}
	}
	found, err := integer.Solve(searching, p, set)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Source, errors.Join(problem.ErrSize, err))
	}
	res.Nodes, res.LPBound = found.Nodes, decimals(found.LPBound)
	res.Notes = append(slices.Clone(a.Notes), fmt.Sprintf("%s of %s, goods, alternatives and limits; %s", formats.Count(len(p.Rows), "row"), formats.Count(len(p.Prices), "variable"), formats.Count(found.Nodes, "node")))
	if len(found.Solutions) == 0 {
		if found.Proven {
			res.rowProof = found.Proof
			res.ProveInfeasible()
			return res, nil
		}
		return res, solve.InterruptedError(solve.Cause(ctx))
	}
	best := res.allocationOf(found.Solutions[0])
	if r.Settings.Start == nil {
		best.Winners = a.EarliestOfEqual(best.Winners)
	}
	if err := res.AcceptKept(best.Winners, best.Kept); err != nil {
		return nil, err
	}
	if res.Value != best.Value {
		return nil, fmt.Errorf("%w: the winning bids are worth %s, the search claims %s", problem.ErrCheck, res.Value, best.Value)
	}
	switch {
	case r.KBest > 1 && found.Proven:
		res.takeRanking(found, r.KBest)
	case r.KBest > 1:
		res.Best = []RankedAllocation{{res.Value, res.Winners, res.Kept}}
	}
	if res.rowProof = found.Proof; !r.Proof {
		res.rowProof = nil
	}
	if bound := decimals(found.Bound); found.Proven || bound == res.Value {
		res.SetProvenBound(res.Value)
	} else {
		res.SetBound(bound)
	}
	if found.Proven || reaches(a, res.Value, r.Target) {
		return res, nil
	}
	return res, solve.InterruptedError(solve.Cause(ctx))
}

// certifyRows makes a result of rows the answer.
func (r *run) certifyRows(found *Result) error {
	*r.result = *found
	if found.Value != "" {
		r.markMet()
		return nil
	}
	if found.Proven {
		return fmt.Errorf("%s: %w: no bids have all units of each good", r.auction.Source, solve.ErrInfeasible)
	}
	return fmt.Errorf("%s: %w", r.auction.Source, ErrUnsold)
}

// statedAuction is the auction that a result is of: a file may leave to options whether it buys and how many units of goods there are.
func statedAuction(v *solve.Verdict, a *problem.Auction, minimize bool, units []int64) (*problem.Auction, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	changed := *a
	if a.Minimize != minimize {
		if a.Minimize {
			v.Refute("the result does not say that the auction buys")
			return a, nil
		}
		changed.Minimize = true
		v.Note("costs are minimised, as the result says and the auction does not")
	}
	if !slices.Equal(a.Units, units) {
		if a.Units != nil {
			v.Refute("the result is of other units of the goods than there are")
			return a, nil
		}
		changed.Units = units
		v.Note("units of goods are as the result says: the auction does not say how many there are")
	}
	if err := changed.Check(); err != nil {
		v.Refute("the auction with what the result says of it: %w", err)
	}
	return &changed, nil
}

// verifyRows holds a proof against the auction: that no other bids are better than those of the result, which were checked before.
func (res *Result) verifyRows(v *solve.Verdict, stated *solve.Report, proof *RowProof) {
	p := integer.New(res.Auction)
	s := integer.Solution{Ones: res.onesOf(res.Winners, res.Kept)}
	s.Value = p.Value(s.Ones)
	err := errors.New("found no tree")
	if proof.Root != nil {
		err = proof.Check(p, []integer.Solution{s}, false)
	}
	switch {
	case err != nil:
		v.Refute("the proof: %w", err)
	case stated.Bound != res.Value:
		v.Refute("the proof shows the bound %s, the result says %s", res.Value, stated.Bound)
	default:
		v.BoundChecked = true
		v.Note("bound: no bids are better than %s, by a tree of prices of rows computed again", res.Value)
	}
}

// verifyInfeasible holds the proof that no bids have all units of each good against the auction.
func (res *Result) verifyInfeasible(v *solve.Verdict, stated *solve.Report, proof *RowProof) {
	err := errors.New("found no tree")
	if proof != nil && proof.Root != nil {
		err = proof.Check(integer.New(res.Auction), nil, true)
	}
	switch {
	case stated.Value != "":
		v.Refute("the result has a value and no solution")
	case !res.Auction.SellAll && !res.Auction.Minimize:
		v.Refute("the result has no solution: to accept no bid is one")
	case !stated.Proven && proof == nil:
		v.Note("the result has no solution, and does not say that there is none")
	case err != nil:
		v.Refute("the proof that no bids have all units of each good: %w", err)
	default:
		v.BoundChecked = true
		v.Note("no bids have all units of each good, by a tree of prices of rows computed again")
	}
}
