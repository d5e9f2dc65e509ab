package rules

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"testing"

	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/internal/problems"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/assignment"
	assignmentproblem "coalesce/solvers/assignment/problem"
	"coalesce/solvers/auction"
	auctionproblem "coalesce/solvers/auction/problem"
	"coalesce/solvers/csg"
	csgproblem "coalesce/solvers/csg/problem"
	"coalesce/solvers/model"
	modelproblem "coalesce/solvers/model/problem"
	"coalesce/solvers/qubo"
	quboproblem "coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// A recorder is a device that keeps the label of the variant last loaded of each family.
type recorder struct {
	device.Device
	mutex  sync.Mutex
	loaded map[string]string
}

func (r *recorder) Load(f *device.Family, v *device.Variant) (device.Module, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.loaded[f.Name] = v.Label
	return r.Device.Load(f, v)
}

// subjects are all families that are tuned, by their names.
func subjects() map[string]subject.Subject {
	all := map[string]subject.Subject{}
	for _, s := range problems.List().Subjects() {
		all[s.Family().Name] = s
	}
	return all
}

// Whatever family a solve uses, a winner in the user's tuning data is what runs. Each
// solve is done with the binary's data first; then every family that it loaded has
// another variant win, at this size, and is loaded again. Families that nobody tunes are
// left out: they have one variant of a kind.
func TestTuningIsUsed(t *testing.T) {
	subjects := subjects()
	const n, variables = 12, 40 // agents and rows; variables
	gpu, cpu := emulatedtest.Open(t), host.Open(0)
	defer cpu.Close()
	ctx := context.Background()
	agents, err := csg.GenerateAs("uniform", n, 1, csgproblem.Int32)
	if err != nil {
		t.Fatal(err)
	}
	more, err := csg.GenerateAs("uniform", n+2, 1, csgproblem.Int32)
	if err != nil {
		t.Fatal(err)
	}
	costs, places := make([]int32, n*n), assignmentproblem.Points{Metric: assignmentproblem.Euclidean, Dim: 2}
	for i := range costs {
		costs[i] = int32(i * i * 7919 % 1009)
	}
	for i := range 2 * n {
		places.Row, places.Col = append(places.Row, float64(i*i%37)), append(places.Col, float64(i*i*i%41))
	}
	matrix, err := assignmentproblem.NewInstance(n, n, costs, "test")
	if err != nil {
		t.Fatal(err)
	}
	points, err := assignmentproblem.NewPoints(places, "test")
	if err != nil {
		t.Fatal(err)
	}
	b := quboproblem.NewBuilder(variables)
	for i := range variables {
		b.Linear(i, float64(i*i%7-3))
		for j := range i {
			b.Pair(i, j, float64((i*j+i)%11-5))
		}
	}
	b.Maximize()
	quadratic, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	sets := quboproblem.NewBuilder(variables)
	for i := range variables {
		sets.Linear(i, 1)
		for _, j := range []int{(i + 1) % variables, (i + 3) % variables, (i * i) % variables} {
			if i != j {
				sets.Pair(i, j, -2)
			}
		}
	}
	sets.Maximize()
	stable, err := sets.Build()
	if err != nil {
		t.Fatal(err)
	}
	cubic := modelproblem.New(modelproblem.Maximize)
	for i := range variables {
		cubic.AddBinary(fmt.Sprint(i))
		cubic.AddTerm(modelproblem.DecimalOfInteger(int64(i*i%7-3)), int32(i), int32((i+1)%variables), int32((i*i+2)%variables))
	}
	bids := &auctionproblem.Auction{Goods: n, Dummies: 5, Source: "test"}
	for i := range int64(2 * n) {
		bids.Bids = append(bids.Bids, auctionproblem.Bid{Number: i, Price: 1 + i*i%17, Goods: []int64{i % n, n + i%5}})
	}
	for i := range int64(n) { // n goods that several bidders ask for
		bids.Bids = append(bids.Bids, auctionproblem.Bid{Number: 2*n + i, Price: 3, Goods: []int64{i}})
	}
	many, err := auction.Generate("arbitrary-npv", 48, 300, 1) // a tree of half a second
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for name, run := range map[string]struct {
		device device.Device
		size   int
		solve  func(solve.Settings) error
	}{
		"csg": {gpu, n, func(s solve.Settings) error { _, err := csg.Solve(ctx, agents, csg.Options{Settings: s}); return err }},
		"csg, dp": {gpu, n, func(s solve.Settings) error {
			s.Algorithm = string(csg.DP)
			_, err := csg.Solve(ctx, agents, csg.Options{Settings: s})
			return err
		}},
		"csg, price": {gpu, n + 2, func(s solve.Settings) error { // as many agents as the largest tiles, and one more
			s.Algorithm = string(csg.ByPrices)
			_, err := csg.Solve(ctx, more, csg.Options{Settings: s})
			return err
		}},
		"csg, host": {cpu, n, func(s solve.Settings) error { _, err := csg.Solve(ctx, agents, csg.Options{Settings: s}); return err }},
		"auction": {gpu, n, func(s solve.Settings) error {
			s.Algorithm = auction.Bidders
			_, err := auction.Solve(ctx, bids, auction.Options{Settings: s})
			return err
		}},
		"auction, branch": {gpu, len(many.Bids), func(s solve.Settings) error {
			s.Algorithm = auction.Branch
			_, err := auction.Solve(ctx, many, auction.Options{Settings: s})
			return err
		}},
		"core":      {gpu, n, solving(ctx, matrix, "core")},
		"scaling":   {gpu, n, solving(ctx, matrix, "scaling")},
		"tree":      {gpu, n, solving(ctx, matrix, "tree")},
		"classical": {gpu, n, solving(ctx, matrix, "classical")},
		"points":    {gpu, n, solving(ctx, points, "")},
		"batch": {gpu, n, func(s solve.Settings) error {
			_, err := assignment.SolveBatch(ctx, []*assignmentproblem.Instance{matrix, matrix}, assignment.Options{Settings: s})
			return err
		}},
		"fused": {gpu, n, func(s solve.Settings) error {
			m, err := assignment.OpenMatrices(assignment.Layout{Type: assignmentproblem.Int32, Count: 2, Rows: n, Cols: n}, assignment.AnyTies, assignment.Options{Settings: s})
			if err != nil {
				return err
			}
			return m.Close()
		}},
		"flow": {gpu, 2 * n, func(s solve.Settings) error {
			m, err := assignment.OpenTransports(assignment.Layout{Type: assignmentproblem.Int32, Count: 4, Rows: n, Cols: n}, false, assignment.Options{Settings: s})
			if err != nil {
				return err
			}
			return m.Close()
		}},
		"tabu":       {gpu, variables, searching(ctx, quadratic, "bulk")},
		"tempering":  {gpu, variables, searching(ctx, quadratic, "temper")},
		"stableset":  {gpu, variables, searching(ctx, stable, "stableset")},
		"multistart": {gpu, variables, searching(ctx, quadratic, "multistart")},
		"polynomial": {gpu, variables, func(s solve.Settings) error {
			_, err := model.Solve(ctx, cubic, model.Options{Settings: s, Work: 40})
			return err
		}},
	} {
		r := &recorder{Device: run.device, loaded: map[string]string{}}
		if err := run.solve(solve.Settings{Devices: []device.Device{r}}); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		first := maps.Clone(r.loaded)
		frozen(t, name, subjects, r, run.solve)
		for family, label := range first {
			s := subjects[family]
			if s == nil || family == "qubo/bulk" && name != "tabu" { // few of its variants hold an auction's conflicts
				continue
			}
			used, tried := false, 0
			for _, other := range others(s, label, run.device.Facts(), run.size) {
				r.loaded = map[string]string{}
				err := run.solve(solve.Settings{Devices: []device.Device{r}, Tuning: forcing(t, s, other, run.device.Facts(), run.size)})
				if err != nil {
					t.Errorf("%s with %s of %s: %v", name, other.Label, family, err)
				}
				if tried++; r.loaded[family] == other.Label {
					used = true
					break
				}
			}
			if seen[family] = seen[family] || used; !used && tried > 0 {
				t.Errorf("%s: any of %d variants of %s won in the user's data, and %s runs", name, tried, family, r.loaded[family])
			}
		}
	}
	for family, s := range subjects {
		// Kernels of assignment/hostscan and qubo/hostflips are loaded by no device: see their own tests.
		if !seen[family] && s.Family().Target != "" && family != "assignment/hostscan" && family != "qubo/hostflips" {
			t.Errorf("%s: no solve of this test runs it", family)
		}
	}
}

// frozen: a database of nothing that may not guess solves nothing, the workloads that it
// tells of are such as are tuned, and with a winner for each of them it solves.
func frozen(t *testing.T, name string, subjects map[string]subject.Subject, r *recorder, run func(solve.Settings) error) {
	t.Helper()
	facts := r.Facts()
	db, last := &tuned.Database{}, 0
	for range 10 { // each solve comes as far as the next guess
		var met []tuned.UnmeasuredChoice
		var mutex sync.Mutex
		policy := tuned.Policy{Frozen: true, Guessed: func(g tuned.UnmeasuredChoice) {
			mutex.Lock()
			defer mutex.Unlock()
			met = append(met, g)
		}}
		err := run(solve.Settings{Devices: []device.Device{r}, Tuning: tuned.Merge(db, nil).WithPolicy(policy)})
		if len(met) == 0 {
			if err != nil || last == 0 {
				t.Errorf("%s, frozen, with %d winners: %v, and guessed nothing", name, last, err)
			}
			return
		}
		if !errors.Is(err, tuned.ErrNotTuned) {
			t.Errorf("%s, frozen: error %v after guesses %v", name, err, met)
			return
		}
		for k, g := range met {
			if slices.ContainsFunc(met[:k], func(o tuned.UnmeasuredChoice) bool { return reflect.DeepEqual(o, g) }) {
				continue
			}
			s := subjects[g.Family]
			if s == nil || !slices.ContainsFunc(s.Workloads(), func(w map[string]string) bool { return maps.Equal(w, g.Fixed) }) {
				t.Errorf("%s: a guess for %s %v, which nobody tunes", name, g.Family, g.Fixed)
				return
			}
			for _, v := range slices.Backward(variants(s.Family())) {
				if s.Family().CheckWorkload(v, g.Fixed) != nil || s.Feasible(v, facts, g.Size) != nil {
					continue
				}
				e := tuned.Entry{Family: g.Family, Class: g.Class, Fixed: g.Fixed, Size: g.Size, Protocol: tuned.Protocol, Winner: v.Label}
				old, ok := db.Lookup(g.Family, g.Class, tuned.Workload{Fixed: g.Fixed, Size: g.Size})
				if ok {
					e.Results = old.Results
				}
				e.Results = append(e.Results, tuned.Result{Variant: v.Label, Hash: tuned.Hash(v.Hash), Nanos: 1})
				e.Time = old.Time.Add(1e9)
				if err := db.Put(e); err != nil {
					t.Fatal(err)
				}
			}
			last++
		}
	}
	t.Errorf("%s: guesses anew after %d winners", name, last)
}

// variants are all of a family, those first that the family's own tests compile: the cache
// has them, or needs them.
func variants(f *device.Family) []*device.Variant {
	list := emulatedtest.SampleVariants(f, 1)
	for i := range f.Variants {
		if v := &f.Variants[i]; !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

// others are the variants of a family that can do what the one with this label does.
func others(s subject.Subject, label string, facts device.Facts, size int) []*device.Variant {
	f := s.Family()
	was := f.Variant(label)
	var list []*device.Variant
	for _, v := range variants(f) {
		for _, fixed := range s.Workloads() {
			if v != was && f.CheckWorkload(v, fixed) == nil && f.CheckWorkload(was, fixed) == nil && s.Feasible(v, facts, size) == nil {
				list = append(list, v)
				break
			}
		}
	}
	return list
}

// forcing is tuning data in which a variant won each workload that it fits, at a size.
func forcing(t *testing.T, s subject.Subject, v *device.Variant, facts device.Facts, size int) *tuned.Database {
	t.Helper()
	f, db := s.Family(), &tuned.Database{}
	for _, fixed := range s.Workloads() {
		if f.CheckWorkload(v, fixed) != nil {
			continue
		}
		err := db.Put(tuned.Entry{Family: f.Name, Class: facts.Class(), Fixed: fixed, Size: size, Protocol: tuned.Protocol,
			Winner: v.Label, Results: []tuned.Result{{Variant: v.Label, Hash: tuned.Hash(v.Hash), Nanos: 1}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	return db
}

func solving(ctx context.Context, inst *assignmentproblem.Instance, algorithm string) func(solve.Settings) error {
	return func(s solve.Settings) error {
		s.Algorithm = algorithm
		_, err := assignment.Solve(ctx, inst, assignment.Options{Settings: s})
		return err
	}
}

func searching(ctx context.Context, inst *quboproblem.Instance, algorithm string) func(solve.Settings) error {
	return func(s solve.Settings) error {
		s.Algorithm = algorithm
		o := qubo.Options{Settings: s}
		o.Work, o.Unreduced = 40, true
		_, err := qubo.Solve(ctx, inst, o)
		return err
	}
}
