package assignment

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// sums lists the exact objectives of all matchings of an instance of at most as many rows as
// columns, ascending, negated where it maximises.
func sums(inst *problem.Instance) []*big.Int {
	var list []*big.Int
	column := slices.Repeat([]int32{-1}, inst.Rows)
	taken := make([]bool, inst.Cols)
	var row func(i int)
	row = func(i int) {
		if i == inst.Rows {
			list = append(list, exactSum(inst, column))
			return
		}
		for j := range taken {
			if !taken[j] && inst.Allowed(i, j) {
				taken[j], column[i] = true, int32(j)
				row(i + 1)
				taken[j], column[i] = false, -1
			}
		}
		if inst.Limit != nil {
			row(i + 1)
		}
	}
	row(0)
	slices.SortFunc(list, (*big.Int).Cmp)
	return list
}

// Rankings of costs of any range are those of exact sums.
func TestRankWideFloats(t *testing.T) {
	d := host.Open(0)
	o := Options{Settings: solve.Settings{Devices: []device.Device{d}}, KBest: 7}
	for _, kind := range slices.Sorted(maps.Keys(wideKinds)) {
		for try := range 12 {
			r := rand.New(rand.NewPCG(uint64(try), 11))
			rows := 1 + r.IntN(4)
			inst := wideInstance(r, kind, rows, rows+r.IntN(2))
			want := sums(inst)
			what := fmt.Sprintf("%s, try %d", kind, try)
			got, err := Solve(context.Background(), inst, o)
			if len(want) == 0 {
				if err == nil {
					t.Errorf("%s: found %d matchings, expected none", what, len(got.Best))
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", what, err)
				continue
			}
			if len(got.Best) != min(7, len(want)) {
				t.Errorf("%s: found %d matchings of %d", what, len(got.Best), len(want))
				continue
			}
			seen := map[string]bool{}
			for k, m := range got.Best {
				if sum := exactSum(inst, m.Column); sum.Cmp(want[k]) != 0 {
					t.Errorf("%s: matching %d costs %s, expected %s (limit %v)", what, k, short(sum), short(want[k]), inst.Limit)
				}
				seen[fmt.Sprint(m.Column)] = true
			}
			if len(seen) != len(got.Best) {
				t.Errorf("%s: found %d different matchings of %d", what, len(seen), len(got.Best))
			}
		}
	}
}

// Integers up to the ends of their types are solved.
func TestWideIntegers(t *testing.T) {
	d := host.Open(0)
	o := Options{Settings: solve.Settings{Devices: []device.Device{d}}, Duals: true}
	ends := []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, 1 << 62, math.MaxInt64 - 1, math.MaxInt64}
	for try := range 300 {
		r := rand.New(rand.NewPCG(uint64(try), 5))
		rows, cols := 1+r.IntN(6), 1+r.IntN(6)
		inst := &problem.Instance{Rows: rows, Cols: cols, Type: problem.Int64, I64: make([]int64, rows*cols), Maximize: r.IntN(2) == 0, Every: r.IntN(2) == 0, Unsigned: r.IntN(3) == 0}
		for k := range inst.I64 {
			switch r.IntN(3) {
			case 0:
				inst.I64[k] = ends[r.IntN(len(ends))]
			case 1:
				inst.I64[k] = int64(r.Uint64())
			default:
				inst.I64[k] = r.Int64N(10)
			}
		}
		if r.IntN(3) == 0 {
			l := []float64{1e300, -1e300, 2.5, 1 << 62, math.Inf(1), 3}[r.IntN(6)]
			inst.Limit = &l
		}
		res, err := Solve(context.Background(), inst, o)
		var column []int32
		if res != nil {
			column = res.Column
		}
		if inst.Limit != nil && math.IsInf(*inst.Limit, 0) {
			far := 1e40 // the exact optimum needs a number
			inst.Limit = &far
		}
		isOptimal(t, fmt.Sprintf("try %d: %+v", try, inst), inst, column, res, err)
		var q QuickSolver
		if column, _, _, ok, err := q.Solve(inst); ok {
			isOptimal(t, fmt.Sprintf("try %d, small", try), inst, column, nil, err)
		}
	}
}
