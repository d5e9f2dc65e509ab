package host

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"coalesce/autotune/tuned"
	"coalesce/generated/assignment"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/enginetest"
	"coalesce/solvers/assignment/internal/reference"
	"coalesce/solvers/assignment/problem"
)

func onHost(p *problem.Normal, start *problem.Prices) (*engine.Solution, error) {
	return Solve(context.Background(), p, start, engine.Host{Threads: 2})
}

func TestHostIsOptimal(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	for k := range 4000 {
		largest := 7
		if k%8 == 0 {
			largest = 60
		}
		inst, err := enginetest.RandomProblem(r, largest)
		if err != nil {
			t.Fatal(err)
		}
		p, err := problem.Normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		want := problem.Infinity
		if s, err := reference.Solve(p, nil); err == nil {
			if want, err = enginetest.CheckOptimal(p, s); err != nil {
				t.Fatal(err)
			}
		}
		for _, start := range []*problem.Prices{nil, enginetest.FeasibleDuals(p, r)} {
			if err := enginetest.CheckLeastCost(p, start, onHost, want); err != nil {
				t.Fatalf("instance %d (%d x %d, %s, start %v): %v", k, p.Rows, p.Cols, inst.Type, start != nil, err)
			}
		}
	}
}

// TestSearchesReadWholeRows has searches do all the work, on few pairs a row.
func TestSearchesReadWholeRows(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	ctx := context.Background()
	for k := range 1000 {
		inst, err := enginetest.RandomProblem(r, 30)
		if k%4 == 0 {
			inst, err = enginetest.RandomPoints(r, 30)
		}
		if err != nil {
			t.Fatal(err)
		}
		p, err := problem.Normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		want := problem.Infinity
		if s, err := reference.Solve(p, nil); err == nil {
			if want, err = enginetest.CheckOptimal(p, s); err != nil {
				t.Fatal(err)
			}
		}
		err = enginetest.CheckLeastCost(p, nil, func(p *problem.Normal, _ *problem.Prices) (*engine.Solution, error) {
			src, err := SourceOf(p, nil)
			if err != nil {
				return nil, err
			}
			h := newCore(p.Rows, p.Cols, p.Limit, src, 1)
			h.heavy = 1 + r.IntN(4)
			if err := h.readCandidates(ctx, 1); err != nil {
				return nil, err
			}
			if err := h.augmentAll(ctx); err != nil {
				return nil, err
			}
			return h.solution(p.Rows), nil
		}, want)
		if err != nil {
			t.Fatalf("instance %d (%d x %d, %s): %v", k, p.Rows, p.Cols, inst.Type, err)
		}
	}
}

func TestHostSolvesPoints(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 3))
	for k := range 300 {
		largest := 40
		if k%16 == 0 {
			largest = 300
		}
		inst, err := enginetest.RandomPoints(r, largest)
		if err != nil {
			t.Fatal(err)
		}
		p, err := problem.Normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		s, err := reference.Solve(p, nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := enginetest.CheckOptimal(p, s)
		if err != nil {
			t.Fatal(err)
		}
		for _, start := range []*problem.Prices{nil, enginetest.FeasibleDuals(p, r)} {
			if err := enginetest.CheckLeastCost(p, start, onHost, want); err != nil {
				t.Fatalf("instance %d (%d x %d, %s, maximise %v, limit %v): %v", k, p.Rows, p.Cols, inst.Points.Metric, inst.Maximize, inst.Limit, err)
			}
		}
	}
}

// structures are costs for which many rows want the same columns.
var structures = map[string]func(r *rand.Rand, n int) func(i, j int) int{
	"product":   func(_ *rand.Rand, _ int) func(i, j int) int { return func(i, j int) int { return (i + 1) * (j + 1) } },
	"sum":       func(_ *rand.Rand, _ int) func(i, j int) int { return func(i, j int) int { return 17*i + 5*j } },
	"equal":     func(_ *rand.Rand, _ int) func(i, j int) int { return func(_, _ int) int { return 3 } },
	"two costs": func(r *rand.Rand, _ int) func(i, j int) int { return func(_, _ int) int { return 100 + r.IntN(2)*1e8 } },
	"geometric": func(r *rand.Rand, n int) func(i, j int) int {
		a, b := r.Perm(1000), r.Perm(1000)
		return func(i, j int) int { return (a[i]-a[n+j])*(a[i]-a[n+j]) + (b[i]-b[n+j])*(b[i]-b[n+j]) }
	},
	"low rank": func(r *rand.Rand, n int) func(i, j int) int {
		a, b := r.Perm(1000), r.Perm(1000)
		return func(i, j int) int { return a[i]*a[j] + b[i]*b[j] }
	},
}

// TestHostSolvesStructures solves structured costs, as they are, and permuted
// with a sum, noise of 1 and forbidden pairs added; square and rectangular.
func TestHostSolvesStructures(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	const n = 200
	for name, draw := range structures {
		for _, noisy := range []bool{false, true} {
			for _, rows := range []int{n, n - 30} {
				inst, err := problem.NewInstance(rows, n, disturb(r, draw(r, n), rows, n, noisy), name)
				if err != nil {
					t.Fatal(err)
				}
				p, err := problem.Normalise(inst)
				if err != nil {
					t.Fatal(err)
				}
				s, err := reference.Solve(p, nil)
				if err != nil {
					t.Fatal(err)
				}
				want, err := enginetest.CheckOptimal(p, s)
				if err != nil {
					t.Fatal(err)
				}
				if err := enginetest.CheckLeastCost(p, nil, onHost, want); err != nil {
					t.Errorf("%s, %d rows, noise %v: %v", name, rows, noisy, err)
				}
			}
		}
	}
}

func disturb(r *rand.Rand, cost func(i, j int) int, rows, cols int, noisy bool) []int32 {
	a, b := r.Perm(cols), r.Perm(cols)
	costs := make([]int32, 0, rows*cols)
	for i := range rows {
		for j := range cols {
			switch c := cost(i, j); {
			case !noisy:
				costs = append(costs, int32(c))
			case i != j && r.IntN(5) == 0:
				costs = append(costs, problem.Forbidden[int32](false))
			default:
				costs = append(costs, int32(cost(a[i], b[j])+31*a[j]+7*b[i]+r.IntN(3)-1))
			}
		}
	}
	return costs
}

// TestHostStops gives up when it is told to.
func TestHostStops(t *testing.T) {
	inst, err := problem.NewInstance(200, 200, make([]float64, 40000), "test")
	if err != nil {
		t.Fatal(err)
	}
	p, err := problem.Normalise(inst)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Solve(ctx, p, nil, engine.Host{Threads: 2}); err != context.Canceled {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// A winner in the user's tuning data is the scan that runs.
func TestScanOfTunedVariant(t *testing.T) {
	f := &assignment.Hostscan
	p, err := problem.Normalise(enginetest.MatrixOf(t, 3, int32(1), 2, 3, 4, 5, 6, 7, 8, 9))
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Variants {
		v := &f.Variants[i]
		if f.Value(v, "value") != string(problem.Int32) {
			continue
		}
		db, err := tuned.New(tuned.Entry{Family: f.Name, Class: Facts().Class(), Fixed: map[string]string{"value": "int32"}, Size: 3,
			Protocol: tuned.Protocol, Winner: v.Label, Results: []tuned.Result{{Variant: v.Label, Hash: tuned.Hash(v.Hash), Nanos: 1}}})
		if err != nil {
			t.Fatal(err)
		}
		s, err := newRowScan(p, db)
		if err != nil {
			t.Fatal(err)
		}
		if reflect.ValueOf(s.least).Pointer() != reflect.ValueOf(v.Kernels["least"]).Pointer() {
			t.Errorf("%s won in the user's data, and another variant runs", v.Label)
		}
	}
}

// A row without columns ends a solve, whatever the other rows are like.
func TestRowWithoutColumns(t *testing.T) {
	const n = 200
	inst := &problem.Instance{Rows: n, Cols: n, Source: "half of the pairs", Sparse: &problem.Sparse{Start: []int64{0}}}
	var costs []int32
	for i := range n {
		for j := i % 2; j < n && i > 0; j += 2 {
			inst.Sparse.Col = append(inst.Sparse.Col, int32(j))
			costs = append(costs, int32((i*n/2+j/2)%997))
		}
		inst.Sparse.Start = append(inst.Sparse.Start, int64(len(costs)))
	}
	problem.SetCosts(inst, costs)
	p, err := problem.Normalise(inst)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	var none *engine.Infeasible
	if _, err := Solve(ctx, p, nil, engine.Host{Threads: 2}); !errors.As(err, &none) {
		t.Errorf("found %v, expected that there is no full matching", err)
	}
}
