package qubo

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/solvers/algorithms"
	"coalesce/solvers/qubo/internal/draw"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/internal/tempering"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// ways are the engines that a search on a GPU, or on the emulated device, may run. The parameter
// kernels names the kernels on the device, of which the portfolio may run either.
var ways = algorithms.NewFamily("qubo/algorithm", []string{"algorithm", "kernels"},
	algorithms.Algorithm{Values: []string{"host", "none"}},
	algorithms.Algorithm{Values: []string{"portfolio", "bulk"}, Kernels: &qubo.Bulk},
	algorithms.Algorithm{Values: []string{"portfolio", "temper"}, Kernels: &qubo.Temper},
	algorithms.Algorithm{Values: []string{"bulk", "bulk"}, Kernels: &qubo.Bulk},
	algorithms.Algorithm{Values: []string{"temper", "temper"}, Kernels: &qubo.Temper},
)

// Densities, by which engines differ most: sparse problems are those that suit qubo/temper.
const (
	sparse = "sparse"
	dense  = "dense"
)

// predicted is the engine to search with where nothing was measured.
func predicted(density string, f device.Facts) (*device.Variant, string) {
	switch {
	case f.Kind == device.Emulated:
		return ways.Variant("algorithm=bulk,kernels=bulk"), "tabu searches take problems of all densities"
	case density == sparse:
		return ways.Variant("algorithm=portfolio,kernels=temper"), "replica exchange is for sparse problems, and the host searches beside it"
	}
	return ways.Variant("algorithm=portfolio,kernels=bulk"), "tabu searches are for dense problems, and the host searches beside them"
}

// engineOf is the engine of one of ways.
func engineOf(v *device.Variant) engine {
	all := engines()
	e := all[slices.IndexFunc(all, func(e engine) bool { return e.name == ways.Value(v, "algorithm") })]
	if tempers := ways.Value(v, "kernels") == "temper"; e.name == "portfolio" {
		e.open = func(p *problem.Normal, o search.Setup) (search.OpenedEngine, error) { return openTeamOf(tempers, p, o) }
	}
	return e
}

// chooseEngine returns the engine to search p with: the plan's, unless the user leaves the choice open
// and measurements of problems like p favour another engine. The plan's engine stays on a host,
// which has no other, and under a limit on work, as flips of two engines are of different worth.
func (r *run) chooseEngine(p *problem.Normal) (tuned.Choice, engine, error) {
	o, facts := r.o.setup(), r.o.Devices[0].Facts()
	if o.Algorithm != "" || o.Variant != "" || slices.ContainsFunc(o.Without, func(name string) bool { return name != boundPart && name != surfacePart && name != equationsPart }) || o.Rules != (Rules{}) || r.o.Work > 0 || r.plan.engine.name == "portfolio" && exchanges(p, o) || facts.Kind == device.Host {
		return tuned.Choice{}, r.plan.engine, nil
	}
	density := dense
	if tempering.PrefersReplicaExchange(p) {
		density = sparse
	}
	w := algorithms.PredictedWorkload(map[string]string{"density": density}, p.N, func(int) (*device.Variant, string) { return predicted(density, facts) })
	way, err := o.ChooseAlgorithm(ways, facts, w, func(v *device.Variant) error {
		switch e := engineOf(v); {
		case !slices.Contains(e.kinds, facts.Kind):
			return fmt.Errorf("engine %s does not run on %s", e.name, facts)
		default:
			return e.refuses(len(o.Devices), facts)
		}
	})
	if err != nil {
		return way, engine{}, err
	}
	return way, engineOf(way.Variant), nil
}

// A planted problem is one whose best value is known.
type planted struct {
	inst *problem.Instance
	best int64
}

// A timed run searches several problems, each until it has met the planted value, or to cutOff.
const (
	several = 4
	cutOff  = 500 * time.Millisecond
)

// deviceAlgorithmsSubject is the choice among the engines, for the tuner: the time to the planted value.
func deviceAlgorithmsSubject() subject.Subject {
	return algorithms.NewSubject(algorithms.Problem[planted]{
		Family: ways,
		Fixed:  []map[string]string{{"density": sparse}, {"density": dense}},
		Sizes: func(f device.Facts) []int {
			switch f.Kind {
			case device.CUDA:
				return []int{400, 1024, 2500, 5000}
			case device.Host:
				return nil // which has one engine
			}
			return []int{64}
		},
		Feasible: func(v *device.Variant, f device.Facts, _ int) error {
			if e := engineOf(v); !slices.Contains(e.kinds, f.Kind) {
				return fmt.Errorf("engine %s does not run on %s", e.name, f)
			}
			return nil
		},
		Predicted: func(fixed map[string]string, f device.Facts, _ int) (*device.Variant, string) {
			return predicted(fixed["density"], f)
		},
		Small:   []int{36, 64},
		Kinds:   1,
		Several: func(int) int { return several },
		Draw: func(fixed map[string]string, size, _ int, seed uint64) (planted, error) {
			kind := draw.PlantedTiles
			if fixed["density"] == dense {
				kind = draw.PlantedOrthogonal
			}
			inst, best, err := kind(size, seed)
			return planted{inst, best}, err
		},
		Known: func(p planted) solve.Number { return solve.Number(strconv.FormatInt(p.best, 10)) },
		Open: func(_ context.Context, p planted, s solve.Settings) (algorithms.Solver, error) {
			target := float64(p.best)
			s.TimeLimit, s.Target = cutOff, &target
			session, err := Open(Options{Settings: s})
			if err != nil {
				return algorithms.Solver{}, err
			}
			return algorithms.Solver{Close: session.Close, Solve: func(ctx context.Context) (*solve.Report, error) {
				session.Seed++ // the time to a value depends on it
				r, err := session.Solve(ctx, p.inst)
				if err != nil {
					return nil, err
				}
				return &r.Report, nil
			}}, nil
		},
		Work: func(planted) float64 { return 1 },
	})
}
