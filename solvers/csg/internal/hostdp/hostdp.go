// Package hostdp is the dynamic program of the papers on a host's cores: DP and IDP, level by level, with
// each coalition computed by one core. Tiles evaluate a third of the splittings, many at once.
package hostdp

import (
	"context"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/levels"
	"coalesce/solvers/csg/internal/reference"
	"coalesce/solvers/csg/problem"
)

// MaxAgents is the most agents: splittings are numbered in 32 bits.
const MaxAgents = 32

// Solve solves an instance by DP or IDP on a number of cores. It returns an optimal structure and its
// value in the instance's type, in decimals. It calls report with the share of the work done, 0 to 1.
func Solve(ctx context.Context, inst *problem.Instance, m reference.Method, workers int, report func(share float64)) (problem.Structure, string, error) {
	switch inst.Type {
	case problem.Int32:
		return solve(ctx, inst.I32, m, workers, report)
	case problem.Int64:
		return solve(ctx, inst.I64, m, workers, report)
	case problem.Float32:
		return solve(ctx, inst.F32, m, workers, report)
	}
	return solve(ctx, inst.F64, m, workers, report)
}

func solve[T problem.Number](ctx context.Context, v []T, m reference.Method, workers int, report func(share float64)) (problem.Structure, string, error) {
	f := slices.Clone(v)
	if err := raiseTable(ctx, f, m == reference.IDP, workers, report); err != nil {
		return nil, "", err
	}
	return reference.Restore(v, f, uint64(len(f)-1)), problem.FormatNumber(f[len(f)-1]), nil
}

// raiseTable raises the values f of all coalitions, stored by their numbers, to the values of their best
// partitions. It evaluates every splitting, or those of IDP alone, one size of coalitions after the
// other, on a number of cores. It calls report with the share of the work done, 0 to 1; ctx ends it.
func raiseTable[T device.Number](ctx context.Context, f []T, idp bool, workers int, report func(share float64)) error {
	n := bits.Len(uint(len(f) - 1))
	work := make([]float64, n+1)
	all, done := 0.0, 0.0
	for size := 2; size <= n; size++ {
		work[size] = float64(levels.Binomial(n, size)) * float64(uint64(1)<<(size-1)-1)
		if low, high := levels.IDPSizes(n, size); idp && low > high {
			work[size] = 0
		}
		all += work[size]
	}
	for size := 2; size <= n; size++ {
		low, high := 1, size/2
		if idp {
			low, high = levels.IDPSizes(n, size)
		}
		if low > high {
			continue
		}
		var list []uint32 // nil: all below 2^(size-1)
		if low > 1 {
			list = levels.IDPSplittings(size, low)
		}
		count := levels.Binomial(n, size)
		piece := max(1, min(256, int64(1)<<24>>size)) // coalitions that a core takes between two looks at ctx
		var next atomic.Int64
		var wait sync.WaitGroup
		for range workers {
			wait.Go(func() {
				parts := new(deposits)
				for ctx.Err() == nil {
					from := (next.Add(1) - 1) * piece
					if from >= count {
						return
					}
					c := levels.Unrank(from, size)
					for range min(piece, count-from) {
						parts.of(c, size)
						f[c] = bestOf(parts, f, c, list)
						c = levels.NextSet(c)
					}
				}
			})
		}
		wait.Wait()
		if err := ctx.Err(); err != nil {
			return err
		}
		done += work[size]
		report(done / all)
	}
	return nil
}

// deposits maps the number of a part of a coalition, whose bits stand for the coalition's members in
// order, to the part (initialSplit of GPU-CSG), by two look-ups.
type deposits struct {
	low, high [1 << 16]uint64
	bits      int // of low
	size      int
}

// of sets the tables for a coalition.
func (d *deposits) of(c uint64, size int) {
	d.size, d.bits = size, (size+1)/2
	for k := range size {
		member := c & -c
		c ^= member
		to, at := &d.low, k
		if k >= d.bits {
			to, at = &d.high, k-d.bits
		}
		for i := range 1 << at {
			to[1<<at|i] = to[i] | member
		}
	}
}

// bestOf is the largest of f(c) and the values of c's splittings: those whose parts a list numbers,
// or where the list is nil all splittings, each by its part without the highest member.
func bestOf[T device.Number](d *deposits, f []T, c uint64, list []uint32) T {
	best := f[c]
	if list == nil {
		from := 1 // number 0 is no part
		for _, h := range d.high[:1<<(d.size-1)>>d.bits] {
			rest := c ^ h
			for _, l := range d.low[from : 1<<d.bits] {
				if x := f[h|l] + f[rest^l]; x > best {
					best = x
				}
			}
			from = 0
		}
		return best
	}
	mask := uint32(1)<<d.bits - 1
	for _, number := range list {
		part := d.low[number&mask] | d.high[number>>d.bits]
		if x := f[part] + f[c^part]; x > best {
			best = x
		}
	}
	return best
}
