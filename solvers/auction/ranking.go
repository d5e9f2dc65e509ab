package auction

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"coalesce/solvers/auction/internal/integer"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/formats"
	"coalesce/solvers/solve"
)

// A RankedAllocation is one of the best: bids that win together and reserves that the seller keeps. Two differ in a bid or in a reserve.
type RankedAllocation struct {
	Value   solve.Number // revenue and the prices of the reserves, an exact decimal
	Winners []int        // by place in Bids, ascending
	Kept    []int        // by place in Reserves, ascending
}

// A RowProof shows that no allocation is missing in a ranking.
type RowProof = integer.RowProof

// A statedAllocation is a RankedAllocation in JSON.
type statedAllocation struct {
	Value    decimal               `json:"value"`                               // revenue and the prices of the reserves, an exact decimal
	Solution []int64               `json:"solution"`                            // numbers of the bids that win
	Kept     []problem.KeptReserve `json:"kept,omitempty" none:"none are kept"` // reserves whose goods the seller keeps
}

// state is the ranking in JSON.
func (res *Result) state() []statedAllocation {
	var list []statedAllocation
	for _, x := range res.Best {
		c := res.Auction.Certify(x.Winners, x.Kept)
		s := statedAllocation{decimal(x.Value), []int64{}, c.Kept}
		for _, b := range c.Accepted {
			s.Solution = append(s.Solution, b.Bid)
		}
		list = append(list, s)
	}
	return list
}

// allocationOf is a solution of the auction's program.
func (res *Result) allocationOf(s integer.Solution) RankedAllocation {
	x := RankedAllocation{Winners: []int{}}
	for _, j := range s.Ones {
		if k := int(j) - len(res.Auction.Bids); k < 0 {
			x.Winners = append(x.Winners, int(j))
		} else {
			x.Kept = append(x.Kept, k)
		}
	}
	x.Value = solve.Number(res.Auction.FormatPrice(res.Auction.Value(x.Winners, x.Kept)))
	return x
}

// onesOf are the variables of an allocation in the auction's program, ascending.
func (res *Result) onesOf(winners, kept []int) []int32 {
	ones := []int32{}
	for _, w := range winners {
		ones = append(ones, int32(w))
	}
	for _, k := range kept {
		ones = append(ones, int32(len(res.Auction.Bids)+k))
	}
	slices.Sort(ones)
	return ones
}

// rankAllocations adds the best few allocations to the result of the best one. Of equal ones any are among them; the
// solution is the first.
func (s *Session) rankAllocations(ctx context.Context, res *Result) error {
	res.Best = []RankedAllocation{{res.Value, res.Winners, res.Kept}}
	if !res.Proven || res.Stopped {
		return nil
	}
	clock := time.Now()
	a := res.Auction
	p := integer.New(a)
	if len(a.BindingLimits()) == 0 { // else atomic bids are copies
		var cliques [][]int32
		for _, price := range res.prices {
			cliques = append(cliques, price.Bids)
		}
		p.AddCliques(cliques)
	}
	found, err := integer.Solve(ctx, p, integer.Settings{Best: s.KBest, Start: res.onesOf(res.Winners, res.Kept), Log: s.Proof})
	res.Seconds.Solve += time.Since(clock).Seconds()
	if err != nil {
		return fmt.Errorf("%s: the ranking of allocations: %w", a.Source, err)
	}
	first := res.allocationOf(found.Solutions[0])
	if first.Value != res.Value {
		return fmt.Errorf("%w: the best of the ranking is worth %s, the solution %s", problem.ErrCheck, first.Value, res.Value)
	}
	if !found.Proven {
		solve.MarkStopped(context.Cause(ctx), &res.Stopped, &res.Notes, "the allocations behind the first are not ranked")
		return nil
	}
	res.takeRanking(found, s.KBest)
	return nil
}

// takeRanking takes the best allocations, of which the solution is the first.
func (res *Result) takeRanking(found *integer.Result, asked int) {
	list := found.Solutions
	best := integer.Solution{Ones: res.onesOf(res.Winners, res.Kept), Value: list[0].Value}
	at := slices.IndexFunc(list, func(x integer.Solution) bool { return slices.Equal(x.Ones, best.Ones) })
	if at < 0 { // then all are worth the same
		at = len(list) - 1
	}
	list = slices.Insert(slices.Delete(slices.Clone(list), at, at+1), 0, best)
	res.Best, res.Complete, res.rowProof = nil, len(list) < asked, found.Proof
	for _, x := range list {
		res.Best = append(res.Best, res.allocationOf(x))
	}
	res.Notes = append(slices.Clip(res.Notes), fmt.Sprintf("%s ranked in %s", formats.Count(len(list), "allocation"), formats.Count(found.Nodes, "node")))
}

// verifyRanking holds the ranking of a result, whose solution was checked before, against the auction. It reports whether a proof shows that
// none is missing.
func (res *Result) verifyRanking(v *solve.Verdict, stated []statedAllocation, complete *bool, proof *RowProof, places map[int64]int) (shown bool) {
	if len(stated) == 0 {
		if complete != nil || proof != nil {
			v.Refute("the result speaks of a ranking, and has none")
		}
		return false
	}
	p := integer.New(res.Auction)
	var list []integer.Solution
	for k, x := range stated {
		one := NewResult(res.Auction)
		for _, number := range x.Solution {
			place, ok := places[number]
			if !ok {
				v.Refute("allocation %d has bid %d, which the auction does not have", k, number)
				return false
			}
			one.Winners = append(one.Winners, place)
		}
		kept, err := res.Auction.FindReserves(x.Kept)
		if err == nil {
			slices.Sort(one.Winners)
			err = one.AcceptKept(one.Winners, kept)
		}
		if err != nil {
			v.Refute("allocation %d: %w", k, err)
			return false
		}
		s := integer.Solution{Ones: one.onesOf(one.Winners, kept)}
		s.Value = p.Value(s.Ones)
		if solve.Number(x.Value) != one.Value {
			v.Refute("allocation %d is worth %s, the result says %s", k, one.Value, x.Value)
		}
		if k > 0 && list[k-1].Value < s.Value {
			v.Refute("allocation %d is worth more than the one before it", k)
		}
		if slices.ContainsFunc(list, func(o integer.Solution) bool { return slices.Equal(o.Ones, s.Ones) }) {
			v.Refute("allocation %d comes twice", k)
		}
		list = append(list, s)
	}
	if !reflect.DeepEqual(list[0].Ones, res.onesOf(res.Winners, res.Kept)) {
		v.Refute("the first allocation is not the solution")
	}
	v.Note("ranking: %s, each checked", formats.Count(len(list), "allocation"))
	if proof == nil {
		v.Note("that no allocation is missing among them is not checked: the result has no proof of that")
		return false
	}
	err := errors.New("found no tree")
	if proof.Root != nil {
		err = proof.Check(p, list, complete != nil && *complete)
	}
	if err != nil {
		v.Refute("the proof of the ranking: %w", err)
		return false
	}
	v.Note("ranking: no other allocation is worth more than its last, by a tree of prices computed again")
	return true
}
