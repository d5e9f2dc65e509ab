// Package price finds an optimal coalition structure without the dynamic program's 3^n
// splittings: by one price for each agent, a few passes over the values, and a search
// among the few coalitions that an optimal structure may consist of.
//
// Let y be prices with y(S) >= v(S) for all coalitions S. Then no structure is worth
// more than the sum of all prices, the bound, and the structure of blocks S is worth
// the bound less the sum of their losses y(S) - v(S) >= 0. So a structure worth more
// than some L consists of coalitions of losses below the bound - L. Any such prices do;
// those of a linear program (column generation) leave the fewest.
//
// The package gets values by coalition number, agent i being bit i-1, and knows no
// files.
package price

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"coalesce/runtime/device"
)

// ErrCostly is wrapped by the errors of searches that were given up, as the dynamic
// program is quicker.
var ErrCostly = errors.New("more work than the dynamic program's")

// A Result is an optimal structure and what proves it.
type Result struct {
	Blocks    []uint64
	Unit      int     // prices, Bound and Loss are multiples of 2^-Unit
	Prices    []int64 // of agents 1..n: y(S) >= v(S) for all S
	Bound     int64   // the sum of all prices
	Loss      int64   // of the blocks: Bound less the structure's value
	Survivors int     // coalitions of losses of at most Loss...
	Steps     int64   // of the search
	Passes    int
	Pivots    int
}

type source interface {
	at(mask uint64) int64
	pass(ctx context.Context, prices []int64, most int64, keep int) (found, error)
}

type solver struct {
	source
	n      int
	grain  int64
	scale  float64 // units to the master's values
	master *master
	value  int64 // of blocks, in units
	blocks []uint64
	log    func(format string, args ...any)
}

// Solve finds an optimal structure of n agents.
func Solve[T device.Number](ctx context.Context, values []T, n int, log func(format string, args ...any)) (*Result, error) {
	if n == 0 {
		return &Result{}, nil
	}
	most := extent(values)
	unit, err := unitFor[T](most, n)
	if err != nil {
		return nil, err
	}
	s := &solver{source: &host[T]{values, unit}, n: n, grain: 1, log: log}
	if !integer[T]() {
		s.grain = grain
	}
	s.scale = 1
	if most > 0 {
		s.scale = math.Ldexp(1/most, -unit)
	}
	r, err := s.solve(ctx)
	if r != nil {
		r.Unit = unit
	}
	return r, err
}

func (s *solver) solve(ctx context.Context) (*Result, error) {
	n := s.n
	grand := uint64(1)<<n - 1
	s.master = newMaster(n, func(i int) float64 {
		if v := s.at(1 << i); v != forbidden {
			return float64(v) * s.scale
		}
		return -2 * float64(n)
	})
	s.value = forbidden
	s.offer([]uint64{grand})
	var single []uint64
	for i := range n {
		single = append(single, 1<<i)
	}
	s.offer(single)
	s.sample()
	s.master.solve(100000)
	keep := 1 << 14
	most := s.guess(keep)
	r := &Result{}
	var bestPrices []int64
	bound := int64(math.MaxInt64)
	for {
		prices, err := s.prices()
		if err != nil {
			return nil, err
		}
		f, err := s.pass(ctx, prices, most, keep)
		if err != nil {
			return nil, err
		}
		r.Passes++
		violated := s.repair(prices, f)
		total := int64(0)
		for _, y := range prices {
			total += y
		}
		if total < bound {
			bound, bestPrices = total, prices
		}
		_ = bestPrices
		lp := s.master.objective() / s.scale
		s.log("pass %d: columns %d most %.3g violated %d bound %.9g lp %.9g best %.9g pivots %d", r.Passes, len(f.columns), float64(f.most)*s.scale, violated, float64(total)*s.scale, lp*s.scale, float64(s.value)*s.scale, s.master.pivots)
		// search
		c := newCover(prices, f.columns, f.most)
		size := 0
		for _, g := range c.groups {
			size += len(g)
		}
		all := make([]int64, 0, size)
		for _, g := range c.groups {
			for _, x := range g {
				all = append(all, x.loss)
			}
		}
		slices.Sort(all)
		gap := total - s.value
		if s.value == forbidden {
			gap = math.MaxInt64
		}
		allowed := int64(1) << n
		for rank := 128; ; rank *= 2 {
			budget := f.most + 1
			if rank < len(all) {
				budget = min(budget, all[rank])
			}
			budget = min(budget, gap)
			done := c.search(ctx, budget, allowed)
			s.log("   search rank %d budget %.4g: done %v steps %d found %v loss %.4g", rank, float64(budget)*s.scale, done, c.steps.Load(), len(c.blocks), float64(c.best.Load())*s.scale)
			if len(c.blocks) > 0 {
				s.offer(c.blocks)
				gap = total - s.value
			}
			r.Steps += c.steps.Load()
			if done && (len(c.blocks) > 0 || budget == gap) {
				r.Blocks, r.Bound, r.Loss, r.Prices, r.Pivots = s.blocks, total, gap, prices, s.master.pivots
				return r, nil
			}
			if !done || rank >= len(all) {
				break
			}
		}
		if violated == 0 || r.Passes > 60 {
			if f.most < gap {
				most = gap
				keep *= 16
				if keep > 1<<22 {
					return r, fmt.Errorf("keep: %w", ErrCostly)
				}
				continue
			}
			return r, fmt.Errorf("%d passes: %w", r.Passes, ErrCostly)
		}
		for _, x := range f.columns {
			s.master.add(x.mask, float64(x.value)*s.scale)
		}
		s.master.solve(100000)
		if f.most > 0 && f.most < largest/2 {
			most = f.most * 2
		} else {
			most = s.guess(keep)
		}
	}
}

// offer keeps a structure that is better than the best so far.
func (s *solver) offer(blocks []uint64) {
	value := int64(0)
	for _, b := range blocks {
		v := s.at(b)
		if v == forbidden {
			return
		}
		value += v
	}
	if value > s.value || s.blocks == nil {
		s.value, s.blocks = value, slices.Clone(blocks)
	}
}

// sample adds coalitions of all sizes to the master.
func (s *solver) sample() {
	r := rand.New(rand.NewPCG(2, uint64(s.n)))
	grand := uint64(1)<<s.n - 1
	add := func(mask uint64) {
		if v := s.at(mask); v != forbidden {
			s.master.add(mask, float64(v)*s.scale)
		}
	}
	add(grand)
	if s.n <= 10 {
		for mask := uint64(1); mask < grand; mask++ {
			add(mask)
		}
		return
	}
	for size := 1; size < s.n; size++ {
		for range 512 {
			mask := uint64(0)
			for bits.OnesCount64(mask) < size {
				mask |= 1 << r.IntN(s.n)
			}
			add(mask)
		}
	}
}

// guess is a loss that about `keep` coalitions do not exceed.
func (s *solver) guess(keep int) int64 {
	if keep >= 1<<s.n {
		return largest / 2
	}
	prices, err := s.prices()
	if err != nil {
		return 0
	}
	r := rand.New(rand.NewPCG(3, uint64(s.n)))
	const draws = 1 << 13
	var losses []int64
	for range draws {
		mask := r.Uint64N(1<<s.n-1) + 1
		if v := s.at(mask); v != forbidden {
			losses = append(losses, sum(prices, mask)-v)
		}
	}
	slices.Sort(losses)
	at := int(math.Ldexp(float64(keep)*draws, -s.n))
	if at >= len(losses) {
		return largest / 2
	}
	return min(max(losses[at], 0), largest/2)
}

// prices are the master's, in units, rounded up.
func (s *solver) prices() ([]int64, error) {
	prices := make([]int64, s.n)
	magnitude := 0.0
	for i, y := range s.master.y {
		x := math.Round(y / s.scale / float64(s.grain))
		if magnitude += math.Abs(x) * float64(s.grain); !(magnitude < largest) {
			return nil, fmt.Errorf("prices up to %g: %w", y, ErrCostly)
		}
		prices[i] = int64(x) * s.grain
	}
	return prices, nil
}

// repair raises prices until no coalition of the pass is worth more than its price,
// and reports how many were.
func (s *solver) repair(prices []int64, f found) int {
	type violation struct {
		column
		by int64
	}
	var list []violation
	for _, x := range f.columns {
		if by := x.value - sum(prices, x.mask); by > 0 {
			list = append(list, violation{x, by})
		}
	}
	slices.SortFunc(list, func(a, b violation) int { return int(min(1, max(-1, b.by-a.by))) })
	if f.most < 0 {
		// Others than those found are violated, by at most -most.
		for i := range prices {
			prices[i] += -f.most
		}
		return -1
	}
	count := len(list)
	in := make([]int, s.n)
	for _, x := range list {
		for m := x.mask; m != 0; m &= m - 1 {
			in[bits.TrailingZeros64(m)]++
		}
	}
	for _, x := range list {
		by := x.value - sum(prices, x.mask)
		if by <= 0 {
			continue
		}
		at := bits.TrailingZeros64(x.mask)
		for m := x.mask; m != 0; m &= m - 1 {
			if i := bits.TrailingZeros64(m); in[i] > in[at] {
				at = i
			}
		}
		prices[at] += (by + s.grain - 1) / s.grain * s.grain
	}
	return count
}
