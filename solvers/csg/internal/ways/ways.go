// Package ways chooses among the algorithms of coalition structures: it has their table, the
// prediction where nothing was measured, and the subject by which the tuner compares them.
package ways

import (
	"context"
	"fmt"
	"strconv"

	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/solvers/algorithms"
	"coalesce/solvers/csg/internal/draw"
	"coalesce/solvers/csg/internal/reference"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// Table lists the algorithms that a solve on one device may begin with. share is the part of
// the tiles' time that prices may take before the tiles get their turn.
var Table = algorithms.Family("csg/algorithm", []string{"algorithm", "share"},
	algorithms.Algorithm{Values: []string{"apart", "0"}, Kernels: &gencsg.Tiles},
	algorithms.Algorithm{Values: []string{"price", "0.05"}, Kernels: &gencsg.Price},
	algorithms.Algorithm{Values: []string{"price", "0.2"}, Kernels: &gencsg.Price},
	algorithms.Algorithm{Values: []string{"price", "1"}, Kernels: &gencsg.Price},
	algorithms.Algorithm{Values: []string{"dp", "0"}, Kernels: &gencsg.Splits},
	algorithms.Algorithm{Values: []string{"idp", "0"}, Kernels: &gencsg.Splits},
)

// From these numbers of agents on, searches by prices are quicker than tiles as a rule: pricesFrom
// beside a host's tiles, pricesFromGPU beside a GPU's, for which the host makes the search.
const (
	pricesFrom    = 20
	pricesFromGPU = 28
)

// predicted is the algorithm to begin with where nothing was measured.
func predicted(kind string, n int) (*device.Variant, string) {
	from := pricesFromGPU
	if kind == device.Host {
		from = pricesFrom
	}
	if n >= from {
		return Table.Variant("algorithm=price,share=0.2"), fmt.Sprintf("from %d agents on prices are quicker, as a rule", from)
	}
	return &Table.Variants[0], fmt.Sprintf("below %d agents tiles are quicker, as a rule", from)
}

// Share is an algorithm's share.
func (w Way) Share() float64 {
	x, err := strconv.ParseFloat(Table.Value(w.Variant, "share"), 64)
	if err != nil {
		panic(err) // Table has a share that is no number
	}
	return x
}

// A Way is an algorithm that was chosen; the zero value is none.
type Way struct{ tuned.Choice }

// Choose returns the algorithm to begin with for n agents, among those for which `runs` returns no
// error: the one that measurements on the device favour, else the predicted one. Values of all types
// share the measurements: times depend far more on the number of agents than on the type.
func Choose(o *solve.Settings, facts device.Facts, n int, runs func(v *device.Variant, f device.Facts, n int) error) (Way, error) {
	w := algorithms.Workload(map[string]string{}, n, func(n int) (*device.Variant, string) { return predicted(facts.Kind, n) })
	c, err := o.ChooseAlgorithm(Table, facts, w, func(v *device.Variant) error { return runs(v, facts, n) })
	return Way{c}, err
}

// Name is the name of the algorithm, empty for none.
func (w Way) Name() string {
	if w.Variant == nil {
		return ""
	}
	return Table.Value(w.Variant, "algorithm")
}

// Before is the text that a measured choice puts before the reason of the variant that runs.
func (w Way) Before(reason string) string { return algorithms.Before(Table, w.Choice, reason) }

// kinds are the distributions that the algorithms are compared on: prices find much to leave out in
// some and little in others.
var kinds = [...]string{"uniform", "normal", "agent-based-uniform", "ndcs", "planted"}

// Subject compares the algorithms on values of all kinds. open begins a session that solves
// instances.
func Subject(feasible func(v *device.Variant, f device.Facts, n int) error, open func(solve.Settings) (solver func(context.Context, *problem.Instance) (*solve.Report, error), end func() error, err error)) subject.Subject {
	return algorithms.Subject(algorithms.Problem[*problem.Instance]{
		Family: Table,
		Fixed:  []map[string]string{{}},
		Sizes: func(f device.Facts) []int {
			switch f.Kind {
			case device.CUDA:
				return []int{20, 24, 26, 28}
			case device.Host:
				return []int{14, 18, 20, 22}
			}
			return []int{8, 12}
		},
		Feasible: feasible,
		Predicted: func(_ map[string]string, f device.Facts, n int) (*device.Variant, string) {
			return predicted(f.Kind, n)
		},
		Small: []int{2, 5, 9},
		Draw: func(_ map[string]string, n, kind int, seed uint64) (*problem.Instance, error) {
			return draw.GenerateAs(kinds[kind], n, seed, problem.Int32)
		},
		Kinds:   len(kinds),
		Several: func(n int) int { return max(1, min(len(kinds), 1<<27>>n)) }, // half a GiB of values
		Reference: func(inst *problem.Instance) (solve.Number, error) {
			f, _ := reference.Table(inst.I32, reference.DP)
			return solve.Number(strconv.Itoa(int(f[len(f)-1]))), nil
		},
		Open: func(_ context.Context, inst *problem.Instance, s solve.Settings) (algorithms.Solver, error) {
			run, end, err := open(s)
			if err != nil {
				return algorithms.Solver{}, err
			}
			return algorithms.Solver{Close: end, Solve: func(ctx context.Context) (*solve.Report, error) { return run(ctx, inst) }}, nil
		},
		Work: func(inst *problem.Instance) float64 { return float64(uint64(1) << inst.N) },
	})
}
