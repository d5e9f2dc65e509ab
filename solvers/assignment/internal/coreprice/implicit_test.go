package coreprice

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/assignment/internal/draw"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/enginetest"
	"coalesce/solvers/assignment/internal/host"
	"coalesce/solvers/assignment/internal/reference"
	"coalesce/solvers/assignment/problem"
)

// implicitAgrees solves p with an engine of its own, without and with a start.
func implicitAgrees(t *testing.T, d device.Device, p *problem.Normal, start *problem.Prices, open func() (engine.Engine, error)) {
	t.Helper()
	want := problem.Infinity
	if s, err := reference.Solve(p, nil); err == nil {
		if want, err = enginetest.CheckOptimal(p, s); err != nil {
			t.Fatal(err)
		}
	}
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for _, from := range []*problem.Prices{nil, start} {
		err := enginetest.CheckLeastCost(p, from, func(p *problem.Normal, start *problem.Prices) (*engine.Solution, error) {
			return e.Solve(context.Background(), s, p, nil, start)
		}, want)
		var gave *engine.ExhaustedError
		if errors.As(err, &gave) {
			t.Logf("%s: %v", p.Instance.Source, err)
		} else if err != nil {
			t.Errorf("%d x %d %s, limit %v, start %v: %v", p.Rows, p.Cols, p.Instance.Type, p.Limit != problem.Infinity, from != nil, err)
		}
	}
}

// drawSparse makes a sparse instance larger than a chunk a row.
func drawSparse(t *testing.T, r *rand.Rand, largest int) *problem.Normal {
	t.Helper()
	for {
		inst, err := enginetest.RandomProblem(r, largest)
		if err != nil {
			t.Fatal(err)
		}
		if inst.Sparse == nil {
			continue
		}
		p, err := problem.Normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
}

func TestCoreSolvesSparse(t *testing.T) {
	d := emulatedtest.Open(t)
	r := rand.New(rand.NewPCG(4, 83))
	for turn, v := range emulatedtest.Variants(&assignment.Core)[:4] {
		for k := range 12 {
			if !emulatedtest.EveryVariant() && k/3 != turn {
				continue // the next variants run it
			}
			largest := []int{6, 20, 70}[k%3]
			if !emulatedtest.EveryVariant() && assignment.Core.Int(v, "cluster") > 1 {
				largest = 6 // searches by clusters are those of dense costs
			}
			p := drawSparse(t, r, largest)
			implicitAgrees(t, d, p, enginetest.FeasibleDuals(p, r), func() (engine.Engine, error) { return newSparseCore(d, v, p) })
		}
	}
}

func TestCoreSolvesPoints(t *testing.T) {
	d := emulatedtest.Open(t)
	f := &assignment.Points
	list := emulatedtest.Variants(f)
	if !emulatedtest.EveryVariant() {
		list = list[:5]
	}
	for _, w := range list {
		t.Run(w.Label, func(t *testing.T) {
			r := rand.New(rand.NewPCG(4, 89))
			v := coreOfChunk(t, f.Int(w, "k"))
			for _, largest := range []int{6, 35, 70} {
				p := enginetest.PointCase(t, r, problem.Metric(f.Value(w, "metric")), f.Value(w, "floor") == "on", largest)
				implicitAgrees(t, d, p, enginetest.FeasibleDuals(p, r), func() (engine.Engine, error) { return OpenPoints(d, v, w, p) })
			}
		})
	}
}

// strewnCases are square problems large enough for a coarser level: plain, with
// ties, to maximise.
func strewnCases(t *testing.T, n int) map[string]*problem.Normal {
	t.Helper()
	cases := map[string]*problem.Normal{}
	for _, c := range []struct {
		metric   problem.Metric
		floor    string
		width    float64
		maximize bool
	}{{problem.Euclidean, "off", 1, false}, {problem.Squared, "on", 12, false}, {problem.Manhattan, "on", 5000, true}} {
		inst := draw.ScatterPoints(string(c.metric), c.floor, n, n, 2, c.width, 5)
		inst.Maximize = c.maximize
		p, err := problem.Normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		cases[fmt.Sprintf("%s, floor %s, width %v", c.metric, c.floor, c.width)] = p
	}
	return cases
}

// Levels lead to the optimum, on the host and on the device, from a cold start
// and from duals.
func TestPointsFromCoarseToFine(t *testing.T) {
	t.Parallel()
	d := emulatedtest.Open(t)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for name, p := range strewnCases(t, 1300) {
		cold, err := host.Solve(context.Background(), p, nil, engine.Host{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		want, err := enginetest.CheckOptimal(p, cold)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, err := host.Solve(context.Background(), p, &cold.Prices, engine.Host{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := enginetest.CheckOptimal(p, again); err != nil || got != want {
			t.Errorf("%s, from duals: found %d, expected %d: %v", name, got, want, err)
		}
	}
	for name, p := range strewnCases(t, 620) {
		if !emulatedtest.Thorough() && p.Instance.Points.Metric != problem.Euclidean {
			continue
		}
		if p.Instance.Maximize {
			continue // every row wants the same corners: too many looks for an emulation
		}
		e, err := newPointCore(d, nil, coreOfChunk(t, 16), p)
		if err != nil {
			t.Fatal(err)
		}
		if levels := len(e.(*pointCore).coarse); levels != 2 {
			t.Errorf("%d levels, expected 2", levels)
		}
		sol, err := e.Solve(context.Background(), s, p, nil, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		found, err := enginetest.CheckOptimal(p, sol)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		host, err := host.Solve(context.Background(), p, nil, engine.Host{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		if want, err := enginetest.CheckOptimal(p, host); err != nil || found != want {
			t.Errorf("%s: found %d, the host %d: %v", name, found, want, err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Duals of a finer problem, rounded, prove the problem itself.
func TestFinerDualsRound(t *testing.T) {
	inst := draw.ScatterPoints("squared", "on", 70, 70, 2, 9, 3)
	p, err := problem.Normalise(inst)
	if err != nil {
		t.Fatal(err)
	}
	finer, shift := p.Refined()
	if shift == 0 || finer.Scale != p.Scale*float64(int64(1)<<shift) {
		t.Fatalf("a shift of %d and the scale %v", shift, finer.Scale)
	}
	sol, err := reference.Solve(finer, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(4, 107))
	move := r.Int64N(1<<shift-1) + 1 // duals that are no multiples
	for i := range sol.U {
		sol.U[i] += move
		sol.V[i] -= move
	}
	sol.RoundDuals(shift)
	if _, err := enginetest.CheckOptimal(p, sol); err != nil {
		t.Error(err)
	}
}

// coreOfChunk is some variant of assignment/core with chunks of k edges.
func coreOfChunk(t *testing.T, k int) *device.Variant {
	t.Helper()
	for i := range assignment.Core.Variants {
		if v := &assignment.Core.Variants[i]; assignment.Core.Int(v, "k") == k {
			return v
		}
	}
	t.Fatalf("assignment/core has no variant with k=%d", k)
	return nil
}

// The passes find exactly what all distances give, whatever tiles they leave out.
func TestPointPasses(t *testing.T) {
	d := emulatedtest.Open(t)
	r := rand.New(rand.NewPCG(4, 101))
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for k, w := range emulatedtest.Variants(&assignment.Points) {
		f := &assignment.Points
		q := problem.Points{Dim: 1 + k%3, Metric: problem.Metric(f.Value(w, "metric")), Floor: f.Value(w, "floor") == "on"}
		rows, cols := 180, 180
		if k%2 == 1 {
			rows, cols = 9, 1100 // more tiles than lanes
		}
		for range rows * q.Dim {
			q.Row = append(q.Row, 100*r.Float64())
		}
		for range cols * q.Dim {
			q.Col = append(q.Col, 100*r.Float64()+float64(k%4))
		}
		inst, err := problem.NewPoints(q, "test")
		if err != nil {
			t.Fatal(err)
		}
		inst.Maximize = k%5 == 2
		p, err := problem.Normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		opened, err := OpenPoints(d, coreOfChunk(t, f.Int(w, "k")), w, p)
		if err != nil {
			t.Fatal(err)
		}
		e := opened.(*pointCore)
		run := &pointPasses{e.newRun(s, e.local, nil), e}
		passesAgree(t, w.Label, r, run)
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// passesAgree holds the columns' minima, and what pricing makes of some duals,
// against every pair of the problem.
func passesAgree(t *testing.T, name string, r *rand.Rand, run *pointPasses) {
	t.Helper()
	p := run.p
	v, u := make([]int64, p.Cols), make([]int64, p.Rows)
	if err := errors.Join(run.resetMatching(), run.s.Fill(run.control, 0, run.control.Len(), 0), run.setColumnMinima(), run.s.Download(device.Bytes(v), run.v, 0)); err != nil {
		t.Fatal(err)
	}
	for j := range v {
		least := problem.Infinity
		for i := range p.Rows {
			least = min(least, p.Cost(i, j))
		}
		if v[j] != least {
			t.Fatalf("%s: column %d: found the minimum %d, expected %d", name, j, v[j], least)
		}
		v[j] = r.Int64N((p.Max-p.Min)/8 + 1)
	}
	least, violations := make([]int64, p.Rows), uint64(0)
	for i := range u {
		least[i] = problem.Infinity
		for j := range v {
			least[i] = min(least[i], p.Cost(i, j)-v[j])
		}
		u[i] = least[i] + r.Int64N(3) - 1
		if u[i] > least[i] {
			violations++
		}
	}
	if err := errors.Join(run.s.Upload(run.v, 0, device.Bytes(v)), run.s.Upload(run.u, 0, device.Bytes(u)), run.makeCandidates()); err != nil {
		t.Fatal(err)
	}
	col, cost := make([]int32, p.Rows*run.k), make([]int64, p.Rows*run.k)
	if err := errors.Join(run.s.Download(device.Bytes(col), run.col, 0), run.s.Download(device.Bytes(cost), run.cost, 0)); err != nil {
		t.Fatal(err)
	}
	words, err := run.priceRows()
	if err != nil || words[assignment.CoreWordViolations] != violations {
		t.Fatalf("%s: found %d rows with violations, expected %d: %v", name, words[assignment.CoreWordViolations], violations, err)
	}
	after := make([]int64, p.Rows)
	if err := run.s.Download(device.Bytes(after), run.u, 0); err != nil {
		t.Fatal(err)
	}
	for i := range u {
		found := problem.Infinity
		for e := i * run.k; e < (i+1)*run.k; e++ {
			if j := col[e]; j >= 0 {
				if cost[e] != p.Cost(i, int(j)) {
					t.Fatalf("%s: pair (%d,%d): found the cost %d, expected %d", name, i, j, cost[e], p.Cost(i, int(j)))
				}
				found = min(found, cost[e]-v[j])
			}
		}
		if after[i] != min(u[i], least[i]) || found != least[i] {
			t.Fatalf("%s: row %d: found the dual %d and a candidate of %d, expected %d and %d", name, i, after[i], found, min(u[i], least[i]), least[i])
		}
	}
}
