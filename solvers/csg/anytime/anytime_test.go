package anytime

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/csg"
	"coalesce/solvers/csg/internal/cliques"
	csgproblem "coalesce/solvers/csg/problem"
	"coalesce/solvers/qubo"
	quboproblem "coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

func options(t *testing.T, limit time.Duration) Options {
	d := host.Open(0)
	t.Cleanup(func() { d.Close() })
	return Options{Settings: solve.Settings{Devices: []device.Device{d}, TimeLimit: limit, Seed: 1}}
}

// checked solves, and verifies what is written of the answer.
func checked(t *testing.T, inst *Instance, o Options) *Result {
	t.Helper()
	return checkedIn(t, context.Background(), inst, o)
}

// checkedIn is checked in a context.
func checkedIn(t *testing.T, ctx context.Context, inst *Instance, o Options) *Result {
	t.Helper()
	r, err := Solve(ctx, inst, o)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if !IsResult(text) {
		t.Errorf("not told as a result of this package: %s", text)
	}
	v, err := Verify(inst, text)
	if err != nil || v.Err() != nil || !v.Feasible || v.Proven != r.Proven {
		t.Fatalf("%s: verify says %v, %v: %s", inst.Source, err, v, text)
	}
	return r
}

// Where a table holds the values, the search finds the optimum that the reference finds,
// within its bound; integers are equal in every digit.
func TestTheOptimumOfTables(t *testing.T) {
	ctx := context.Background()
	for _, weights := range Weights() {
		for _, n := range []int{0, 1, 2, 3, 8, 12, 14} {
			for _, density := range []float64{1, 0.4} {
				inst, err := Draw(weights, n, density, uint64(n))
				if err != nil {
					t.Fatal(err)
				}
				table, err := inst.Table(ctx)
				if err != nil {
					t.Fatal(err)
				}
				want, err := csg.Reference(table, csg.DP)
				if err != nil {
					t.Fatal(err)
				}
				optimum := want.Value.Float()
				o := options(t, 5*time.Second)
				target := optimum - 1e-9*math.Abs(optimum)
				o.Target = &target
				r := checked(t, inst, o)
				if got := r.Value.Float(); math.Abs(got-optimum) > 1e-9*math.Abs(optimum) || r.Met == nil {
					t.Errorf("%s: found %s, the reference %s", inst.Source, r.Value, want.Value)
				}
				if inst.Type == csgproblem.Int64 && r.Value != want.Value {
					t.Errorf("%s: found %s, the reference %s", inst.Source, r.Value, want.Value)
				}
				if r.Bound.Float() < r.Value.Float() || r.Proven && r.Value != r.Bound {
					t.Errorf("%s: value %s, bound %s, proven %t", inst.Source, r.Value, r.Bound, r.Proven)
				}
			}
		}
	}
}

// Of 22 agents the exact algorithms are asked.
func TestTheOptimumOfLargeTables(t *testing.T) {
	inst, err := Draw("laplace", 22, 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	table, err := inst.Table(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	o := options(t, time.Second)
	exact, err := csg.Solve(context.Background(), table, csg.Options{Settings: solve.Settings{Devices: o.Devices}})
	if err != nil || !exact.Proven {
		t.Fatal(err, exact)
	}
	if r := checked(t, inst, o); math.Abs(r.Value.Float()-exact.Value.Float()) > 1e-9 {
		t.Errorf("found %s, exactly %s", r.Value, exact.Value)
	}
}

// Graphs whose conflicts share no edge are proven, at once.
func TestProven(t *testing.T) {
	for name, text := range map[string]string{
		"positive.rud": "4 4\n1 2 3\n2 3 1\n3 4 2\n1 4 5\n",
		"negative.rud": "3 2\n1 2 -3\n2 3 -1\n",
		"triangle.rud": "5 5\n1 2 3\n2 3 1\n1 3 -2\n3 4 -2\n4 5 0.25\n",
		"empty.rud":    "4 0\n",
	} {
		inst := read(t, name, text)
		begin := time.Now()
		r := checked(t, inst, options(t, time.Minute))
		if !r.Proven || r.Value != r.Bound || time.Since(begin) > 20*time.Second {
			t.Errorf("%s: value %s, bound %s, proven %t", name, r.Value, r.Bound, r.Proven)
		}
	}
}

func read(t *testing.T, name, text string) *Instance {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	inst, err := Read(path, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

// Every format gives the same graph, whose weights are worth what they say even where the format's
// problems are to be minimised; own weights count for every structure.
func TestFormats(t *testing.T) {
	for name, text := range map[string]string{
		"a.rud":  "3 2\n1 2 5\n2 3 -4\n",
		"a.mtx":  "%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 5\n3 2 -4\n",
		"a.coo":  "0 1 5\n1 2 -4\n",
		"a.qubo": "p qubo 0 3 0 2\n0 1 5\n1 2 -4\n",
	} {
		inst := read(t, name, text)
		if r := checked(t, inst, options(t, time.Second)); r.Value != "5" || len(r.Blocks) != 2 || inst.N != 3 {
			t.Errorf("%s: found %s of %v, expected 5", name, r.Value, r.Blocks)
		}
		var out bytes.Buffer
		if err := inst.Write(&out); name == "a.rud" && (err != nil || strings.TrimSpace(out.String()) != strings.TrimSpace(text)) {
			t.Errorf("written %v: %q", err, out.String())
		}
	}
	for name, format := range map[string]string{"a.rud": "rudy", "G1": "rudy", "b.mtx.gz": "mtx", "G14.xz": "rudy", "c.coo.zst": "coo",
		"d.npy": "", "e.csv": "", "f.json": "", "g": ""} {
		if got := FormatOf(name); got != format {
			t.Errorf("%s: told as %q, expected %q", name, got, format)
		}
	}
	own := read(t, "own.coo", "0 0 -2\n1 1 10\n0 1 5\n")
	if err := own.Write(&bytes.Buffer{}); err == nil {
		t.Error("own weights were written as rudy")
	}
	if r := checked(t, own, options(t, time.Second)); r.Value != "13" || !r.Proven {
		t.Errorf("own weights: found %s, expected 13", r.Value)
	}
	for name, text := range map[string]string{"spin.coo": "# vartype=SPIN\n0 1 1\n", "loop.rud": "2 1\n1 1 3\n"} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path, ReadOptions{}); err == nil {
			t.Errorf("%s was read", name)
		}
	}
}

// Units are exact where decimals or powers of two are, and never below the weights.
func TestUnits(t *testing.T) {
	for _, c := range []struct {
		weights []float64
		unit    weightUnit
		exact   bool
	}{
		{nil, weightUnit{}, true},
		{[]float64{0, 3, -7}, weightUnit{}, true},
		{[]float64{0.1, -0.25}, weightUnit{places: 2}, true},
		{[]float64{1e-3, 4e12}, weightUnit{places: 3}, true},
		{[]float64{0x1p-40, 1}, weightUnit{bits: 40}, true},
		{[]float64{0x1p500, -0x1p460}, weightUnit{bits: -460}, true},
		{[]float64{math.Pi, 1e10}, weightUnit{bits: 53 - 34}, false},
		{[]float64{1e-300, -1e300}, weightUnit{bits: 53 - 997}, false},
		{[]float64{5e-324}, weightUnit{bits: 1074}, true},
	} {
		u, exact := unitOf(c.weights)
		if u != c.unit || exact != c.exact {
			t.Errorf("%v: found %v, exact %t, expected %v", c.weights, u, exact, c.unit)
		}
		for k, count := range u.toUnits(c.weights) {
			if got := u.toFloat(count); got < c.weights[k] && c.exact || exact && got != c.weights[k] {
				t.Errorf("%v: weight %v became %d units, %v", c.weights, c.weights[k], count, got)
			}
		}
	}
	b := quboproblem.NewBuilder(3)
	b.Form(quboproblem.MaxCut)
	b.Maximize()
	b.Pair(0, 1, math.Pi)
	b.Pair(1, 2, -math.E*1e9)
	b.Pair(0, 2, 1e-9)
	terms, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	inst, err := newInstance(terms)
	if err != nil {
		t.Fatal(err)
	}
	r := checked(t, inst, options(t, 200*time.Millisecond))
	if r.Value != solve.NumberOf(math.Pi) || inst.exact || r.Bound.Float() < math.Pi || *r.Gap > 1e-6 {
		t.Errorf("rounded weights: found %s, bound %s, exact %t", r.Value, r.Bound, inst.exact)
	}
}

// Limits end a search, which tells what it has found by then.
func TestLimits(t *testing.T) {
	inst, err := Draw("uniform", 300, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	begin, told := time.Now(), 0
	o := options(t, 100*time.Millisecond)
	o.Progress = func(now solve.Incumbent) {
		if told++; now.Gap == nil || now.Bound.Float() < now.Value.Float() {
			t.Errorf("told %+v", now)
		}
	}
	r := checked(t, inst, o)
	if took := time.Since(begin); took > 10*time.Second || told < 2 || !r.Stopped || r.Proven || len(r.History) < 2 {
		t.Errorf("took %v, told %d times: %+v", took, told, r.Report)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err = Solve(ctx, inst, options(t, time.Minute))
	if err != nil || !r.Stopped || r.Value == "" {
		t.Errorf("ended before it began: %v, %+v", err, r)
	}
	o = options(t, time.Minute)
	target := r.Value.Float() + 1
	o.Target = &target
	if r = checked(t, inst, o); r.Met == nil || r.Value.Float() < target {
		t.Errorf("the target %v: found %s", target, r.Value)
	}
	for _, wrong := range []func(*Options){
		func(o *Options) { o.Devices = nil },
		func(o *Options) { o.Algorithm = "price" },
		func(o *Options) { o.Variant = "x" },
		func(o *Options) { o.TimeLimit = -1 },
	} {
		o := options(t, time.Second)
		wrong(&o)
		if _, err := Solve(context.Background(), inst, o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}

// On complete graphs of random signs prices bound what conflicts do not, of some hundred agents with cuts of a semidefinite program; lower ones are refuted.
func TestPrices(t *testing.T) {
	for _, c := range []struct {
		agents int
		most   float64
	}{{120, 1000}, {cliques.MostConic + 1, 12000}} {
		if c.agents > cliques.MostConic && testing.Short() {
			continue
		}
		inst, err := Draw("sign", c.agents, 1, 2)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		o := options(t, time.Minute)
		o.Progress = func(now solve.Incumbent) {
			if now.Bound.Float() <= c.most {
				stop()
			}
		}
		r := checkedIn(t, ctx, inst, o)
		prices := r.Certificate.Prices
		if c.agents <= cliques.MostConic {
			if r.Certificate.Conic == nil {
				t.Fatalf("the bound %s has no conic prices", r.Bound)
			}
			prices = r.Certificate.Conic.Prices
		}
		if len(prices) != inst.N || r.Bound.Float() > c.most {
			t.Fatalf("the bound is %s, of %d prices", r.Bound, len(prices))
		}
		for i := range prices {
			prices[i] *= 0.9
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := Verify(inst, text); err != nil || v.Err() == nil || !strings.Contains(v.Err().Error(), "prices") {
			t.Errorf("lower prices: %v, %+v", err, v)
		}
	}
}

// An extracted coalition gains what its program says, from any structure; of few agents the
// best one is found.
func TestExtraction(t *testing.T) {
	inst, err := Draw("uniform", 9, 0.8, 4)
	if err != nil {
		t.Fatal(err)
	}
	label := []int32{0, 0, 0, 1, 1, 1, 2, 2, 3}
	before, p := inst.graph.Value(label), coalitionProgram(inst, label)
	most := int64(0)
	for mask := range 1 << 9 {
		after := slices.Clone(label)
		x := []uint64{uint64(mask)}
		for i := range after {
			if mask>>i&1 == 1 {
				after[i] = 4
			}
		}
		if got, want := p.Amount(x).Float(), float64(inst.graph.Value(after)-before); got != want {
			t.Fatalf("coalition %b gains %v, its program says %v", mask, want, got)
		}
		most = max(most, inst.graph.Value(after)-before)
	}
	o := options(t, time.Second)
	r, err := qubo.Solve(context.Background(), p, qubo.Options{Settings: o.Settings})
	if err != nil || r.Value.Float() != float64(most) {
		t.Errorf("found %v, %v, expected %d", r, err, most)
	}
	// Every agent alone, and weights that sums of 64 bits do hold, and searches do not.
	for _, text := range []string{"3 3\n1 2 5\n2 3 5\n1 3 5\n", "4 3\n1 2 100000000000000000\n2 3 -30000000000000000\n1 3 7\n"} {
		if r := checked(t, read(t, "x.rud", text), options(t, 100*time.Millisecond)); len(r.Blocks) > 3 {
			t.Errorf("%q: found %v", text, r.Blocks)
		}
	}
}

// What an answer says and the instance does not is refuted.
func TestVerifyRefutes(t *testing.T) {
	inst, err := Draw("uniform", 90, 1, 5)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(checked(t, inst, options(t, 200*time.Millisecond)))
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(x map[string]any){
		"value":     func(x map[string]any) { x["value"] = 1 },
		"bound":     func(x map[string]any) { x["bound"], x["gap"] = x["value"], 0 },
		"proven":    func(x map[string]any) { x["bound"], x["gap"], x["proven"] = x["value"], 0, true },
		"solution":  func(x map[string]any) { x["solution"] = x["solution"].([]any)[1:] },
		"twice":     func(x map[string]any) { x["solution"] = append(x["solution"].([]any), []any{1}) },
		"size":      func(x map[string]any) { x["size"] = map[string]any{"agents": 90, "edges": 3} },
		"type":      func(x map[string]any) { x["type"] = "float64" },
		"conflicts": func(x map[string]any) { x["certificate"].(map[string]any)["conflicts"] = 1 },
		"sum":       func(x map[string]any) { x["certificate"].(map[string]any)["sum"] = "1" },
	} {
		var x map[string]any
		if err := json.Unmarshal(text, &x); err != nil {
			t.Fatal(err)
		}
		change(x)
		changed, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := Verify(inst, changed); err != nil || v.Err() == nil || v.Proven {
			t.Errorf("%s: %v, %+v", name, err, v)
		}
	}
	if _, err := Verify(inst, []byte("{")); err == nil {
		t.Error("half an object was read")
	}
}

// A search begins with a structure of a graph or of a distribution: ended at once it has that one or a better one.
func TestStart(t *testing.T) {
	graph, err := Draw("uniform", 60, 0.4, 3)
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := NewDrawn("normal", 45, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, inst := range []*Instance{graph, drawn} {
		good := checked(t, inst, options(t, 300*time.Millisecond))
		o := options(t, time.Nanosecond)
		o.Start = csgproblem.Blocks(good.Blocks)
		if r := checked(t, inst, o); r.Value.Float() < good.Value.Float() {
			t.Errorf("%s: found %s, expected %s at least", inst.Source, r.Value, good.Value)
		}
		o = options(t, time.Hour)
		target := good.Value.Float()
		o.Start, o.Target = csgproblem.Blocks(good.Blocks), &target
		if r := checked(t, inst, o); r.Met == nil || r.Stopped {
			t.Errorf("%s: the start meets the target, found %+v", inst.Source, r)
		}
		o.Start = csgproblem.Blocks{{1, 2}}
		if _, err := Solve(t.Context(), inst, o); !errors.Is(err, solve.ErrInput) || !strings.Contains(err.Error(), "Start: found agent 3 in no block") {
			t.Errorf("%s: found %v", inst.Source, err)
		}
	}
}
