package assignment

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"coalesce/runtime/collective/collectivetest"
	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
	"coalesce/solvers/solve/inputtest"
)

// filled is an instance as a program fills it.
func filled(r *rand.Rand) *Instance {
	inst := &Instance{Rows: r.IntN(5), Cols: r.IntN(5), Source: "by hand", Maximize: r.IntN(2) == 0}
	count := inst.Rows * inst.Cols
	switch r.IntN(6) {
	case 0:
		inst.Sparse, count = &Sparse{Start: []int64{0}}, 0
		for range inst.Rows {
			for j := range inst.Cols {
				if r.IntN(3) > 0 {
					inst.Sparse.Col = append(inst.Sparse.Col, int32(j))
					count++
				}
			}
			inst.Sparse.Start = append(inst.Sparse.Start, int64(count))
		}
	case 1:
		inst.Type = Float64
		inst.Points = &Points{Dim: 2, Row: coordinates(r, 2*inst.Rows), Col: coordinates(r, 2*inst.Cols), Metric: Manhattan}
		return inst
	}
	costs := coordinates(r, count)
	switch r.IntN(4) {
	case 0:
		problem.SetCosts(inst, as[int32](costs))
	case 1:
		problem.SetCosts(inst, as[int64](costs))
	case 2:
		problem.SetCosts(inst, as[float32](costs))
	default:
		problem.SetCosts(inst, costs)
	}
	if r.IntN(4) == 0 {
		inst.Limit = new(float64)
		*inst.Limit = float64(r.IntN(20))
	}
	if r.IntN(4) == 0 {
		inst.RowNames = []string{"a", "b", "c", "d"}[:inst.Rows]
	}
	return inst
}

func coordinates(r *rand.Rand, n int) []float64 {
	list := make([]float64, n)
	for k := range list {
		list[k] = float64(r.IntN(41) - 15)
	}
	return list
}

func as[T Number](list []float64) []T {
	out := make([]T, len(list))
	for k, x := range list {
		out[k] = T(x)
	}
	return out
}

// Instances and options that a program fills, rightly and wrongly, are solved for what they say, or refused
// with an error that names the field. No error says that the solver is wrong.
func TestFilledInstances(t *testing.T) {
	d := host.Open(2)
	defer d.Close()
	r := rand.New(rand.NewPCG(10, 7))
	solved, refused := 0, 0
	for range 2000 {
		inst := filled(r)
		o := on(Options{Duals: true}, d)
		o.Algorithm = []string{"", "", "host", "sequential-tree", "reference"}[r.IntN(5)]
		if r.IntN(4) == 0 {
			o.Start = &Duals{U: make([]int64, inst.Rows), V: make([]int64, inst.Cols), Scale: 1}
		}
		var how []string
		for range r.IntN(3) {
			if r.IntN(4) == 0 {
				how = append(how, inputtest.Spoil(r, &o))
			} else {
				how = append(how, inputtest.Spoil(r, inst))
			}
		}
		o.Log, o.Progress = nil, nil
		if o.TimeLimit > 0 {
			o.TimeLimit = time.Minute
		}
		wide := slices.ContainsFunc(how, func(text string) bool { return inst.Check() == nil && largest(inst) > 1e12 })
		var answer *Result
		for name, work := range map[string]func() error{
			"Solve":      func() (err error) { answer, err = Solve(t.Context(), inst, o); return err },
			"Batch":      func() error { _, err := SolveBatch(t.Context(), []*Instance{inst, inst}, o); return err },
			"Bottleneck": func() error { _, err := Solve(t.Context(), inst, bottlenecks(o)); return err },
			"Ranking":    func() error { o := o; o.KBest = 3; _, err := Solve(t.Context(), inst, o); return err },
			"Quick":      func() error { _, _, _, _, err := new(Quick).Solve(inst); return err },
			"Verify":     func() error { _, err := Verify(inst, []byte(`{"problem":"assignment"}`), nil); return err },
		} {
			panicked, err := inputtest.Call(work)
			switch {
			case panicked != nil:
				t.Fatalf("%s of %v: panic: %v", name, how, panicked)
			case errors.Is(err, ErrCheck):
				t.Errorf("%s of %v: %v", name, how, err)
			case err == nil || errors.Is(err, solve.ErrInfeasible) || errors.Is(err, ErrCost) || errors.Is(err, device.ErrMemory):
			case !errors.Is(err, solve.ErrInput) || !inputtest.Names(err.Error(), problem.Instance{}, o):
				t.Errorf("%s of %v: found the error %v, expected one that names a field", name, how, err)
			default:
				refused++
			}
		}
		if answer == nil || wide {
			continue
		}
		solved++
		text, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := Verify(inst, text, nil); err != nil || v.Err() != nil {
			t.Errorf("%v: verify says %v, %+v", how, err, v)
		}
		if o.Bottleneck {
			continue // other tests know its value
		}
		if want, got := bestOf(inst), answer.Value.Float(); answer.Column == nil && !math.IsNaN(want) || answer.Column != nil && inst.Limit == nil && math.Abs(got-want) > 1e-6*math.Abs(want) {
			t.Errorf("%v: found %v, expected %v", how, got, want)
		}
	}
	if solved < 300 || refused < 300 {
		t.Errorf("%d instances were solved and %d calls refused, expected more", solved, refused)
	}
	for name, work := range map[string]func() error{
		"Solve":      func() error { _, err := Solve(t.Context(), nil, on(Options{}, d)); return err },
		"Load":       func() error { _, err := loaded(nil, on(Options{}, d)); return err },
		"no device":  func() error { _, err := Solve(t.Context(), filled(r), Options{}); return err },
		"a nil one":  func() error { _, err := Solve(t.Context(), filled(r), on(Options{}, nil)); return err },
		"Batch":      func() error { _, err := SolveBatch(t.Context(), []*Instance{nil}, on(Options{}, d)); return err },
		"Bottleneck": func() error { _, err := Solve(t.Context(), nil, Options{Bottleneck: true}); return err },
		"k < 0":      func() error { _, err := Solve(t.Context(), filled(r), on(Options{KBest: -1}, d)); return err },
		"k on ranks": func() error {
			_, err := Solve(t.Context(), filled(r), on(Options{KBest: 2, Settings: solve.Settings{Ranks: collectivetest.Ranks(2)[0]}}, d))
			return err
		},
		"both": func() error {
			_, err := Solve(t.Context(), filled(r), on(Options{KBest: 2, Bottleneck: true}, d))
			return err
		},
		"duals": func() error {
			_, err := Solve(t.Context(), filled(r), on(Options{Duals: true, Bottleneck: true}, d))
			return err
		},
		"no algorithm": func() error {
			_, err := Solve(t.Context(), filled(r), on(Options{Settings: solve.Settings{Algorithm: "x"}}, d))
			return err
		},
		"a batch": func() error {
			_, err := OpenBatch(t.Context(), []*Instance{filled(r)}, on(Options{KBest: 2}, d))
			return err
		},
		"lent": func() error {
			_, err := OpenResident(t.Context(), Layout{Type: Int32, Count: 1, Rows: 1, Cols: 1}, on(Options{Bottleneck: true}, d))
			return err
		},
		"Quick":     func() error { _, _, _, _, err := new(Quick).Solve(nil); return err },
		"Verify":    func() error { _, err := Verify(nil, []byte(`{"problem":"assignment"}`), nil); return err },
		"Check":     func() error { _, err := Check(nil, nil, Duals{}); return err },
		"CheckHall": func() error { _, err := CheckHall(nil, nil); return err },
		"Worst":     func() error { _, _, err := CheckBottleneck(nil, nil, nil); return err },
		"NewInstance": func() error {
			_, err := NewInstance(-1, 2, []int32{1}, "")
			return err
		},
		"costs":    func() error { _, err := NewInstance(2, 2, []int32{1}, ""); return err },
		"points":   func() error { _, err := NewPoints(Points{Dim: -1, Metric: Euclidean}, ""); return err },
		"metric":   func() error { _, err := NewPoints(Points{Dim: 1}, ""); return err },
		"Draw":     func() error { _, err := Draw(Drawing{Kind: "x"}); return err },
		"Generate": func() error { _, err := Generate("uniform", -1, 2, 9, 1, Int32); return err },
		"WriteNPY": func() error { return WriteNPY(&bytes.Buffer{}, nil) },
		"market":   func() error { return WriteMarket(&bytes.Buffer{}, nil) },
		"layout": func() error {
			_, err := OpenResident(t.Context(), Layout{Type: Int32, Count: -1}, on(Options{}, d))
			return err
		},
	} {
		if panicked, err := inputtest.Call(work); panicked != nil || !errors.Is(err, solve.ErrInput) {
			t.Errorf("%s: found %v, %v, expected an error of the input", name, err, panicked)
		}
	}
}

// bottlenecks are options without those that are for sums of costs.
func bottlenecks(o Options) Options {
	o.Bottleneck, o.KBest, o.Duals, o.Start, o.Algorithm, o.Variant, o.Ranks = true, 0, false, nil, "", "", nil
	return o
}

// largest is the largest cost in magnitude, and the limit.
func largest(inst *Instance) float64 {
	most := 0.0
	for _, list := range [][]float64{as64(inst.I32), as64(inst.I64), as64(inst.F32), inst.F64} {
		for _, c := range list {
			most = max(most, math.Abs(c))
		}
	}
	if inst.Points != nil {
		for _, c := range slices.Concat(inst.Points.Row, inst.Points.Col) {
			most = max(most, math.Abs(c))
		}
	}
	return most
}

func as64[T Number](list []T) []float64 {
	out := make([]float64, len(list))
	for k, x := range list {
		out[k] = float64(x)
	}
	return out
}

// bestOf is the best value of a full matching, by all of them; NaN where there is none.
func bestOf(inst *Instance) float64 {
	best, sign := math.Inf(1), 1.0
	if inst.Maximize {
		sign = -1
	}
	taken := make([]bool, inst.Cols)
	var place func(i, matched int, sum float64)
	place = func(i, matched int, sum float64) {
		if matched+inst.Rows-i < min(inst.Rows, inst.Cols) {
			return
		}
		if i == inst.Rows {
			best = min(best, sum)
			return
		}
		if inst.Rows > inst.Cols {
			place(i+1, matched, sum)
		}
		for j := range inst.Cols {
			if !taken[j] && inst.Allowed(i, j) {
				taken[j] = true
				place(i+1, matched+1, sum+sign*inst.Float(i, j))
				taken[j] = false
			}
		}
	}
	place(0, 0, 0)
	if math.IsInf(best, 1) {
		return math.NaN()
	}
	return sign * best
}
