// Package integer finds the k best solutions of a program whose variables are 0 and 1 and whose rows have whole
// numbers: auctions with several units of a good, auctions that buy, and the k best allocations of any auction.
//
// The search is branch and bound over a linear relaxation, on all cores, with cover cuts of the rows. It keeps
// the k best solutions that it meets. A node ends where no solution below it beats the last of them. With k = 1
// that is the usual search.
//
// No rounding enters the proof. The relaxation in float64 only proposes prices of the rows. Bounds are
// recomputed from these prices in integers, where prices of at least 0 give a bound, and those of equal rows may have
// any sign.
package integer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
)

// A Row is a sum of entries times variables that is at most Most, or with Equal exactly Most.
type Row struct {
	Columns []int32 // ascending, each once
	Entries []int64 // none is 0
	Most    int64
	Equal   bool

	cut bool // of bounds alone: what it fixes is not looked for
}

// A Problem is to maximise the sum of the prices of the variables that are 1.
type Problem struct {
	Prices []int64
	Rows   []Row
	Extra  []Row // rows that all solutions keep, of use for bounds alone: cliques

	of [][]int // rows of each variable whose entries are all above 0; nil: not needed yet
}

// Settings of Solve.
type Settings struct {
	Best     int                             // how many solutions are wanted; 0: one
	Workers  int                             // nodes worked on at once; 0: one a core
	Start    []int32                         // a solution that is known: variables that are 1; nil: none
	Progress func(value, bound, nodes int64) // called with better solutions and bounds, and now and then; value is the least int64 before the first; may be nil
	Log      bool                            // keep the tree, which proves the result

	mostNodes int64 // of a search near a solution; 0: any number
}

// A Solution is variables that are 1, ascending, and the sum of their prices.
type Solution struct {
	Ones  []int32
	Value int64
}

// A Result is the best solutions that were found. Where Proven, all others are worth no more than the last of them,
// and where there are fewer than were asked for, there are no others.
type Result struct {
	Solutions []Solution // best first; of equal ones those with the earlier variables
	Bound     int64      // no solution is worth more; of use where there is a solution or the search was ended
	LPBound   int64      // of the first relaxation
	Proven    bool
	Nodes     int64
	Proof     *RowProof // nil: it was not asked for, or the search was ended
}

// ErrSize is wrapped by errors of problems that are too large.
var ErrSize = errors.New("too large for branch and bound")

const (
	maxRows  = 1 << 12 // the inverse of a basis takes 8 bytes for each pair of them
	maxValue = 1 << 60 // of the sum of prices and of entries of a row
)

// check returns an error if numbers of the problem are too large for exact bounds in int64.
func (p *Problem) check() error {
	sum := uint64(0)
	for _, c := range p.Prices {
		if sum += magnitude(c); c == math.MinInt64 || sum > maxValue {
			return fmt.Errorf("%w: prices add up to more than 2^60 units", ErrSize)
		}
	}
	if rows := len(p.Rows) + len(p.Extra); rows > maxRows {
		return fmt.Errorf("%w: found %d rows of goods, alternatives and limits, expected at most %d", ErrSize, rows, maxRows)
	}
	for _, r := range p.Rows {
		sum := magnitude(r.Most)
		for _, a := range r.Entries {
			if sum += magnitude(a); sum > 1<<52 {
				return fmt.Errorf("%w: units of a good add up to more than 2^52", ErrSize)
			}
		}
	}
	return nil
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return uint64(-x)
	}
	return uint64(x)
}

// Feasible reports whether variables, ascending, keep the rows.
func (p *Problem) Feasible(ones []int32) bool {
	is := make([]bool, len(p.Prices))
	for _, j := range ones {
		is[j] = true
	}
	for i := range p.Rows {
		r, sum := &p.Rows[i], int64(0)
		for k, j := range r.Columns {
			if is[j] {
				sum += r.Entries[k]
			}
		}
		if sum > r.Most || r.Equal && sum < r.Most {
			return false
		}
	}
	return true
}

// Value is the sum of the prices of variables.
func (p *Problem) Value(ones []int32) int64 {
	sum := int64(0)
	for _, j := range ones {
		sum += p.Prices[j]
	}
	return sum
}

// Compare orders solutions: the better first, of equal ones that with the earlier variables.
func Compare(a, b Solution) int {
	return cmp.Or(cmp.Compare(b.Value, a.Value), slices.Compare(a.Ones, b.Ones))
}

// Solve finds the best solutions. When ctx ends it returns those that it has met, with a bound. Errors wrap ErrSize.
func Solve(ctx context.Context, p *Problem, set Settings) (*Result, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if set.Workers <= 0 {
		set.Workers = runtime.GOMAXPROCS(0)
	}
	set.Best = max(1, set.Best)
	t := newTree(p, set)
	if set.Start != nil && p.Feasible(set.Start) {
		t.offer(set.Start)
	}
	t.run(ctx)
	return t.result(), nil
}
