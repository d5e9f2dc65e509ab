package assignment

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"time"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/ranked"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// A Ranking is the best matchings of an instance, the best first. No matching is missing
// between two of them; those of equal value stand in any order. The embedded Result is
// that of the best, with the certificate that its duals prove; each further matching is
// proven best among those left by duals of its own, which are checked against every
// cost and not kept. The order is that of exact sums: where costs were rounded, matchings
// that rounding leaves as good are ranked by these.
type Ranking struct {
	*Result
	Best      []Ranked
	Complete  bool // the instance has no other matchings
	Subspaces int  // that the matchings were cut into
	Searches  int  // shortest paths, one for each subspace that was looked into
}

// A Ranked matching is one of a ranking.
type Ranked struct {
	Column []int32 // of each row, -1 where it is unmatched
	Value  float64 // sum of the matched costs
	Exact  string  // the same in decimals
}

// Rank finds the k best matchings of an instance, fewer where it has no more (Murty
// 1968, with duals handed on as in Miller, Stone and Cox 1997). The best is found as by
// Solve, on o's devices; the others on this machine's processor, each from the duals of
// one before. Under a limit the order is that of costs with the limit for each row left
// unmatched.
//
// ctx and the time limit end it with the beginning of the ranking; Stopped says so. Errors are those of Solve, and of a k below 1.
func Rank(ctx context.Context, inst *problem.Instance, k int, o Options) (*Ranking, error) {
	if k < 1 {
		return nil, fmt.Errorf("rank assignments: %w", solve.Input("k", "found %d, expected at least 1", k))
	}
	ctx, cancel := o.Limited(ctx)
	defer cancel()
	duals := o.Duals
	o.Duals = true
	r, err := Solve(ctx, inst, o)
	if err != nil {
		if r != nil {
			return &Ranking{Result: r}, err
		}
		return nil, err
	}
	out := &Ranking{Result: r, Best: []Ranked{{r.Column, r.Value, r.Exact}}}
	if r.Duals == nil { // the solve was ended
		return out, nil
	}
	clock := time.Now()
	err = out.rank(ctx, inst, k)
	r.Seconds.Solve += time.Since(clock).Seconds()
	if !duals {
		r.Duals = nil
	}
	if err != nil && !solve.Ended(ctx, err) {
		return nil, fmt.Errorf("rank assignments: %w", err)
	}
	if err != nil {
		solve.Stop(context.Cause(ctx), &r.Stopped, &r.Notes, fmt.Sprintf("the ranking has %d of %d matchings", len(out.Best), k))
	}
	return out, nil
}

// rank adds the matchings after the first.
func (r *Ranking) rank(ctx context.Context, inst *problem.Instance, k int) error {
	p, err := problem.Normalise(inst)
	if err != nil {
		return err
	}
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
		r.Complete, r.Subspaces, r.Searches = found.Complete, found.Subspaces, found.Searches
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
		r.Complete, r.Subspaces, r.Searches = len(s.left) == 0 && len(matchings) < k, s.spaces, s.spaces
	}
	list := make([]Ranked, len(matchings))
	values := make([]*big.Float, len(matchings))
	order := make([]int, len(matchings))
	for k, column := range matchings {
		one := newResult(inst)
		if _, err := one.keep(inst, p, &engine.Solution{Column: column}); err != nil {
			return err
		}
		list[k], values[k], order[k] = Ranked{one.Column, one.Value, one.Exact}, objective(p, inst, one.Column), k
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

// MarshalJSON writes the best's result, and beside it the list of all of them.
func (r *Ranking) MarshalJSON() ([]byte, error) {
	text, err := r.Result.MarshalJSON()
	if err != nil {
		return nil, err
	}
	type entry struct {
		Value    json.Number
		Solution []int32
	}
	best := make([]entry, len(r.Best))
	for k, m := range r.Best {
		best[k] = entry{json.Number(m.Exact), m.Column}
	}
	more, err := json.Marshal(struct {
		Best     []entry `json:"best"`
		Complete bool    `json:"complete"`
	}{best, r.Complete})
	if err != nil {
		return nil, fmt.Errorf("ranking: %w", err)
	}
	return append(append(text[:len(text)-1], ','), more[1:]...), nil
}
