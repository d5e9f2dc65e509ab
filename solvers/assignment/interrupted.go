package assignment

import (
	"math"
	"math/big"
	"slices"
	"sync/atomic"
	"time"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/cores"
	"coalesce/solvers/solve"
)

// grace is the time for each of the two steps that make an answer of an interrupted
// solve: the bound, and the rows that are left.
const grace = 400 * time.Millisecond

// greedily describes a partial matching that was completed.
const greedily = "the matching is the best so far, its last rows matched greedily"

// setInterrupted makes r the best answer so far of a solve that was ended. It
// completes the partial matching of part greedily, and takes the bound from the duals of part's
// columns. part may be nil: start, feasible duals, takes its place, and zeros where start is nil
// too. It describes the answer, with no words where there is none: a row has neither a column nor, under a
// limit, a reason to be left unmatched.
func (r *Result) setInterrupted(inst *problem.Instance, p *problem.Normal, part *engine.Solution, start *problem.Prices) (answer string, err error) {
	c := newCompletion(p, part, start)
	bound, known := c.bound(time.Now().Add(grace))
	if !c.complete(time.Now().Add(grace)) {
		return "", nil
	}
	sol := &engine.Solution{Column: c.column, Prices: problem.Prices{U: make([]int64, p.Rows), V: c.v}}
	if part != nil {
		sol.Counts = part.Counts
	}
	if _, err := r.setSolution(inst, p, sol); err != nil {
		return "", err
	}
	r.boundedBy(p, bound, known)
	return greedily, nil
}

// boundedBy sets the bound by duals, where it is known.
func (r *Result) boundedBy(p *problem.Normal, bound *big.Int, known bool) {
	// Under a limit the duals bound what pairs and unmatched rows cost together, and
	// the value is that of the pairs alone.
	if known && p.Limit == problem.Infinity {
		r.SetBound(boundOf(p, bound))
	}
}

// boundOf converts a sum of feasible duals from units to the instance's costs. It subtracts the
// most that rounding to units and to float64 can have added, so that no matching is better.
func boundOf(p *problem.Normal, dual *big.Int) solve.Number {
	twice := new(big.Int).Lsh(dual, 1)
	if !p.Exact { // each cost is off by at most half a unit
		twice.Sub(twice, big.NewInt(int64(p.Rows)))
	}
	if p.Instance.Type.Integer() && p.Instance.Points == nil {
		twice.Lsh(twice, p.Dropped).Rsh(twice, 1)
		if p.Scale < 0 {
			twice.Neg(twice)
		}
		return solve.Number(twice.String())
	}
	f := new(big.Float).SetPrec(256).SetInt(twice)
	f.Quo(f, big.NewFloat(2*p.Scale))
	worse := math.Inf(-1)
	if p.Scale < 0 {
		worse = math.Inf(1)
	}
	x, _ := f.Float64()
	return solve.NumberOf(math.Nextafter(x, worse))
}

// A completion is a partial matching of a normal problem on its way to a full one.
type completion struct {
	p      *problem.Normal
	v      []int64 // duals of columns, at most 0 where columns may stay unmatched
	column []int32 // of each row, -1: none
	row    []int32 // of each column, -1: none
	taken  []byte  // not 0: columns of other ranks' rows
}

func newCompletion(p *problem.Normal, part *engine.Solution, start *problem.Prices) *completion {
	c := &completion{p: p, v: make([]int64, p.Cols), column: slices.Repeat([]int32{-1}, p.Rows), row: slices.Repeat([]int32{-1}, p.Cols), taken: make([]byte, p.Cols)}
	switch {
	case part != nil:
		copy(c.v, part.V)
		for i, j := range part.Column {
			if j >= 0 && c.row[j] < 0 {
				c.column[i], c.row[j] = j, int32(i)
			}
		}
	case start != nil:
		copy(c.v, start.V)
	}
	for j, v := range c.v {
		if p.Rows < p.Cols || p.Limit != problem.Infinity {
			c.v[j] = min(v, 0)
		}
	}
	return c
}

// pairs are the scaled costs of a row, those of forbidden pairs problem.Infinity, and
// their columns, nil for all. buf is the storage to use.
func (c *completion) pairs(i int, buf []int64) (cols []int32, costs []int64) {
	s := c.p.Instance.Sparse
	if s == nil {
		return nil, c.p.Row(i, buf)
	}
	low, high := int(s.Start[i]), int(s.Start[i+1])
	return s.Col[low:high], c.p.Scaled(low, high, buf[:high-low])
}

// each calls visit with the allowed pairs of a row, until it returns false.
func (c *completion) each(i int, buf []int64, visit func(j int, cost int64) bool) {
	cols, costs := c.pairs(i, buf[:0])
	for k, cost := range costs {
		j := k
		if cols != nil {
			j = int(cols[k])
		}
		if cost != problem.Infinity && c.taken[j] == 0 && !visit(j, cost) {
			return
		}
	}
}

// bound returns the sum of v and of the largest duals of rows that v allows: no matching costs
// less. known is false where the time was over before every pair was looked at, and where no pair
// is allowed to a row.
func (c *completion) bound(end time.Time) (sum *big.Int, known bool) {
	u := make([]int64, c.p.Rows)
	var over atomic.Bool
	cores.Split(c.p.Rows, max(1, 1<<14/max(1, c.p.Cols)), func(low, high int) {
		buf := make([]int64, 0, c.p.Cols)
		for i := low; i < high && !over.Load(); i++ {
			u[i] = c.p.Limit
			cols, costs := c.pairs(i, buf)
			least := c.p.Limit
			for k, cost := range costs {
				j := k
				if cols != nil {
					j = int(cols[k])
				}
				if cost != problem.Infinity {
					least = min(least, cost-c.v[j])
				}
			}
			u[i] = least
			if u[i] == problem.Infinity || time.Now().After(end) {
				over.Store(true)
			}
		}
	})
	sum = new(big.Int)
	for _, list := range [][]int64{u, c.v} {
		for _, x := range list {
			sum.Add(sum, big.NewInt(x))
		}
	}
	return sum, !over.Load()
}

// complete gives each free row the free column of the least reduced cost. Where all columns that
// are allowed to the row are taken, other rows move to make one free. After end any free column
// will do. It reports whether all rows are done.
func (c *completion) complete(end time.Time) bool {
	buf := make([]int64, 0, c.p.Cols)
	free := 0 // columns below are taken
	for i, j := range c.column {
		if j >= 0 {
			continue
		}
		if time.Now().After(end) {
			for free < c.p.Cols && (c.row[free] >= 0 || c.taken[free] != 0) {
				free++
			}
			if free < c.p.Cols && c.p.Cost(i, free) < c.p.Limit {
				c.column[i], c.row[free] = int32(free), int32(i)
			} else if c.p.Limit == problem.Infinity {
				return false
			}
			continue
		}
		best, least := -1, problem.Infinity
		c.each(i, buf, func(j int, cost int64) bool {
			if c.row[j] < 0 && cost < c.p.Limit && cost-c.v[j] < least {
				best, least = j, cost-c.v[j]
			}
			return true
		})
		if best >= 0 {
			c.column[i], c.row[best] = int32(best), int32(i)
		} else if c.p.Limit == problem.Infinity && !c.augment(i, buf, end) {
			return false
		}
	}
	return true
}

// augment matches a row along a shortest path of allowed pairs to a free column.
func (c *completion) augment(root int, buf []int64, end time.Time) bool {
	from := slices.Repeat([]int32{-1}, c.p.Cols) // the row before a column on the path, -1: not reached
	rows := []int32{int32(root)}
	for at := 0; at < len(rows) && time.Now().Before(end); at++ {
		last := -1
		c.each(int(rows[at]), buf, func(j int, _ int64) bool {
			if from[j] >= 0 {
				return true
			}
			from[j] = rows[at]
			if c.row[j] < 0 {
				last = j
				return false
			}
			rows = append(rows, c.row[j])
			return true
		})
		for j := int32(last); j >= 0; {
			i := from[j]
			j, c.column[i], c.row[j] = c.column[i], j, i
		}
		if last >= 0 {
			return true
		}
	}
	return false
}
