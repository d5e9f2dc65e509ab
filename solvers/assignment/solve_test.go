package assignment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/assignment/internal/draw"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/enginetest"
	"coalesce/solvers/assignment/internal/families"
	"coalesce/solvers/assignment/internal/formats"
	"coalesce/solvers/assignment/internal/reference"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// solved solves on the host device, certified.
func solved(t *testing.T, inst *problem.Instance, o Options) *Result {
	t.Helper()
	d := host.Open(2)
	defer d.Close()
	r, err := Solve(context.Background(), inst, on(o, d))
	if err != nil {
		t.Fatalf("%s: %v", inst.Source, err)
	}
	return r
}

// A host without the memory that solving takes refuses before it takes any.
func TestHostMemory(t *testing.T) {
	inst, err := problem.NewPoints(problem.Points{Metric: "euclidean", Dim: 1, Row: make([]float64, 1<<20), Col: make([]float64, 1<<20)}, "a.csv, b.csv")
	if err != nil {
		t.Fatal(err)
	}
	p, err := problem.Normalise(inst)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "host"} {
		_, err := planFor(device.Facts{Kind: device.Host, Name: "small", Free: 1 << 30}, p, Options{Settings: solve.Settings{Algorithm: name}})
		if !errors.Is(err, device.ErrMemory) || !strings.Contains(err.Error(), "1048576 rows") {
			t.Errorf("algorithm %q: %v", name, err)
		}
		if _, err := planFor(device.Facts{Kind: device.Host, Free: 2 << 30}, p, Options{Settings: solve.Settings{Algorithm: name}}); err != nil {
			t.Errorf("algorithm %q: %v", name, err)
		}
	}
}

// Optima that independent solvers agree on, or that formulas give.
func TestPublishedOptima(t *testing.T) {
	for _, c := range []struct {
		kind  string
		n     int
		r     int64
		value float64
	}{
		{"uniform", 1000, 100, 0},
		{"uniform", 1000, 1000, 1171},
		{"uniform", 1000, 10000, 15656},
		{"uniform", 1000, 1000000, 1675514},
		{"uniform", 2000, 2000, 2393},
		{"uniform", 2000, 1000000, 1660769},
		{"geom", 1000, 1000000, 32586080},
		{"machol", 300, 0, 300 * 301 * 302 / 6},
		{"twocost", 500, 0, 100 * 500},
		{"equal", 100, 7, 700},
	} {
		inst, err := draw.Generate(c.kind, c.n, c.n, c.r, enginetest.Seed, problem.Int32)
		if err != nil {
			t.Fatal(err)
		}
		r := solved(t, inst, Options{})
		if r.Value.Float() != c.value || !r.Proven || !r.Certificate.Exact {
			t.Errorf("%s: found %v (proven %v), expected %v", inst.Source, r.Value.Float(), r.Proven, c.value)
		}
	}
}

// The optima of OR-Library's assignment problems (Beasley 1990), whose files
// are not in this repository.
func TestORLibrary(t *testing.T) {
	folder := os.Getenv("COALESCE_ORLIB")
	if folder == "" {
		t.Skip("COALESCE_ORLIB names no folder with assign100.txt to assign800.txt")
	}
	for k, value := range []float64{305, 475, 626, 804, 991, 1176, 1362, 1552} {
		inst, err := formats.Read(filepath.Join(folder, fmt.Sprintf("assign%d.txt", 100*(k+1))), formats.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if r := solved(t, inst, Options{}); r.Value.Float() != value || !r.Proven {
			t.Errorf("%s: found %v (proven %v), expected %v", inst.Source, r.Value.Float(), r.Proven, value)
		}
	}
}

func columns(t *testing.T, r *Result, want ...int32) {
	t.Helper()
	for i, j := range r.Column {
		if j != want[i] {
			t.Fatalf("found columns %v, expected %v", r.Column, want)
		}
	}
}

// SciPy's own example, both ways round, and what it does with forbidden pairs.
func TestLikeSciPy(t *testing.T) {
	inf := math.Inf(1)
	r := solved(t, enginetest.MatrixOf(t, 3, 4.0, 1, 3, 2, 0, 5, 3, 2, 2), Options{})
	columns(t, r, 1, 0, 2)
	if r.Value.String() != "5" {
		t.Errorf("found %s, expected 5", r.Value.String())
	}
	wide := enginetest.MatrixOf[int32](t, 4, 9, 2, 7, 8, 6, 4, 3, 7)
	columns(t, solved(t, wide, Options{}), 1, 2)
	tall := enginetest.MatrixOf[int32](t, 2, 9, 6, 2, 4, 7, 3, 8, 7)
	r = solved(t, tall, Options{})
	columns(t, r, -1, 0, 1, -1)
	rows, cols := r.Pairs()
	if len(rows) != 2 || rows[0] != 1 || rows[1] != 2 || cols[0] != 0 || cols[1] != 1 {
		t.Errorf("found rows %v, columns %v", rows, cols)
	}
	most := enginetest.MatrixOf(t, 2, 1.5, 4, 2, -inf)
	most.Maximize = true
	r = solved(t, most, Options{Duals: true})
	columns(t, r, 1, 0)
	if r.Value.String() != "6" {
		t.Errorf("found %s, expected 6", r.Value.String())
	}
}

func TestEmpty(t *testing.T) {
	for _, size := range [][2]int{{0, 0}, {0, 3}, {3, 0}} {
		inst := &problem.Instance{Rows: size[0], Cols: size[1], Type: problem.Int32}
		r := solved(t, inst, Options{Duals: true})
		if len(r.Column) != size[0] || r.Matched != 0 || r.Value.String() != "0" || !r.Proven {
			t.Errorf("%v: found %+v", size, r)
		}
	}
}

func TestLimit(t *testing.T) {
	inst := enginetest.MatrixOf[int32](t, 2, 1, 9, 9, 20)
	limit := 10.0
	inst.Limit = &limit
	r := solved(t, inst, Options{})
	columns(t, r, 0, -1) // 1 and a limit of 10, less than 9 + 9
	if r.Value.String() != "1" || r.Certificate.Primal != "11" || r.Matched != 1 {
		t.Errorf("found %s, %+v", r.Value.String(), r.Certificate)
	}
	inst.Maximize, limit = true, 15
	columns(t, solved(t, inst, Options{}), -1, 1)
	inst.Maximize = false
	for l, want := range map[float64]string{0.5: "0", 2.5: "1", 8.5: "1", 18.5: "18", 1e300: "18", math.Inf(1): "18", math.Inf(-1): "0", -1e300: "0"} {
		limit = l
		if r := solved(t, inst, Options{}); r.Value.String() != want || !r.Proven {
			t.Errorf("limit %v: found %s, proven %t, expected %s", l, r.Value.String(), r.Proven, want)
		}
	}
}

func TestInfeasible(t *testing.T) {
	x := problem.Forbidden[int32](false)
	d := host.Open(2)
	for _, inst := range []*problem.Instance{
		enginetest.MatrixOf(t, 3, 1, x, x, 2, x, x, 3, 4, 5),
		enginetest.MatrixOf(t, 2, 1, x, 2, x, 3, x),
		{Rows: 2, Cols: 2, Type: problem.Int32, I32: []int32{5}, Sparse: &problem.Sparse{Start: []int64{0, 1, 1}, Col: []int32{0}}},
	} {
		r, err := Solve(context.Background(), inst, on(Options{}, d))
		var none *problem.InfeasibleError
		if !errors.As(err, &none) || r == nil {
			t.Fatalf("found %v, expected an InfeasibleError", err)
		}
		if len(none.Hall.Members) <= len(none.Hall.Partners) {
			t.Errorf("found %+v, expected fewer partners than members", none.Hall)
		}
		text, err := json.Marshal(r)
		if err != nil || !strings.Contains(string(text), `"value":null,"bound":null,"gap":null,"proven":true`) || !strings.Contains(string(text), `"solution":null`) {
			t.Errorf("found %s, %v", text, err)
		}
	}
}

// A warm start finds the optimum of changed costs, also of other scales.
func TestWarmStart(t *testing.T) {
	for _, value := range []problem.Value{problem.Int32, problem.Float64} {
		for _, size := range [][2]int{{60, 60}, {40, 60}, {60, 40}} {
			inst, err := draw.Generate("uniform", size[0], size[1], 1000, enginetest.Seed, value)
			if err != nil {
				t.Fatal(err)
			}
			before := solved(t, inst, Options{Duals: true})
			if value == problem.Int32 {
				inst.I32[7] += 500
			} else {
				inst.F64[7] += 0.25
			}
			cold := solved(t, inst, Options{})
			warm := solved(t, inst, Options{Settings: solve.Settings{Start: before.Duals}})
			if cold.Value.String() != warm.Value.String() {
				t.Errorf("%s: found %s warm, %s cold", inst.Source, warm.Value.String(), cold.Value.String())
			}
		}
	}
}

// Scaling says whether it rounded, and the certificate finds the same.
func TestExactness(t *testing.T) {
	for _, c := range []struct {
		inst  *problem.Instance
		exact bool
	}{
		{enginetest.MatrixOf(t, 2, 0.1, 0.2, 0.3, 0.4), true},
		{enginetest.MatrixOf(t, 2, 0x1p-30, 1e3, 0x1p-40, 0), true},
		{enginetest.MatrixOf(t, 2, 1e300, 1e-300, 3, 4), false},
		{enginetest.MatrixOf(t, 2, math.SmallestNonzeroFloat64, 0, 0, 0), false}, // beyond 2^1000 units
		{enginetest.MatrixOf(t, 2, math.MaxFloat64, -math.MaxFloat64, 1, 0), false},
		{enginetest.MatrixOf[float32](t, 2, 0.1, 1e5, 3, 16777216), true},
		{enginetest.MatrixOf(t, 2, 0.0, 0, 0, 0), true},
		{enginetest.MatrixOf(t, 2, 0.0, 1, 0.5, 0), true},
	} {
		p, err := problem.Normalise(c.inst)
		if err != nil {
			t.Fatal(err)
		}
		r := solved(t, c.inst, Options{})
		if p.Exact != c.exact || r.Certificate.Exact != c.exact || r.Certificate.Gap != 0 || !r.Proven {
			t.Errorf("%v: found %v and %+v, expected %v", c.inst.F64, p.Exact, r.Certificate, c.exact)
		}
	}
}

// Every family and method solves what it takes, and says so of the rest.
func TestEveryFamily(t *testing.T) {
	d := emulatedtest.Open(t)
	for _, inst := range enginetest.InstancesOfEveryForm(t) {
		if inst.Rows == 9 || inst.Type != problem.Int32 && inst.Dense() { // other types: the families' own tests
			continue
		}
		want := solved(t, inst, Options{Settings: solve.Settings{Algorithm: "reference"}})
		for _, family := range append(families.AlgorithmNames(), "") {
			r, err := Solve(context.Background(), inst, on(Options{Settings: solve.Settings{Algorithm: family}}, d))
			switch {
			case err != nil && strings.Contains(err.Error(), "family "+family+" takes n"):
			case err != nil:
				t.Errorf("%s by %s: %v", inst.Source, family, err)
			case r.Value.String() != want.Value.String() || !r.Proven || r.Certificate.Exact != want.Certificate.Exact:
				t.Errorf("%s by %s: found %s, expected %s", inst.Source, r.Variant, r.Value.String(), want.Value.String())
			}
		}
	}
}

// Nothing leaves what holds it without a word: sums beyond float64, empty sides,
// drawings beyond int64, far duals to begin from.
func TestExtremes(t *testing.T) {
	d := host.Open(2)
	_, err := Solve(context.Background(), enginetest.MatrixOf(t, 2, math.MaxFloat64, math.MaxFloat64, math.MaxFloat64, math.MaxFloat64), on(Options{}, d))
	if !errors.Is(err, problem.ErrCost) || !strings.Contains(err.Error(), "more than the largest float64") {
		t.Errorf("a sum beyond float64: %v", err)
	}
	for _, sides := range [][2]int{{0, 0}, {0, 3}, {3, 0}} {
		inst, err := problem.NewInstance(sides[0], sides[1], []int32{}, "empty")
		if err != nil {
			t.Fatal(err)
		}
		r := solved(t, inst, Options{})
		if r.Column == nil || len(r.Column) != sides[0] || r.Value.String() != "0" {
			t.Errorf("%v: %v, value %s", sides, r.Column, r.Value.String())
		}
	}
	for _, drawing := range []draw.Drawing{
		{Kind: "spatial", Rows: 5, Cols: 5, Range: 1e18, Type: problem.Int64},
		{Kind: "uniform", Rows: 5, Cols: 5, Shift: math.MaxInt64, Type: problem.Int64},
		{Kind: "uniform", Rows: 5, Cols: 5, Range: math.MaxInt64, Type: problem.Int64},
		{Kind: "lowrank", Rows: 5, Cols: 5, Rank: math.MaxInt, Type: problem.Float64},
	} {
		if inst, err := draw.Draw(drawing); err == nil {
			t.Errorf("%s: drawn, its first costs are %v", drawing, inst.I64[:3])
		}
	}
	inst, err := draw.Draw(draw.Drawing{Kind: "geom", Rows: 80, Cols: 80, Type: problem.Int64, Points: true})
	if err != nil {
		t.Fatal(err)
	}
	want := solved(t, inst, Options{}).Value.String()
	for _, far := range []int64{1 << 41, 1 << 55, -(1 << 55)} {
		start := problem.Duals{U: make([]int64, 80), V: make([]int64, 80), Scale: 1}
		for j := range start.V {
			start.V[j] = far + int64(draw.SplitMix64(uint64(j))%1000)
		}
		if got := solved(t, inst, Options{Settings: solve.Settings{Start: &start}}).Value.String(); got != want {
			t.Errorf("from duals of about %d: %s, want %s", far, got, want)
		}
	}
}

// A family gives way to the next where its short try is not enough; the next solve tries
// it again.
func TestShortTryGivesWay(t *testing.T) {
	d := emulatedtest.Open(t)
	for _, c := range []struct {
		kind, family, barrier string
		bound                 uint64
		by, why               string // what solved it, and why not the first
	}{
		{"geom", "classical", "grid", 8, "assignment/core", ": 8 passes"},
		{"uniform", "classical", "grid", 8, "", ""},
		{"uniform", "tree", "grid", 3, "assignment/core", ": 3 steps"},
		{"uniform", "tree", "peers", 3, "assignment/core", ": 3 steps"},
		{"geom", "scaling", "grid", 3, "assignment/core", ": 3 steps of a scale"},
	} {
		inst, err := draw.Draw(draw.Drawing{Kind: c.kind, Rows: 100, Cols: 100, Range: 65, Type: problem.Int32, Seed: enginetest.Seed})
		if err != nil {
			t.Fatal(err)
		}
		p, err := problem.Normalise(inst)
		if err != nil {
			t.Fatal(err)
		}
		want, err := reference.Solve(p, nil)
		if err != nil {
			t.Fatal(err)
		}
		cost, err := enginetest.CheckOptimal(p, want)
		if err != nil {
			t.Fatal(err)
		}
		first, err := planFor(d.Facts(), p, Options{Settings: solve.Settings{Algorithm: c.family}})
		if err != nil {
			t.Fatal(err)
		}
		if c.barrier == "peers" {
			first.variant = assignment.Tree.Variant("block=512,items=4,rows=4,barrier=peers,paths=many,matchedtrees=stop,value=int32")
		}
		first.bound = c.bound
		j, err := prepareOne(t.Context(), d, p, first, Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			sol, err := j.solve(t.Context(), nil)
			if err != nil {
				t.Fatal(c, err)
			}
			by := sol.Counts.Switch
			if !strings.HasPrefix(by, c.by) || !strings.HasSuffix(by, c.why) || c.by == "" && by != "" {
				t.Errorf("%v: switch %q", c, by)
			}
			if found, err := enginetest.CheckOptimal(p, sol); err != nil || found != cost {
				t.Errorf("%v: found %d, %v; want %d", c, found, err, cost)
			}
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Where core gives up, scaling goes on, which needs no zeros; where costs tie, the families that list zeros, but of many rows scaling
// before the long run of the classical one.
func TestCoreGivesWay(t *testing.T) {
	all := families.DeviceFamilies()
	for _, c := range []struct {
		rows   int
		bound  uint64
		gaveUp engine.ExhaustedError
		want   []string
	}{
		{1000, 0, engine.ExhaustedError{Why: "memory of edges"}, []string{"scaling", "tree"}},
		{1000, 0, engine.ExhaustedError{Why: "ties", Tied: true}, []string{"tree", "classical"}},
		{1000, 8, engine.ExhaustedError{Why: "8 passes"}, []string{"core", "classical"}},
		{8000, 8, engine.ExhaustedError{Why: "8 passes"}, []string{"core", "scaling", "classical"}},
	} {
		j := &job{p: &problem.Normal{Rows: c.rows, Cols: c.rows}, plan: plan{family: &all[0], bound: c.bound, probe: probe}}
		for k, next := range j.successors(&c.gaveUp)[:len(c.want)] {
			if next.family != c.want[k] {
				t.Errorf("%d rows, after %s: number %d is %s, expected %s", c.rows, c.gaveUp.Why, k, next.family, c.want[k])
			}
		}
	}
}

// Where nothing was measured, with few values the classical variant begins, for a short
// try only where they are as many as a quarter of the rows.
func TestPredictedAlgorithm(t *testing.T) {
	for _, c := range []struct {
		rows   int
		values int64
		name   string
		bound  uint64
	}{{1 << 13, 1, "tree", 0}, {1 << 13, 800, "classical", 0}, {1 << 13, 1 << 13, "classical", 8}, {1 << 13, 1<<13 + 1, "core", 0}, {2000, 2000, "classical", 8}, {2000, 400, "classical", 0}, {1000, 1000, "classical", 8}, {500, 500, "core", 0}} {
		p := &problem.Normal{Rows: c.rows, Cols: c.rows, Limit: problem.Infinity, Min: 5, Max: 4 + c.values}
		v, _ := predictAlgorithm(costClass(p), p.Rows)
		bound, _ := thresholds(v)
		if name := deviceAlgorithms.Value(v, "algorithm"); name != c.name || bound != c.bound {
			t.Errorf("%d values, %d rows: %q, bound %d; want %q, %d", c.values, c.rows, name, bound, c.name, c.bound)
		}
	}
}

// on are options on devices.
func on(o Options, devices ...device.Device) Options {
	o.Devices = devices
	return o
}
