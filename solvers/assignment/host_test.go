package assignment

import (
	"context"
	"math/rand/v2"
	"testing"
)

func onHost(p *normal, start *duals) (*solution, error) {
	return solveHost(context.Background(), p, start, 2)
}

func TestHostIsOptimal(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	for k := range 4000 {
		largest := 7
		if k%8 == 0 {
			largest = 60
		}
		inst, err := draw(r, largest)
		if err != nil {
			t.Fatal(err)
		}
		p, err := normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		want := far
		if s, err := reference(p, nil); err == nil {
			if want, err = prove(p, s); err != nil {
				t.Fatal(err)
			}
		}
		for _, start := range []*duals{nil, startOf(p, r)} {
			if err := agrees(p, start, onHost, want); err != nil {
				t.Fatalf("instance %d (%d x %d, %s, start %v): %v", k, p.rows, p.cols, inst.Type, start != nil, err)
			}
		}
	}
}

// TestSearchesReadWholeRows has searches do all the work, on few pairs a row.
func TestSearchesReadWholeRows(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	ctx := context.Background()
	for k := range 1000 {
		inst, err := draw(r, 30)
		if k%4 == 0 {
			inst, err = drawPoints(r, 30)
		}
		if err != nil {
			t.Fatal(err)
		}
		p, err := normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		want := far
		if s, err := reference(p, nil); err == nil {
			if want, err = prove(p, s); err != nil {
				t.Fatal(err)
			}
		}
		err = agrees(p, nil, func(p *normal, _ *duals) (*solution, error) {
			src, err := sourceOf(p)
			if err != nil {
				return nil, err
			}
			h := newCore(p.rows, p.cols, p.limit, src, 1)
			h.heavy = 1 + r.IntN(4)
			if err := h.read(ctx, 1); err != nil {
				return nil, err
			}
			if err := h.finish(ctx); err != nil {
				return nil, err
			}
			return h.solution(p.rows), nil
		}, want)
		if err != nil {
			t.Fatalf("instance %d (%d x %d, %s): %v", k, p.rows, p.cols, inst.Type, err)
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
		inst, err := drawPoints(r, largest)
		if err != nil {
			t.Fatal(err)
		}
		p, err := normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		s, err := reference(p, nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := prove(p, s)
		if err != nil {
			t.Fatal(err)
		}
		for _, start := range []*duals{nil, startOf(p, r)} {
			if err := agrees(p, start, onHost, want); err != nil {
				t.Fatalf("instance %d (%d x %d, %s, maximise %v, limit %v): %v", k, p.rows, p.cols, inst.Points.Metric, inst.Maximize, inst.Limit, err)
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
				inst, err := NewInstance(rows, n, disturb(r, draw(r, n), rows, n, noisy), name)
				if err != nil {
					t.Fatal(err)
				}
				p, err := normalise(inst)
				if err != nil {
					t.Fatal(err)
				}
				s, err := reference(p, nil)
				if err != nil {
					t.Fatal(err)
				}
				want, err := prove(p, s)
				if err != nil {
					t.Fatal(err)
				}
				if err := agrees(p, nil, onHost, want); err != nil {
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
				costs = append(costs, Forbidden[int32](false))
			default:
				costs = append(costs, int32(cost(a[i], b[j])+31*a[j]+7*b[i]+r.IntN(3)-1))
			}
		}
	}
	return costs
}

// TestHostStops gives up when it is told to.
func TestHostStops(t *testing.T) {
	inst, err := NewInstance(200, 200, make([]float64, 40000), "test")
	if err != nil {
		t.Fatal(err)
	}
	p, err := normalise(inst)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := solveHost(ctx, p, nil, 2); err != context.Canceled {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}
