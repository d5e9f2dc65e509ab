package host

import (
	"context"
	"math/bits"
	"sync/atomic"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// A lowerGraph has the pairs of the lower cost, where a dense problem has two different costs: a bit for each column, row after row.
type lowerGraph struct {
	low, high int64
	words     int // of a row
	bits      []uint64
	row       []int32  // of columns, -1: free
	free      []uint64 // columns
	unseen    []uint64 // columns that a phase has not reached
	cursor    []int32  // of rows: the word to look at next
	stack     []int32
}

// newLowerGraph returns nil where there are more than two costs, or forbidden pairs.
func newLowerGraph(ctx context.Context, p *problem.Normal, threads int) *lowerGraph {
	g := &lowerGraph{words: (p.Cols + 63) / 64}
	buf := make([]int64, p.Cols)
	g.low = p.Row(0, buf)[0]
	g.high = g.low
	for i := 0; i < p.Rows && g.high == g.low; i++ {
		for _, c := range p.Row(i, buf) {
			switch {
			case c == g.low || c == g.high:
			case g.low != g.high:
				return nil
			default:
				g.low, g.high = min(c, g.low), max(c, g.low)
			}
		}
	}
	if g.high == problem.Infinity {
		return nil
	}
	g.bits = make([]uint64, p.Rows*g.words)
	var other atomic.Bool
	ParallelParts(threads, p.Rows, func() func(low, high int) {
		buf := make([]int64, p.Cols)
		return func(low, high int) {
			for i := low; i < high && !other.Load() && ctx.Err() == nil; i++ {
				own, row := g.bits[i*g.words:(i+1)*g.words], p.Row(i, buf)
				for w := range own {
					part := row[64*w : min(64*w+64, len(row))]
					x := uint64(0)
					for k, c := range part {
						if c != g.low && c != g.high {
							other.Store(true)
							return
						}
						x |= uint64(c-g.high) >> 63 << k
					}
					own[w] = x
				}
			}
		}
	})
	if other.Load() {
		return nil
	}
	return g
}

// solveTwoCosts solves a dense problem of two different costs, without limits: a largest matching of the pairs of the lower cost, by depth from all free rows
// in turn (Pothen and Fan 1990), and any others. The duals are a least cover of these pairs by rows and columns (Kőnig 1931). It returns nil
// where the costs are others.
func solveTwoCosts(ctx context.Context, p *problem.Normal, threads int) (*engine.Solution, error) {
	g := newLowerGraph(ctx, p, threads)
	if err := ctx.Err(); err != nil || g == nil {
		return nil, err
	}
	sol := &engine.Solution{Column: make([]int32, p.Rows), Prices: problem.Prices{U: make([]int64, p.Rows), V: make([]int64, p.Cols)}}
	sol.Counts.Passes = 1
	g.row, g.free, g.unseen, g.cursor = make([]int32, p.Cols), make([]uint64, g.words), make([]uint64, g.words), make([]int32, p.Rows)
	for j := range g.row {
		g.row[j] = -1
		g.free[j/64] |= 1 << (j % 64)
	}
	free := make([]int32, p.Rows)
	for i := range free {
		free[i], sol.Column[i] = int32(i), -1
	}
	for found := true; found; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		found = false
		for w := range g.unseen {
			g.unseen[w] = ^uint64(0)
		}
		clear(g.cursor)
		sol.Counts.Phases++
		left := free[:0]
		for _, i := range free {
			if !g.path(i, sol.Column) {
				left = append(left, i)
				continue
			}
			found = true
			sol.Counts.Paths++
		}
		free = left
	}
	// The last phase found no path: it reached what free rows reach.
	for i := range sol.U {
		sol.U[i] = g.low
		if j := sol.Column[i]; j < 0 || g.unseen[j/64]>>(j%64)&1 == 0 {
			sol.U[i] = g.high
		}
	}
	next := 0
	for j := range sol.V {
		switch {
		case g.unseen[j/64]>>(j%64)&1 == 0:
			sol.V[j] = g.low - g.high
		case g.row[j] < 0 && next < len(free):
			sol.Column[free[next]] = int32(j)
			next++
		}
	}
	return sol, nil
}

// path looks for a path from a free row to a free column by depth, and flips it.
func (g *lowerGraph) path(root int32, column []int32) bool {
	g.stack = append(g.stack[:0], root)
	for len(g.stack) > 0 {
		i := g.stack[len(g.stack)-1]
		own := g.bits[int(i)*g.words:][:g.words]
		if g.cursor[i] == 0 {
			for w, x := range own {
				if x &= g.free[w]; x != 0 {
					j := int32(64*w + bits.TrailingZeros64(x))
					g.free[w] &^= x & -x
					for k := len(g.stack) - 1; k >= 0; k-- {
						i := g.stack[k]
						column[i], j = j, column[i]
						g.row[column[i]] = i
					}
					return true
				}
			}
		}
		w := g.cursor[i]
		for int(w) < g.words && own[w]&g.unseen[w] == 0 {
			w++
		}
		g.cursor[i] = w
		if int(w) == g.words {
			g.stack = g.stack[:len(g.stack)-1]
			continue
		}
		x := own[w] & g.unseen[w]
		g.unseen[w] &^= x & -x
		g.stack = append(g.stack, g.row[64*int(w)+bits.TrailingZeros64(x)])
	}
	return false
}
