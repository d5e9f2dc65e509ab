package price

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"
	"time"
)

// A solver is the state of Solve.
type solver struct {
	source
	Result
	limits Settings
	n      int
	grain  int64   // every price is a multiple of this number of units
	scale  float64 // factor from units to the master's values, a power of two
	master *master
	value  int64      // of Blocks, the best structure so far; forbidden before there is one
	proven int64      // no structure is worth more
	by     passResult // the coalitions that the last pass at Prices found, which prove this bound
	random []column   // some coalitions, each as likely as another, from which losses are estimated
	lists  buffers
	last   *partitionSearch // of the items of the last pass, with losses below a budget
	below  int64            // the budget of last
	likely bool             // the best structure is likely optimal: at these prices all of its blocks' losses are small
	lap    time.Time
}

const (
	firstKeep     = 1 << 14 // coalitions that the first passes keep
	firstSteps    = 1 << 16 // the least limit on the coalitions that a search looks at
	improveSteps  = 1 << 24 // the most coalitions that one search of improve looks at
	maxPivots     = 1 << 16 // the most pivots of a linear program
	maxPasses     = 64
	randomColumns = 1 << 13 // random coalitions
	mostGrowth    = 64      // the most times as many coalitions that a pass keeps as the last did
)

// spent adds the time since the last call, or since the start, to a part of the solve.
func (s *solver) spent(part *float64) {
	now := time.Now()
	*part += now.Sub(s.lap).Seconds()
	s.lap = now
}

func (s *solver) solve(ctx context.Context) (*Result, error) {
	start := time.Now()
	s.lap = start
	s.solveSample()
	if err := s.refineMultiple(); err != nil {
		return nil, err
	}
	keep := min(firstKeep, s.limits.Columns)
	allowed := max(firstSteps, int64(1)<<s.n) // steps that take as long as a pass, and as sorting what the pass finds
	improved := true                          // the last pass improved the linear program
	most := int64(largest / 2)                // the largest loss that a pass has to look for
	for s.Passes < maxPasses {
		prices, err := s.prices()
		if err != nil {
			return nil, err
		}
		s.spent(&s.Times.Program)
		this := round{keep: keep, start: time.Since(start)}
		f, err := s.pass(ctx, prices, min(s.estimateLimit(prices, keep), most), keep)
		if err != nil {
			return nil, err
		}
		s.Passes++
		violated := s.repair(prices, f)
		total, err := sumOfPrices(prices)
		if err != nil {
			return nil, err
		}
		s.prove(total, total, prices, f)
		lp := s.master.objective() / s.scale
		budget := min(f.limit+1, s.budget(total))
		s.lists.sort(s.limits.Cores, f.items, 0)
		items := f.items[:countBelow(f.items, budget)]
		s.last = nil // of other items
		s.spent(&s.Times.Passes)
		this.found, this.steps = len(f.items), s.Steps
		s.offerHalves(items, prices)
		better := false
		allowed = max(allowed, int64(len(items))*int64(ColumnTime/stepTime))
		for s.proven > s.value {
			ended, err := s.search(ctx, items, total, f, prices, allowed)
			s.spent(&s.Times.Search)
			if err != nil {
				return nil, err
			}
			if s.proven <= s.value {
				break
			}
			// Better prices help where the linear program could still lower the bound by a
			// sixteenth or more of what the search lowered it by; else more work helps.
			better = improved && (violated < 0 || violated > 0 && (float64(total)-lp)*16 > float64(total-s.proven))
			if better {
				break
			}
			if ended {
				this.ended, this.steps = time.Since(start), s.Steps-this.steps
				reached, err := s.improve(ctx, items, total, f.limit)
				s.spent(&s.Times.Search)
				if err != nil {
					return nil, err
				}
				if s.proven <= s.value {
					break
				}
				// The next pass is at the same prices, and larger losses make no better structure.
				most = min(most, s.budget(total)-1)
				if keep, err = s.nextKeep(this, s.estimateCount(prices, reached)); err != nil {
					return nil, err
				}
				break
			}
			allowed *= 4
		}
		if s.proven <= s.value {
			return s.finish(), nil
		}
		if better {
			s.addToMaster(f.items, prices)
			before := s.master.basis.Pivots
			s.master.solve(maxPivots)
			improved, most, s.likely = s.master.basis.Pivots > before, largest/2, false
		}
	}
	return nil, fmt.Errorf("%d passes: %w", s.Passes, ErrCostly)
}

// nextKeep returns how many coalitions the pass after round r keeps, where a proof is likely to need
// about `left`. It returns an error where the limits do not suffice.
func (s *solver) nextKeep(r round, left int) (int, error) {
	if r.keep == s.limits.Columns {
		return 0, fmt.Errorf("a search among %d coalitions finds no optimum, expected one among %d: %w", r.found, r.keep, ErrCostly)
	}
	next := max(4*r.keep, min(left+left/4, mostGrowth*r.keep))
	if left = max(left, 4*r.found); s.limits.Time > 0 && r.next(left, s.limits.Cores) > s.limits.Time {
		return 0, fmt.Errorf("a search among %d coalitions finds no optimum, and one among %d would end after %v: %w", r.found, left, s.limits.Time, ErrCostly)
	}
	return min(next, s.limits.Columns), nil
}

// A round is a pass and the search of what the pass found.
type round struct {
	keep, found  int
	steps        int64         // of the search
	start, ended time.Duration // since the start of the solve
}

// next estimates when the following round ends, since the start of the solve, if its pass finds so many
// coalitions: after as long as this round took, and doubt times ColumnTime for each further coalition and
// stepTime for each further step of the search, whose steps grow in proportion to the coalitions.
func (r round) next(found, cores int) time.Duration {
	steps := float64(r.steps) * (float64(found)/float64(max(r.keep, r.found)) - 1)
	more := float64(found-r.found)*float64(ColumnTime) + max(0, steps)*float64(stepTime)
	return 2*r.ended - r.start + time.Duration(doubt*more/float64(cores))
}

// ColumnTime is a core's time for a coalition that a pass finds, to sort and group it, stepTime that for one
// that a search looks at. Beside an H200 16 cores took 79 to 96 ns and 0.9 ns for them (coalesce solve csg
// --distribution pascal --agents 28 --type int32 --algorithm price --json: prices.times, at 0c5b073c and 99dd1b85).
const (
	ColumnTime = 1500 * time.Nanosecond
	stepTime   = 15 * time.Nanosecond
	doubt      = 1.6 // first estimates are low: of pascal at 28 agents a proof needed 2 to 5 times as many coalitions
)

// solveSample makes the first structures, and solves the linear program over a sample of coalitions.
func (s *solver) solveSample() {
	s.value, s.proven = forbidden, math.MaxInt64
	single := make([]uint64, s.n)
	s.master = newMaster(s.n, s.limits.Cores, func(i int) float64 {
		single[i] = 1 << i
		if v := s.valueAt(1 << i); v != forbidden {
			return float64(v) * s.scale
		}
		return -4 // below any value: prices are scaled to magnitudes below 1
	})
	s.offer(single)
	s.offer([]uint64{1<<s.n - 1})
	s.offer(s.limits.Start)
	s.sampleColumns()
	s.master.solve(maxPivots)
}

// search looks for structures worth more than the best so far, made of coalitions that a pass has
// found. It searches with a growing budget of losses, because most of the work within a budget is
// spent on losses near its end. It reports whether it finished within the allowed steps.
func (s *solver) search(ctx context.Context, items []pricedCoalition, total int64, f passResult, prices []int64, allowed int64) (bool, error) {
	losses := quantiles(items)
	rank := 8
	if s.likely {
		rank = len(losses) // a proof needs all of the budget, and a smaller one is likely to find nothing
	}
	for ; ; rank *= 2 {
		budget := min(f.limit+1, s.budget(total))
		if rank < len(losses) {
			budget = min(budget, losses[rank])
		}
		if total-budget >= s.proven && rank < len(losses) {
			continue // an earlier search proved this budget
		}
		c := s.covers(items, budget)
		ended := c.search(ctx, budget, min(allowed, s.limits.Steps-s.Steps))
		s.Steps += c.steps.Load()
		if err := ctx.Err(); err != nil {
			return false, err
		}
		s.offer(c.blocks)
		if ended {
			s.prove(total-c.best.Load(), total, prices, f)
		}
		if !ended && s.Steps >= s.limits.Steps {
			return false, fmt.Errorf("%d coalitions looked at: %w", s.Steps, ErrCostly)
		}
		if !ended || s.proven <= s.value || rank >= len(losses) {
			return ended, nil
		}
	}
}

// offerHalves offers the best structure of a coalition that loses less than Multiple and all other agents. Where many
// values are ties there are many such coalitions, and their losses do not guide a search.
func (s *solver) offerHalves(items []pricedCoalition, prices []int64) {
	const most, few = 1 << 16, 1 << 8 // to draw a value takes up to a microsecond
	grand := uint64(1)<<s.n - 1
	items = items[:min(most, countBelow(items, s.Multiple))]
	pairs := make([]pricedCoalition, (len(items)+few-1)/few) // by part of the items: the best pair's first coalition and loss
	y := sumsOf(prices)
	forEach(s.limits.Cores, len(pairs), func(k int) {
		pairs[k].loss = largest
		for _, x := range items[k*few : min((k+1)*few, len(items))] {
			if v := s.valueAt(grand ^ x.mask); x.mask != grand && v != forbidden {
				if loss := x.loss + y.sumOf(grand^x.mask) - v; loss < pairs[k].loss {
					pairs[k] = pricedCoalition{x.mask, loss}
				}
			}
		}
	})
	if len(pairs) == 0 {
		return
	}
	best := slices.MinFunc(pairs, func(a, b pricedCoalition) int { return cmp.Compare(a.loss, b.loss) })
	if best.mask != 0 {
		s.offer([]uint64{best.mask, grand ^ best.mask})
	}
}

// covers is the search among the items of losses below a budget at least: the last one again where that suffices,
// else one of up to `ahead` as many items, for budgets that follow.
func (s *solver) covers(items []pricedCoalition, budget int64) *partitionSearch {
	const ahead = 16
	if s.last != nil && s.below >= budget {
		return s.last
	}
	s.below = math.MaxInt64
	if count := ahead * countBelow(items, budget); count < len(items) {
		s.below = max(budget, items[count].loss)
	}
	s.last = s.lists.newCover(items, s.n, s.below, s.limits.Cores)
	return s.last
}

// improve looks, among the coalitions that a pass has found, for a structure whose loss exceeds the
// pass's limit. Each block of an optimal structure loses less than the whole structure, so that a pass
// finds all blocks long before a search among its coalitions is a proof. The search is repeated with
// budgets that grow by a quarter, to four times the limit at most.
//
// The result is the budget of losses that a proof is likely to need: the loss of the structure found, if
// no other within its budget loses less; the budget before, if the search was cut short after it found one;
// and where no structure was found the last budget. Where the limit is below 0, as there
// were too many coalitions of no loss for a pass to keep them all, nothing is searched.
func (s *solver) improve(ctx context.Context, items []pricedCoalition, total, limit int64) (reached int64, err error) {
	if limit < 0 {
		return limit + 1, nil
	}
	c := s.covers(items, limit+1)
	most := min(4*limit+1, largest, s.budget(total))
	for reached = limit + 1; reached < most; {
		budget := min(reached+max(reached/4, 1), most)
		ended := c.search(ctx, budget, min(improveSteps, s.limits.Steps-s.Steps))
		s.Steps += c.steps.Load()
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		s.offer(c.blocks)
		switch {
		case ended && len(c.blocks) > 0:
			s.likely = true
			return total - s.value, nil
		case len(c.blocks) > 0:
			return reached, nil
		}
		if reached = budget; !ended {
			break
		}
	}
	return reached, nil
}

// offer keeps a structure that is better than the best so far.
func (s *solver) offer(blocks []uint64) {
	value := int64(0)
	for _, b := range blocks {
		v := s.valueAt(b)
		if v == forbidden {
			return
		}
		value += v
	}
	if len(blocks) > 0 && value > s.value {
		s.value, s.Blocks = value, slices.Clone(blocks)
		s.reportIncumbent()
	}
}

// budget bounds the losses of structures worth more than the best so far, at prices of a total: each
// loses less. Its value is a multiple of Multiple, as all are.
func (s *solver) budget(total int64) int64 {
	if s.value == forbidden {
		return math.MaxInt64
	}
	return total - s.value - s.Multiple + 1
}

// prove records that no structure is worth more than a value, with the proof: prices, their total,
// and the coalitions that a pass found at these prices.
func (s *solver) prove(value, total int64, prices []int64, f passResult) {
	if over := value % s.Multiple; over < 0 {
		value -= over + s.Multiple
	} else {
		value -= over
	}
	if value < s.proven {
		s.proven, s.Bound, s.Prices, s.by = value, total, prices, f
		s.reportIncumbent()
	}
}

func (s *solver) reportIncumbent() {
	if s.limits.Improved == nil || s.value == forbidden {
		return
	}
	bound := s.proven
	if s.grain != 1 && bound < math.MaxInt64-int64(s.n) {
		bound += int64(s.n) // float values were rounded down
	}
	s.limits.Improved(slices.Clone(s.Blocks), math.Ldexp(float64(s.value), -s.Unit), math.Ldexp(float64(bound), -s.Unit))
}

func (s *solver) finish() *Result {
	s.Gap, s.Pivots = s.Bound-s.value, s.master.basis.Pivots
	s.Survivors = countWhere(s.limits.Cores, s.by.items, func(x pricedCoalition) bool { return x.loss <= s.Gap-s.Multiple })
	return &s.Result
}

// prices are the duals of the master, in units, rounded to multiples of grain.
func (s *solver) prices() ([]int64, error) {
	prices := make([]int64, s.n)
	for i, y := range s.master.basis.Prices {
		x := math.Round(y / s.scale / float64(s.grain))
		if !(math.Abs(x)*float64(s.grain) < largest/2) {
			return nil, fmt.Errorf("a price of %g: %w", y, ErrCostly)
		}
		prices[i] = int64(x) * s.grain
	}
	_, err := sumOfPrices(prices)
	return prices, err
}

// sumOfPrices is the sum of all prices, or an error if the sum of their magnitudes is too large.
func sumOfPrices(prices []int64) (int64, error) {
	sum := int64(0)
	for _, y := range prices {
		sum += y
	}
	if x := sumMagnitudes(prices); x >= largest {
		return 0, fmt.Errorf("prices of magnitudes up to %g: %w", x, ErrCostly)
	}
	return sum, nil
}

func sumMagnitudes(prices []int64) float64 {
	sum := 0.0
	for _, y := range prices {
		sum += math.Abs(float64(y))
	}
	return sum
}

// repair raises prices until no coalition is worth more than its agents' prices, and brings the losses of what a
// pass found up to date. It returns how many of these coalitions were worth more; -1 if others may have been.
func (s *solver) repair(prices []int64, f passResult) int {
	before := slices.Clone(prices)
	if f.limit < -1 {
		// Coalitions that the pass did not keep may be worth more than their prices, by less than -f.limit.
		for i := range prices {
			prices[i] += roundUp(-f.limit)
		}
		s.shift(f.items, before, prices)
		copy(before, prices)
	}
	list := s.violated(f.items)
	in := countMemberships(list, 1, s.n)
	// The agent in the most coalitions that are worth more than their prices gets the higher price.
	was, now := sumsOf(before), sumsOf(prices)
	for _, x := range list {
		by := was.sumOf(x.mask) - x.loss - now.sumOf(x.mask) // its value, less its agents' prices by now
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
		now.fill(at/8, prices)
	}
	if len(list) > 0 {
		s.shift(f.items, before, prices)
	}
	if f.limit < -1 {
		return -1
	}
	return len(list)
}

// violated are the items of losses below 0, by loss, then by mask.
func (s *solver) violated(items []pricedCoalition) []pricedCoalition {
	var list []pricedCoalition
	var lock sync.Mutex
	forEach(s.limits.Cores, (len(items)+piece-1)/piece, func(k int) {
		var own []pricedCoalition
		for _, x := range items[k*piece : min((k+1)*piece, len(items))] {
			if x.loss < 0 {
				own = append(own, x)
			}
		}
		lock.Lock()
		defer lock.Unlock()
		list = append(list, own...)
	})
	least := int64(0)
	for _, x := range list {
		least = min(least, x.loss)
	}
	s.lists.sort(s.limits.Cores, list, least)
	return list
}

// shift turns losses at some prices into those at others.
func (s *solver) shift(items []pricedCoalition, from, to []int64) {
	by := make([]int64, s.n)
	for i := range by {
		by[i] = to[i] - from[i]
	}
	y := sumsOf(by)
	forEach(s.limits.Cores, (len(items)+piece-1)/piece, func(k int) {
		for i := k * piece; i < min((k+1)*piece, len(items)); i++ {
			items[i].loss += y.sumOf(items[i].mask)
		}
	})
}
