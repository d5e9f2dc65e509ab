package assignment

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"time"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/ranked"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// A Ranked matching is one of the best of an instance.
type Ranked struct {
	Exact  solve.Number `json:"value"`    // sum of the matched costs: every digit of integers
	Value  float64      `json:"-"`        // the same
	Column []int32      `json:"solution"` // column of each row, -1 where it is unmatched
}

// ranked is the result's matching in a ranking.
func (r *Result) ranked() Ranked {
	return Ranked{r.Value, r.Value.Float(), r.Column}
}

// RankingBytes is the least memory that the k best matchings of an instance take, in bytes: the matchings
// and, for each, the subspaces that it is cut into. Fewer than k count where the instance has no more.
func RankingBytes(inst *problem.Instance, k int) float64 {
	const subspace = 128
	rows, cols := float64(min(inst.Rows, inst.Cols)), float64(max(inst.Rows, inst.Cols))
	if inst.Limit != nil { // a row may be left unmatched, as by a column of its own
		cols += rows
	}
	count := 1.0
	for i := 0.0; i < rows && count < float64(k); i++ {
		count *= cols - i
	}
	return min(count, float64(k)) * (subspace*rows + 12*rows + 8*cols)
}

// rankMatchings adds the best few matchings to the result of the best one. Each after the first is proven best among those left
// by duals of its own, which are checked against every cost and not kept. The order is that of exact
// sums: where costs were rounded, matchings that rounding leaves as good are ranked by these.
func (s *Session) rankMatchings(ctx context.Context, r *Result) error {
	r.Best = []Ranked{r.ranked()}
	if r.Duals == nil { // the solve was ended
		return nil
	}
	clock := time.Now()
	err := r.rank(ctx, s.inst, s.p, s.KBest)
	r.Seconds.Solve += time.Since(clock).Seconds()
	if !s.Options.Duals {
		r.Duals = nil
	}
	if solve.IsInterrupted(ctx, err) {
		solve.MarkStopped(context.Cause(ctx), &r.Stopped, &r.Notes, fmt.Sprintf("the ranking has %d of %d matchings", len(r.Best), s.KBest))
		err = nil
	}
	return err
}

// rank adds the matchings after the first.
func (r *Result) rank(ctx context.Context, inst *problem.Instance, p *problem.Normal, k int) error {
	first := &engine.Solution{Column: r.Column, Prices: problem.Prices{U: r.Duals.U, V: r.Duals.V}}
	if p.Transposed {
		first = &engine.Solution{Column: slices.Repeat([]int32{-1}, p.Rows), Prices: problem.Prices{U: r.Duals.V, V: r.Duals.U}}
		for i, j := range r.Column {
			if j >= 0 {
				first.Column[j] = int32(i)
			}
		}
	}
	within := int64(0)
	if !p.Exact {
		within = int64(p.Rows)
	}
	var matchings [][]int32
	var ended error
	if c := r.Certificate; c == nil || c.Rounds == 0 {
		found, err := ranked.KBest(ctx, p, first, k, within)
		if found == nil {
			return err
		}
		ended = err
		r.Complete = found.Complete
		for _, m := range found.Matchings {
			matchings = append(matchings, m.Column)
		}
		if found.Open && ended == nil {
			matchings = nil // more are as good as rounding can tell
		}
	}
	if matchings == nil {
		s := &exactRanking{p: p, inst: p.Original(), ctx: ctx}
		if matchings, ended = s.best(k); matchings == nil {
			return ended
		}
		r.Complete = len(s.left) == 0 && len(matchings) < k
	}
	list := make([]Ranked, len(matchings))
	values := make([]*big.Float, len(matchings))
	order := make([]int, len(matchings))
	for k, column := range matchings {
		one := newResult(inst)
		if _, err := one.setSolution(inst, p, &engine.Solution{Column: column}); err != nil {
			return err
		}
		list[k], values[k], order[k] = one.ranked(), objective(p, inst, one.Column), k
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if inst.Maximize {
			a, b = b, a
		}
		return values[a].Cmp(values[b])
	})
	r.Best = r.Best[:0]
	for _, at := range order[:min(k, len(order))] {
		r.Best = append(r.Best, list[at])
	}
	return ended
}
