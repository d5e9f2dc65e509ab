package tune

import (
	"context"
	"strconv"

	"coalesce/autotune/subject"
	"coalesce/runtime/device"
	"coalesce/solvers/algorithms"
	"coalesce/solvers/csg/internal/draw"
	"coalesce/solvers/csg/internal/plan"
	"coalesce/solvers/csg/internal/reference"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// kinds are the distributions that the algorithms are compared on: prices find much to leave out in
// some and little in others.
var kinds = [...]string{"uniform", "normal", "agent-based-uniform", "ndcs", "planted"}

// An Opener begins a session: what it returns solves instances, and ends the session.
type Opener func(solve.Settings) (solver func(context.Context, *problem.Instance) (*solve.Report, error), end func() error, err error)

// algorithmSubject compares the algorithms on values of all kinds.
func algorithmSubject(open Opener) subject.Subject {
	return algorithms.NewSubject(algorithms.Problem[*problem.Instance]{
		Family: plan.Table,
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
		Feasible: plan.CheckRunnable,
		Predicted: func(_ map[string]string, f device.Facts, n int) (*device.Variant, string) {
			return plan.Predict(f.Kind, n)
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
