package assignment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/runtime/host"
	"coalesce/solvers/assignment/internal/crouse"
	"coalesce/solvers/assignment/internal/paths"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// matchOf is Match for an instance.
func matchOf(q *QuickSolver, inst *problem.Instance, column []int32) (Matching, error) {
	s := Shape{inst.Rows, inst.Cols}
	switch inst.Type {
	case problem.Int32:
		return Match(q, s, inst.I32, inst.Maximize, column)
	case problem.Int64:
		return Match(q, s, inst.I64, inst.Maximize, column)
	case problem.Float32:
		return Match(q, s, inst.F32, inst.Maximize, column)
	}
	return Match(q, s, inst.F64, inst.Maximize, column)
}

// Match finds what the reference finds, and a batch what Match finds.
func TestMatch(t *testing.T) {
	d := host.Open(1)
	defer d.Close()
	r := rand.New(rand.NewPCG(7, 1))
	var q QuickSolver
	for round := range 400 {
		l := span{Layout{Type: []problem.Value{problem.Int32, problem.Int64, problem.Float32, problem.Float64}[r.IntN(4)], Count: 3, Rows: r.IntN(12), Cols: r.IntN(12),
			Maximize: r.IntN(2) == 1}, -float64(r.IntN(20)), math.Pow(10, float64(r.IntN(5)))}
		if round%50 == 0 {
			l.Rows, l.Cols = 1+r.IntN(150), 1+r.IntN(150)
		}
		list := uniform(t, r, l, []float64{0, 0, 0.1, 0.4, 0.7}[round%5])
		var all problem.Instance
		all.Type = l.Type
		columns, found := make([]int32, 3*l.Rows), make([]Matching, 3)
		var single []Matching
		for _, inst := range list {
			column := make([]int32, l.Rows)
			m, err := matchOf(&q, inst, column)
			want, failed := Solve(context.Background(), inst, on(Options{Settings: solve.Settings{Algorithm: "reference"}}, d))
			if errors.Is(failed, solve.ErrInfeasible) != errors.Is(err, solve.ErrInfeasible) {
				t.Fatalf("round %d, %+v: found %v, expected %v", round, l, err, failed)
			}
			if failed == nil && (err != nil || !m.Proven || m.Gap != 0 || m.Value != want.Value.Float() || m.Matched != want.Matched) {
				t.Fatalf("round %d, %+v: found %+v, %v, expected %s", round, l, m, err, want.Value)
			}
			if failed == nil {
				if sum, n := sumOf(inst, column); n != m.Matched || formatValue(sum, inst.Type.Integer()) != want.Value {
					t.Fatalf("round %d, %+v: the columns' costs add up to %v, expected %s", round, l, sum, want.Value)
				}
			}
			single = append(single, m)
			all.I32, all.I64, all.F32, all.F64 = append(all.I32, inst.I32...), append(all.I64, inst.I64...), append(all.F32, inst.F32...), append(all.F64, inst.F64...)
		}
		shapes := []Shape{{l.Rows, l.Cols}}
		if round%2 == 1 {
			shapes = slices.Repeat(shapes, 3)
		}
		var err error
		switch l.Type {
		case problem.Int32:
			err = MatchBatch(shapes, all.I32, l.Maximize, AnyTies, round%3, columns, found)
		case problem.Int64:
			err = MatchBatch(shapes, all.I64, l.Maximize, AnyTies, round%3, columns, found)
		case problem.Float32:
			err = MatchBatch(shapes, all.F32, l.Maximize, AnyTies, round%3, columns, found)
		default:
			err = MatchBatch(shapes, all.F64, l.Maximize, AnyTies, round%3, columns, found)
		}
		if err != nil || !slices.Equal(found, single) {
			t.Fatalf("round %d, %+v: found %+v, %v, expected %+v", round, l, found, err, single)
		}
	}
}

// With SciPyTies Match gives SciPy's matching of few different costs, for one best matching the same as without, and never a worse one.
func TestMatchAsSciPy(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	whichever, same := QuickSolver{}, QuickSolver{Ties: SciPyTies}
	var scipy crouse.Matcher
	for round := range 300 {
		s := Shape{1 + r.IntN(20), 1 + r.IntN(20)}
		if round%30 == 0 || round%6 == 3 {
			s = Shape{1 + r.IntN(100), 1 + r.IntN(100)}
		}
		costs, maximize := make([]float64, s.Rows*s.Cols), r.IntN(2) == 1
		for k := range costs {
			if costs[k] = float64(r.IntN(5)); round%6 == 3 && r.IntN(40) > 0 {
				costs[k] = 4 // nearly all
			} else if round%3 == 1 {
				costs[k] = r.Float64()
			} else if round%3 == 2 {
				costs[k] = math.Ldexp(costs[k], r.IntN(200)) // SciPy's sums are rounded
			}
		}
		var found [3][]int32
		for k := range found {
			found[k] = make([]int32, s.Rows)
		}
		expected, err := Match(&whichever, s, costs, maximize, found[0])
		m, failed := Match(&same, s, costs, maximize, found[1])
		if err != nil || failed != nil || m != expected || !crouse.Match(&scipy, s.Rows, s.Cols, costs, maximize, found[2]) {
			t.Fatalf("round %d: found %+v, %v, expected %+v, %v", round, m, failed, expected, err)
		}
		if want := found[2-round%3%2*2]; round%3 < 2 && !slices.Equal(found[1], want) {
			t.Fatalf("round %d: found the columns %v, expected %v", round, found[1], want)
		}
		inst := &problem.Instance{Rows: s.Rows, Cols: s.Cols, Type: problem.Float64, F64: costs, Maximize: maximize}
		if sum, _ := sumOf(inst, found[1]); sum.Cmp(firstOf(sumOf(inst, found[0]))) != 0 {
			t.Fatalf("round %d: found another sum, %v", round, sum)
		}
	}
}

func firstOf(sum *big.Float, _ int) *big.Float { return sum }

func TestMatchRefuses(t *testing.T) {
	var q QuickSolver
	for _, x := range []float64{math.NaN(), math.Inf(-1)} {
		for n := 1; n < 90; n += 11 {
			costs := make([]float64, n*n)
			costs[n*n/2] = x
			if _, err := Match(&q, Shape{n, n}, costs, false, make([]int32, n)); !errors.Is(err, problem.ErrCost) {
				t.Errorf("%d rows, a cost of %v: found %v, expected an error of costs", n, x, err)
			}
		}
	}
	if _, err := Match(&q, Shape{2, 2}, []int32{1, 2, 3}, false, make([]int32, 2)); !errors.Is(err, solve.ErrInput) {
		t.Errorf("3 of 4 costs: found %v, expected an error of input", err)
	}
	if err := MatchBatch([]Shape{{1, 1}, {2, 1}}, []int32{1, 2, 3, 4}, false, AnyTies, 1, make([]int32, 3), make([]Matching, 2)); !errors.Is(err, solve.ErrInput) {
		t.Errorf("4 of 3 costs: found %v, expected an error of input", err)
	}
}

// Match is exact for costs of any range, and mostly decides by itself.
func TestMatchOfWideFloats(t *testing.T) {
	var q QuickSolver
	for kind, draw := range wideKinds {
		decided, tries := 0, 60
		for try := range tries {
			r := rand.New(rand.NewPCG(uint64(try), 11))
			rows, cols := 1+r.IntN(9), 1+r.IntN(9)
			switch try % 4 {
			case 0:
				cols = rows
			case 1:
				rows, cols = 12+r.IntN(12), 12+r.IntN(24)
			}
			cost := draw(r)
			inst := &problem.Instance{Rows: rows, Cols: cols, Type: problem.Float64, F64: make([]float64, rows*cols), Maximize: r.IntN(3) == 0}
			for k := range inst.F64 {
				if inst.F64[k] = cost(k/cols, k%cols); inst.Maximize {
					inst.F64[k] = -inst.F64[k]
				}
			}
			column := make([]int32, rows)
			if _, ok := paths.Match(&q.matcher, rows, cols, inst.F64, inst.Maximize, column); ok {
				decided++
			}
			m, err := matchOf(&q, inst, column)
			isOptimal(t, fmt.Sprintf("%s, try %d, %d x %d", kind, try, rows, cols), inst, column, nil, err)
			if err != nil {
				continue
			}
			if sum, _ := sumOf(inst, column); !m.Proven || m.Gap != 0 {
				t.Errorf("%s, try %d: found %+v, expected it proven", kind, try, m)
			} else if want, _ := sum.Float64(); m.Value != want {
				t.Errorf("%s, try %d: found the value %v, expected %v", kind, try, m.Value, want)
			}
		}
		t.Logf("%s: %d of %d by the kernels alone", kind, decided, tries)
		if kind == "uniform" && decided < tries {
			t.Errorf("%s: %d of %d by the kernels alone", kind, decided, tries)
		}
	}
}

// Match is exact for matrices of all kinds, types and shapes: small ones against big integers, larger ones, of integers, against the paths over int64s.
func TestMatchOfAllKinds(t *testing.T) {
	const rounds = 300
	r := rand.New(rand.NewPCG(20, 26))
	var q, plain QuickSolver
	for round := range rounds {
		kind, rows, cols := round%8, 1+r.IntN(8), 1+r.IntN(8)
		switch r.IntN(6) {
		case 0:
			rows = 1
		case 1:
			cols = 1
		case 2, 3:
			cols = rows
		}
		large := round%15 == 14
		if large {
			kind = []int{0, 1, 2, 3, 5, 6}[r.IntN(6)]
			rows = 60 + r.IntN(80)
			if round%60 == 59 {
				rows = 400 + r.IntN(30)
			}
			if cols = rows; round%60 == 29 {
				cols = 1 + r.IntN(rows)
			}
		}
		inst := &problem.Instance{Rows: rows, Cols: cols, Maximize: r.IntN(3) == 0}
		x := make([]float64, rows*cols)
		for k := range x {
			switch kind {
			case 0: // ties
				x[k] = float64(r.IntN(4))
			case 1:
				x[k] = float64(r.IntN(1<<20) - 1<<19)
			case 2: // most pairs forbidden
				if x[k] = float64(r.IntN(100)); r.IntN(100) >= 3 && (k/cols%cols != k%cols || round%7 == 0) {
					x[k] = math.Inf(1)
				}
			case 3: // nearly all the same
				if x[k] = 50; r.IntN(15) == 0 {
					x[k] = float64(r.IntN(100))
				}
			case 4: // any magnitude
				x[k] = math.Ldexp(r.NormFloat64(), r.IntN(1900)-950)
			case 5: // the ends of int32
				x[k] = float64(r.IntN(1<<32-1)) + math.MinInt32
			case 6: // a half of the pairs forbidden
				if x[k] = float64(r.IntN(1000) - 500); r.IntN(2) == 0 {
					x[k] = math.Inf(1)
				}
			default:
				x[k] = 1/float64(1+r.IntN(3)) + float64(r.IntN(3))*0x1p-52
			}
		}
		switch kind := (round / 8) % 4; {
		case kind < 2 && round%8 != 4 && round%8 != 7 || large && kind < 2:
			problem.SetCosts(inst, make([]int32, len(x)))
			for k, c := range x {
				if inst.I32[k] = math.MaxInt32; !math.IsInf(c, 1) {
					inst.I32[k] = int32(c)
				}
			}
		case kind == 2 && round%8 != 4:
			problem.SetCosts(inst, make([]float32, len(x)))
			for k, c := range x {
				if inst.F32[k] = float32(c); inst.Maximize && math.IsInf(c, 1) {
					inst.F32[k] = -inst.F32[k]
				}
			}
		default:
			problem.SetCosts(inst, x)
			for k, c := range x {
				if inst.Maximize && math.IsInf(c, 1) {
					x[k] = -c
				}
			}
		}
		column := make([]int32, rows)
		m, err := matchOf(&q, inst, column)
		what := fmt.Sprintf("round %d, kind %d, %s, %d x %d", round, kind, inst.Type, rows, cols)
		if !large {
			isOptimal(t, what, inst, column, nil, err)
			if _, full := best(inst); full == errors.Is(err, solve.ErrInfeasible) {
				t.Errorf("%s: found %v, a full matching: %t", what, err, full)
			}
		} else {
			want, _, _, found, failed := plain.solve(inst)
			if found {
				if sum, n := sumOf(inst, want); err != nil || m.Matched != n || sum.Cmp(firstOf(sumOf(inst, column))) != 0 {
					t.Errorf("%s: found %+v, %v, expected %v", what, m, err, sum)
				}
			} else if failed == nil && !errors.Is(err, solve.ErrInfeasible) {
				t.Errorf("%s: found %+v, %v, expected no full matching", what, m, err)
			}
		}
		if err == nil && (!m.Proven || m.Gap != 0) {
			t.Errorf("%s: found %+v, expected it proven", what, m)
		}
	}
}

// FuzzMatch compares with the optimum in big integers.
func FuzzMatch(f *testing.F) {
	f.Add(uint8(3), uint8(4), uint8(0), []byte("0123456789abcdefghijklmnopqrstuvwxyz"))
	f.Add(uint8(12), uint8(12), uint8(7), []byte{1, 0, 0, 0, 255, 255, 255, 127})
	f.Add(uint8(20), uint8(14), uint8(2), []byte{0, 0, 0, 0, 0, 0, 240, 127, 1, 2})
	var q QuickSolver
	f.Fuzz(func(t *testing.T, rows, cols, kind uint8, data []byte) {
		inst := &problem.Instance{Rows: 1 + int(rows)%24, Cols: 1 + int(cols)%24, Maximize: kind&4 > 0}
		n := inst.Rows * inst.Cols
		if len(data) == 0 {
			return
		}
		word := func(k int) (x uint64) {
			for b := range 8 {
				x = x<<8 | uint64(data[(8*k+b)%len(data)])
			}
			return x ^ uint64(k)*uint64(kind>>3)
		}
		switch kind & 3 {
		case 0:
			problem.SetCosts(inst, make([]int32, n))
			for k := range n {
				inst.I32[k] = int32(word(k))
			}
		case 1:
			problem.SetCosts(inst, make([]int64, n))
			for k := range n {
				inst.I64[k] = int64(word(k))
			}
		case 2:
			problem.SetCosts(inst, make([]float32, n))
			for k := range n {
				inst.F32[k] = math.Float32frombits(uint32(word(k)))
			}
		default:
			problem.SetCosts(inst, make([]float64, n))
			for k := range n {
				inst.F64[k] = math.Float64frombits(word(k))
			}
		}
		column := make([]int32, inst.Rows)
		m, err := matchOf(&q, inst, column)
		if errors.Is(err, problem.ErrCost) {
			return
		}
		isOptimal(t, fmt.Sprintf("%+v", m), inst, column, nil, err)
	})
}

func BenchmarkMatch(b *testing.B) {
	for _, s := range []Shape{{2, 2}, {3, 3}, {5, 5}, {8, 8}, {10, 10}, {12, 12}, {16, 16}, {20, 20}, {30, 30}, {50, 50}, {100, 100}, {200, 200}, {50, 200}, {200, 2000}, {2000, 200}} {
		costs, column := make([]float64, s.Rows*s.Cols), make([]int32, s.Rows)
		r := rand.New(rand.NewPCG(1, 1))
		for i := range costs {
			costs[i] = r.Float64()
		}
		b.Run(fmt.Sprintf("%dx%d", s.Rows, s.Cols), func(b *testing.B) {
			var q QuickSolver
			for b.Loop() {
				if _, err := Match(&q, s, costs, false, column); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
