package qubo

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/qubo/internal/preprocess"
	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/internal/reference"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// solved solves on two goroutines of the host.
func solved(t *testing.T, inst *problem.Instance, o Options) *Result {
	t.Helper()
	d := host.Open(2)
	defer d.Close()
	r, err := Solve(t.Context(), inst, on(d, o))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// best is the value of the best solution that agrees with the fixed variables.
func best(t *testing.T, inst *problem.Instance) float64 {
	t.Helper()
	p, err := inst.Normal()
	if err != nil {
		t.Fatal(err)
	}
	return p.Original(qubotest.Optimum(p, inst.Fixed))
}

func TestSolveSmall(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for k := range 60 {
		inst := qubotest.Instance(r, r.IntN(12)+1, []problem.Form{problem.QUBO, problem.Ising, problem.MaxCut}[k%3], k%2 == 0)
		if k%4 == 0 {
			inst.Fixed = make([]int8, inst.N)
			for i := range inst.Fixed {
				inst.Fixed[i] = int8(r.IntN(3)) - 1
			}
		}
		want := best(t, inst)
		for _, o := range []Options{
			{},
			{Unreduced: true},
			{Settings: solve.Settings{Algorithm: "reference"}, Solutions: 3, Work: 3000},
			{Solutions: 3, Work: 3000},
		} {
			got := solved(t, inst, o)
			if got.Value.Float() != want || inst.Value(got.Solution.Words()) != want {
				t.Fatalf("%v, %+v: value %v, want %v", inst, o, got.Value, want)
			}
			if o.Solutions == 0 && !got.Proven {
				t.Fatalf("%v, %+v: not proven", inst, o)
			}
			if got.Proven && got.Bound.Float() != want {
				t.Fatalf("%v: bound %v of the optimum %v", inst, got.Bound, want)
			}
			if last := got.History[len(got.History)-1]; last.Value.String() != got.Value.String() {
				t.Fatalf("%v: the history ends with %v, the value is %v", inst, last.Value, got.Value)
			}
			for a, s := range got.Solutions {
				if inst.Value(s.Bits.Words()) != s.Value.Float() {
					t.Fatalf("solution %d is told to be worth %v", a, s.Value)
				}
				for _, u := range got.Solutions[:a] {
					if u.Bits.String() == s.Bits.String() {
						t.Fatal("two solutions are the same")
					}
				}
			}
		}
	}
}

func TestSolutionsAreApart(t *testing.T) {
	inst, err := Palubeckis(60, 60, 4711)
	if err != nil {
		t.Fatal(err)
	}
	r := solved(t, inst, Options{Solutions: 5, Distance: 6, Work: 200000, Settings: solve.Settings{Seed: 3}})
	if len(r.Solutions) != 5 || r.Solutions[0].Value.String() != r.Value.String() {
		t.Fatalf("%d solutions, the first worth %v, the best %v", len(r.Solutions), r.Solutions[0].Value, r.Value)
	}
	pair := solutions{n: inst.N}
	for a, s := range r.Solutions {
		for _, u := range r.Solutions[:a] {
			if d := pair.distance(s.Bits.Words(), u.Bits.Words()); d < 6 {
				t.Errorf("two solutions differ in %d variables, want 6", d)
			}
			if s.Value.Float() > u.Value.Float() {
				t.Error("solutions are not sorted")
			}
		}
	}
	mirror := solutions{limit: 3, apart: 1, n: 4, mirror: true}
	mirror.add(5, []uint64{0b0011}, 0)
	mirror.add(5, []uint64{0b1100}, 0)
	if len(mirror.list) != 1 {
		t.Error("a cut and its mirror image count as two")
	}
}

func TestTimeLimit(t *testing.T) {
	inst, err := Palubeckis(1000, 30, 99)
	if err != nil {
		t.Fatal(err)
	}
	const long = 400 * time.Millisecond
	for _, limit := range []time.Duration{100 * time.Millisecond, long} {
		for _, engine := range []string{"host", "reference"} {
			var r *Result
			took, late, zeros := time.Duration(0), true, true
			for try := 0; try < 3 && (late || zeros); try++ { // other programs may keep the cores from this one
				start := time.Now()
				r = solved(t, inst, Options{Settings: solve.Settings{TimeLimit: limit, Algorithm: engine}})
				took = time.Since(start)
				passes := 3 * time.Duration(r.Seconds.Verify*1e9) // over all coefficients, after the limit: the race detector makes them long
				late = took > limit*105/100+20*time.Millisecond+passes
				zeros = limit == long && r.Value.Float() == 0 // in 0.1 s a busy machine may find nothing better
			}
			if late {
				t.Errorf("%s: %v for a limit of %v", engine, took, limit)
			}
			if took < limit*8/10 || r.Seconds.Solve > took.Seconds() {
				t.Errorf("%s: %v (told: %v s) for a limit of %v", engine, took, r.Seconds.Solve, limit)
			}
			if r.Value.Float() < 0 || zeros || r.Proven || r.Bound == "" || r.Bound.Float() < r.Value.Float() {
				t.Errorf("%s: value %v, bound %v, proven %v", engine, r.Value, r.Bound, r.Proven)
			}
		}
	}
}

func TestTargetAndSeed(t *testing.T) {
	inst, err := Palubeckis(200, 80, 5)
	if err != nil {
		t.Fatal(err)
	}
	first := solved(t, inst, Options{Work: 100000, Settings: solve.Settings{Seed: 7}})
	again := solved(t, inst, Options{Work: 100000, Settings: solve.Settings{Seed: 7}})
	if first.Solution.String() != again.Solution.String() || first.Work != again.Work || len(first.History) != len(again.History) {
		t.Errorf("the same seed gives %v (%+v) and %v (%+v)", first.Value, first.Work, again.Value, again.Work)
	}
	target := first.Value.Float()
	r := solved(t, inst, Options{Settings: solve.Settings{TimeLimit: 30 * time.Second, Target: &target, Seed: 8}})
	if r.Met == nil || *r.Met > r.Seconds.Solve || r.Value.Float() < target || r.Seconds.Solve > 20 {
		t.Errorf("target %v: value %v, met %v after %v s", target, r.Value, r.Met, r.Seconds.Solve)
	}
	target = 1e300
	if r := solved(t, inst, Options{Settings: solve.Settings{Target: &target}, Work: 1000}); r.Met != nil || r.Work.Flips < 1000 {
		t.Errorf("target 1e300: %+v", r.Work)
	}
	target = first.Value.Float()
	r = solved(t, inst, Options{Settings: solve.Settings{Target: &target, Start: first.Solution}})
	if r.Met == nil || r.Work.Flips > 0 {
		t.Errorf("a start that meets the target: %+v", r.Work)
	}
	negative := inst.WithSense(problem.Minimize)
	target = -target
	if r := solved(t, negative, Options{Settings: solve.Settings{TimeLimit: 30 * time.Second, Target: &target}}); r.Value.Float() > target || r.Met == nil {
		t.Errorf("minimised: %v, target %v", r.Value, target)
	}
}

func TestInterrupt(t *testing.T) {
	inst, err := Palubeckis(500, 50, 5)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	d := host.Open(2)
	defer d.Close()
	start := time.Now()
	r, err := Solve(ctx, inst, on(d, Options{Settings: solve.Settings{TimeLimit: time.Minute}}))
	if err != nil || !r.Stopped || r.Value.Float() <= 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("stopped after %v", took)
	}
}

// A search that says more than is true is found out.
func TestWrongSearchIsRefuted(t *testing.T) {
	inst, err := Palubeckis(30, 100, 5)
	if err != nil {
		t.Fatal(err)
	}
	p, err := inst.Normal()
	if err != nil {
		t.Fatal(err)
	}
	d := host.Open(1)
	defer d.Close()
	r := &run{limits: limits{ctx: t.Context(), began: time.Now()}, o: on(d, Options{}), inst: inst, p: p, out: &Result{}}
	r.setZeros(preprocess.Reduce(p, nil, true, nil, qubotest.NeverStop))
	r.improve(0, 12345, []uint64{1}, 0)
	if err := r.Certify(t.Context(), "x"); !errors.Is(err, problem.ErrCheck) {
		t.Errorf("error %v, want one of a wrong answer", err)
	}
}

func TestSolveRefuses(t *testing.T) {
	inst, err := Palubeckis(30, 100, 5)
	if err != nil {
		t.Fatal(err)
	}
	d := host.Open(1)
	defer d.Close()
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Settings: solve.Settings{Algorithm: "x"}}, `Algorithm: found "x", expected one of `},
		{Options{Settings: solve.Settings{Variant: "x"}}, `Variant: found "x"`},
		{Options{Settings: solve.Settings{Algorithm: "host", Variant: "x"}}, "algorithm host runs, and has no such variant"},
		{Options{Settings: solve.Settings{TimeLimit: -1}}, "TimeLimit: found -1ns"},
		{Options{Settings: solve.Settings{Target: new(float64(math.Inf(1)))}}, "Target: found +Inf, expected a finite number"},
		{Options{Solutions: -1}, "Solutions: found -1"},
	} {
		if _, err := Solve(t.Context(), inst, on(d, c.o)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.o, err, c.want)
		}
	}
	if _, err := Solve(t.Context(), inst, Options{}); err == nil || !strings.Contains(err.Error(), "Devices: found none") {
		t.Errorf("without a device: %v", err)
	}
	if _, err := Solve(t.Context(), inst, on(d, Options{Memory: 1})); !errors.Is(err, device.ErrMemory) {
		t.Errorf("memory: %v", err)
	}
}

func TestResultJSON(t *testing.T) {
	inst, err := ReadFrom(strings.NewReader("p qubo 0 3 3 2\n0 0 5\n1 1 -2\n2 2 -1\n0 1 -6\n1 2 3\n"), "a.qubo", ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(solved(t, inst, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{"problem": "qubo", "form": "qubo", "sense": "minimize", "value": -3.0, "bound": -3.0, "proven": true, "solution": "110"} {
		if got[key] != want {
			t.Errorf("%s is %v, want %v", key, got[key], want)
		}
	}
	for _, key := range []string{"instance", "size", "seconds", "device", "variant", "reason", "certificate", "seed", "work", "history", "solutions"} {
		if _, ok := got[key]; !ok {
			t.Errorf("no %s", key)
		}
	}
}

// Rounded coefficients find what exact ones do, or nearly, and say its value.
func TestRounded(t *testing.T) {
	inst, err := Palubeckis(60, 100, 77)
	if err != nil {
		t.Fatal(err)
	}
	p, err := inst.Normal()
	if err != nil {
		t.Fatal(err)
	}
	var value int64
	coarse := search.Rounded{Inner: reference.Search{}, Problem: p.Coarsened(1000)}
	_, err = coarse.Search(t.Context(), p, search.Options{Began: time.Now(), Work: 50000}, func(v int64, x []uint64, _ time.Duration) {
		if value = v; p.Value(x) != v {
			t.Errorf("told %d of a solution worth %d", v, p.Value(x))
		}
	})
	whole := solved(t, inst, Options{Work: 50000})
	if err != nil || float64(value) < 0.98*whole.Value.Float() {
		t.Errorf("%d with rounded coefficients, %v without: %v", value, whole.Value, err)
	}
}

// Several solutions are found where the best is proven, or nothing is left to
// search, and where a mirror image is the same; fewer than asked for are noted.
func TestSolutionsWithoutASearch(t *testing.T) {
	d := host.Open(2)
	for _, c := range []struct {
		name, text string
		solutions  int
		distance   int
		found      int
	}{
		{"ring.rud", "8 8\n1 2 1\n2 3 1\n3 4 1\n4 5 1\n5 6 1\n6 7 1\n7 8 1\n1 8 1\n", 5, 1, 5},
		{"one.txt", "1\n1 1\n1 1 5\n", 2, 1, 2},
		{"five.txt", "1\n5 5\n1 1 1\n2 2 2\n3 3 3\n4 4 4\n5 5 5\n", 2, 5, 2},
		{"one.txt", "1\n1 1\n1 1 5\n", 3, 1, 2},
	} {
		inst, err := ReadFrom(strings.NewReader(c.text), c.name, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Solve(context.Background(), inst, on(d, Options{Settings: solve.Settings{TimeLimit: time.Second}, Solutions: c.solutions, Distance: c.distance}))
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Solutions) != c.found {
			t.Errorf("%s: %d solutions, want %d", c.name, len(r.Solutions), c.found)
		}
		if noted := strings.Contains(strings.Join(r.Notes, "\n"), "asked for were found"); noted != (c.found < c.solutions) {
			t.Errorf("%s: notes %q", c.name, r.Notes)
		}
	}
}

// Flips for more solutions count.
func TestSolutionsWithinWork(t *testing.T) {
	inst, err := Palubeckis(300, 50, 31000)
	if err != nil {
		t.Fatal(err)
	}
	const work = 5000
	r, err := Solve(context.Background(), inst, on(host.Open(2), Options{Solutions: 10, Distance: 20, Work: work}))
	if err != nil {
		t.Fatal(err)
	}
	if r.Work.Flips > 2*work {
		t.Errorf("%d flips for %d", r.Work.Flips, work)
	}
}

// A target of integers is met by it, not by one less, however large.
func TestTargetsOfIntegersAreExact(t *testing.T) {
	inst, err := ReadFrom(strings.NewReader("1\n1 1\n1 1 1125899906842624\n"), "a.txt", ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for target, met := range map[float64]bool{1 << 50: true, 1<<50 + 1: false} {
		r, err := Solve(context.Background(), inst, on(host.Open(1), Options{Settings: solve.Settings{TimeLimit: 100 * time.Millisecond, Target: &target}}))
		if err != nil || (r.Met != nil) != met {
			t.Errorf("target %v: met %v, %v; want %v", target, r.Met, err, met)
		}
	}
}

func TestSolveOnSeveral(t *testing.T) {
	devices := emulatedtest.OpenSeveral(t, 2)
	inst, err := Palubeckis(60, 100, 7)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Work: 20000, Settings: solve.Settings{Seed: 3}, Unreduced: true}
	o.Devices = devices
	var last *Result
	for range 2 {
		r, err := Solve(context.Background(), inst, o)
		if err != nil {
			t.Fatal(err)
		}
		if r.Device != "emulated,emulated:1" || r.Work.Flips < 20000 {
			t.Errorf("%s made %d flips", r.Device, r.Work.Flips)
		}
		if last != nil && (last.Value != r.Value || last.Solution.String() != r.Solution.String() || last.Work != r.Work) {
			t.Errorf("two runs of one seed: %v %v and %v %v", last.Value, last.Work, r.Value, r.Work)
		}
		last = r
	}
	for _, engine := range []string{"host", "reference"} {
		o.Algorithm = engine
		if _, err := Solve(context.Background(), inst, o); err == nil || !strings.Contains(err.Error(), "Devices: engine "+engine+" searches on the host's cores") {
			t.Errorf("engine %s on two devices: %v", engine, err)
		}
	}
	o.Algorithm, o.Work, o.Starts = "multistart", 400, Starts{Samples: 4}
	if r, err := Solve(context.Background(), inst, o); err != nil || r.Algorithm != "multistart" {
		t.Errorf("multistart on two devices: %v", err)
	}
}

// A result says by which rules it was found, which repeat it.
func TestSolveByRules(t *testing.T) {
	devices := map[string]device.Device{"host": host.Open(2), "bulk": emulatedtest.Open(t)}
	defer devices["host"].Close()
	inst, err := Palubeckis(60, 100, 7)
	if err != nil {
		t.Fatal(err)
	}
	for engine, d := range devices {
		run := func(r Rules) *Result {
			out, err := Solve(t.Context(), inst, on(d, Options{Settings: solve.Settings{Algorithm: engine, Seed: 3}, Work: 30000, Unreduced: true, Rules: r}))
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		given := Rules{Tenure: 7, Stall: 50}
		a := run(given)
		b, c := run(given), run(a.Used[engine])
		for _, other := range []*Result{b, c} {
			if other.Solution.String() != a.Solution.String() || other.Work != a.Work || len(other.History) != len(a.History) || !maps.Equal(a.Used, other.Used) {
				t.Errorf("%s: %v %+v by %s, %v %+v by %s", engine, a.Value, a.Work, a.Rules, other.Value, other.Work, other.Rules)
			}
		}
		base := run(Rules{})
		if base.Used[engine] == a.Used[engine] || engine == "host" && base.Work == a.Work { // shorter walks
			t.Errorf("%s: %s are not used: %+v", engine, given, a.Work)
		}
		text, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		var read struct {
			Rules Rules            `json:"rules"`
			Used  map[string]Rules `json:"rules_used"`
		}
		if err := json.Unmarshal(text, &read); err != nil || read.Rules != given || !maps.Equal(read.Used, a.Used) || read.Used[engine].Tenure != 7 || read.Used[engine].Pool == 0 {
			t.Errorf("%s: %+v (%v)", engine, read, err)
		}
	}
}

func TestSolveRefusesRules(t *testing.T) {
	d := host.Open(1)
	defer d.Close()
	inst, err := Palubeckis(30, 50, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []Rules{{Searches: 4}, {Tenure: 30}, {Pool: 1000}} {
		if _, err := Solve(t.Context(), inst, on(d, Options{Rules: bad, Work: 1})); err == nil || !strings.HasPrefix(err.Error(), "rule") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestWithoutIsChecked(t *testing.T) {
	for _, good := range [][]string{nil, {"host"}, {"tabu", "relink", "majority"}} {
		if err := (Options{Without: good}).check(); err != nil {
			t.Errorf("without %v: %v", good, err)
		}
	}
	for _, bad := range [][]string{{"tabo"}, {"bulk", "host"}} {
		if err := (Options{Without: bad}).check(); err == nil || !strings.Contains(err.Error(), bad[0]) {
			t.Errorf("without %v: %v", bad, err)
		}
	}
}

// on are options on a device.
func on(d device.Device, o Options) Options {
	o.Devices = []device.Device{d}
	return o
}
