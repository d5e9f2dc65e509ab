package ranking

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"coalesce/solvers/csg/internal/reference"
	"coalesce/solvers/csg/problem"
)

// Best returns the k best structures of some of an instance's agents by a table of the values of
// all coalitions' best partitions, the best first.
func Best(ctx context.Context, inst, cover *problem.Instance, coalition uint64, k int) ([]RankedStructure, error) {
	if err := checkTable(inst, cover, coalition); err != nil {
		return nil, err
	}
	if err := checkBest(inst, cover, Restore(inst, cover, coalition), coalition); err != nil {
		return nil, err
	}
	a := query{coalition, k, inst.Sizes, cover.Sizes}
	switch inst.Type {
	case problem.Int32:
		return searchBest[int32, int64](ctx, inst.I32, cover.I32, a)
	case problem.Int64:
		return searchBest[int64, int64](ctx, inst.I64, cover.I64, a)
	case problem.Float32:
		return searchBest[float32, float64](ctx, inst.F32, cover.F32, a)
	}
	return searchBest[float64, float64](ctx, inst.F64, cover.F64, a)
}

// Restore rebuilds a best structure of a coalition.
func Restore(inst, cover *problem.Instance, coalition uint64) problem.Structure {
	switch inst.Type {
	case problem.Int32:
		return reference.Restore(inst.I32, cover.I32, coalition)
	case problem.Int64:
		return reference.Restore(inst.I64, cover.I64, coalition)
	case problem.Float32:
		return reference.Restore(inst.F32, cover.F32, coalition)
	}
	return reference.Restore(inst.F64, cover.F64, coalition)
}

// checkTable returns an error where a table cannot be the superadditive cover of an instance: where it
// has another shape, or a value below that of some structure.
func checkTable(inst, cover *problem.Instance, coalition uint64) error {
	for _, x := range []*problem.Instance{inst, cover} {
		if err := x.Check(); err != nil {
			return err
		}
	}
	switch {
	case inst.N != cover.N || inst.Type != cover.Type:
		return fmt.Errorf("%w: found a table of %d agents as %s, the instance has %d as %s", problem.ErrCheck, cover.N, cover.Type, inst.N, inst.Type)
	case cover.Sizes != inst.Sizes.ReachableSums():
		return fmt.Errorf("%w: found a table of coalitions of sizes %q, the instance's blocks add up to %q", problem.ErrCheck, cover.Sizes, inst.Sizes.ReachableSums())
	}
	below, found := uint64(0), false
	switch inst.Type {
	case problem.Int32:
		below, found = notAbove(inst.I32, cover.I32, cover.Sizes)
	case problem.Int64:
		below, found = notAbove(inst.I64, cover.I64, cover.Sizes)
	case problem.Float32:
		below, found = notAbove(inst.F32, cover.F32, cover.Sizes)
	default:
		below, found = notAbove(inst.F64, cover.F64, cover.Sizes)
	}
	if found {
		return fmt.Errorf("%w: the table's value of %s, %s, is below that of a structure", problem.ErrCheck, inst.Coalition(below), cover.ValueDecimals(below))
	}
	return nil
}

// notAbove looks for a coalition S with f(S) < v(S), or with f(S) < f({i}) + f(S without i), where
// i is the first agent of S. Coalitions of other sizes are passed over.
func notAbove[T problem.Number](v, f []T, sizes problem.Sizes) (uint64, bool) {
	worst := make([]uint64, problem.ParallelRanges(uint64(len(v))))
	problem.InParallel(uint64(len(v)), func(part int, from, to uint64) {
		for c := max(1, from); c < to; c++ {
			if first := c & -c; sizes.Allows(c) && (f[c] < v[c] || first != c && f[c] < f[first]+f[c^first]) {
				worst[part] = c
				return
			}
		}
	})
	for _, c := range worst {
		if c != 0 {
			return c, true
		}
	}
	return 0, false
}

// checkBest compares the sum of a structure's blocks with the table's value of the coalition that they
// cover.
func checkBest(inst, cover *problem.Instance, s problem.Structure, coalition uint64) error {
	sum, magnitude := problem.NewExact(), 0.0
	for _, b := range s {
		x := problem.ExactValue(inst, b)
		if x == nil {
			if problem.ExactValue(cover, coalition) == nil {
				return nil // every structure of these agents has a forbidden block
			}
			return fmt.Errorf("%w: the table's value of %s, %s, is that of no structure", problem.ErrCheck, inst.Coalition(coalition), cover.ValueDecimals(coalition))
		}
		sum.Add(sum, x)
		magnitude += math.Abs(inst.Value64(b))
	}
	claimed := problem.ExactValue(cover, coalition)
	if claimed == nil {
		return fmt.Errorf("%w: the table forbids %s, whose value is %s", problem.ErrCheck, inst.Coalition(coalition), inst.Decimal(sum))
	}
	off := new(big.Float).Sub(sum, claimed)
	if off.Abs(off).Cmp(big.NewFloat(problem.Tolerance(inst.Type, len(s), magnitude))) > 0 {
		return fmt.Errorf("%w: the table's value of %s is %s, its best blocks add up to %s", problem.ErrCheck, inst.Coalition(coalition), cover.ValueDecimals(coalition), inst.Decimal(sum))
	}
	return nil
}
