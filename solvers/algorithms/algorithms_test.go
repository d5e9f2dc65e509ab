package algorithms_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"coalesce/autotune"
	"coalesce/autotune/subject"
	"coalesce/autotune/trial"
	"coalesce/autotune/tuned"
	"coalesce/autotune/worker"
	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/algorithms"
	"coalesce/solvers/solve"
)

// toy is a problem whose algorithms return twice a number, or do not.
func toy() (*device.Family, subject.Subject) {
	f := algorithms.NewFamily("toy/algorithm", []string{"algorithm"},
		algorithms.Algorithm{Values: []string{"right"}}, algorithms.Algorithm{Values: []string{"wrong"}},
		algorithms.Algorithm{Values: []string{"unproven"}}, algorithms.Algorithm{Values: []string{"silent"}}, algorithms.Algorithm{Values: []string{"failing"}},
		algorithms.Algorithm{Values: []string{"picky"}}, algorithms.Algorithm{Values: []string{"boundless"}})
	return f, algorithms.NewSubject(algorithms.Problem[int]{
		Family:    f,
		Fixed:     []map[string]string{{"shape": "square"}},
		Sizes:     func(device.Facts) []int { return []int{3} },
		Feasible:  func(*device.Variant, device.Facts, int) error { return nil },
		Predicted: func(map[string]string, device.Facts, int) (*device.Variant, string) { return &f.Variants[1], "a guess" },
		Small:     []int{1, 2},
		Draw:      func(_ map[string]string, size, _ int, _ uint64) (int, error) { return size, nil },
		Kinds:     1,
		Reference: func(n int) (solve.Number, error) { return solve.NumberOf(2 * float64(n)), nil },
		Open: func(_ context.Context, n int, s solve.Settings) (algorithms.Solver, error) {
			return algorithms.Solver{Close: func() error { return nil }, Solve: func(context.Context) (*solve.Report, error) {
				c, err := s.ChooseAlgorithm(f, device.Facts{}, tuned.Workload{Size: n, Prior: tuned.Prior{Variant: &f.Variants[1]}}, func(v *device.Variant) error {
					if f.Value(v, "algorithm") == "picky" && n == 3 {
						return errors.New("3 is odd")
					}
					return nil
				})
				if err != nil {
					return nil, err
				}
				r := &solve.Report{Value: solve.NumberOf(2 * float64(n))}
				switch f.Value(c.Variant, "algorithm") {
				case "wrong":
					r.Value = "7"
				case "unproven":
					return r, nil
				case "boundless":
					r.Proven = true
					return r, nil
				case "silent":
					return nil, nil
				case "failing":
					return nil, errors.New("no memory")
				}
				r.SetProvenBound(r.Value)
				return r, nil
			}}, nil
		},
		Work: func(n int) float64 { return float64(n) },
	})
}

// A trial runs the algorithm that it is of, whatever is predicted, and only a proven
// answer of the right value passes.
func TestTrialsOfAlgorithms(t *testing.T) {
	f, s := toy()
	d := host.Open(1)
	defer d.Close()
	b := worker.Bench{Device: d, Subjects: algorithms.WithDatabase([]subject.Subject{s}, &tuned.Database{})}
	// The safe algorithm comes first, as when tuning: its value of the instance timed is held against the others'.
	for _, c := range []struct {
		name string
		want trial.Status
	}{{"right", trial.OK}, {"wrong", trial.Verify}, {"unproven", trial.Verify}, {"boundless", trial.Verify}, {"silent", trial.Verify}, {"failing", trial.Launch}, {"picky", trial.Constraint}} {
		name, want := c.name, c.want
		v := f.Variant("algorithm=" + name)
		for _, action := range []string{trial.ActionVerify, trial.ActionMeasure} {
			want := want
			got := b.RunTrial(t.Context(), worker.Request{Family: f.Name, Variant: v.Label, Hash: v.Hash, Fixed: s.Workloads()[0], Size: 3, Action: action})
			if want == trial.Constraint && action == trial.ActionVerify {
				want = trial.OK // of the small instances it refuses none
			}
			if got.Status != want {
				t.Errorf("%s, %s: %s %s, expected %s", name, action, got.Status, got.Error, want)
			}
		}
	}
}

// An algorithm's hash follows the text of its kernels' safe points, so that its results are stale with
// it. Neither another point nor a header that the points do not include makes them stale.
func TestHashes(t *testing.T) {
	of := func(family uint64, variants ...device.Variant) uint64 {
		return algorithms.NewFamily("toy/algorithm", []string{"algorithm", "bound"},
			algorithms.Algorithm{Values: []string{"a", "1"}, Kernels: &device.Family{Hash: family, Variants: variants}}).Variants[0].Hash
	}
	one, two, other := device.Variant{Hash: 1, Safe: true}, device.Variant{Hash: 2, Safe: true}, device.Variant{Hash: 4}
	was := of(7, one, two)
	if was != of(7, one, two) || was != of(8, one, two) || was != of(7, one, other, two) {
		t.Error("the same safe points have another hash")
	}
	if changed := (device.Variant{Hash: 3, Safe: true}); was == of(7, one, changed) || was == of(7, one) {
		t.Error("other safe points have the same hash")
	}
}

// A prediction is what a winner has to beat: where nothing does, it stays.
func TestPredictedIsTheIncumbent(t *testing.T) {
	f, s := toy()
	d := host.Open(1)
	defer d.Close()
	var order []string
	_, _, err := autotune.Tune(t.Context(), autotune.Options{Subject: s, Device: d, Seed: 1, Progress: func(e autotune.Event) {
		if len(order) == 0 || order[len(order)-1] != e.Trial.Variant {
			order = append(order, e.Trial.Variant)
		}
	}})
	if !errors.Is(err, autotune.ErrWrongVariant) {
		t.Errorf("Tune: %v", err)
	}
	if want := []string{f.Variants[0].Label, f.Variants[1].Label}; len(order) < 2 || !slices.Equal(order[:2], want) {
		t.Errorf("tried in the order %v, expected first the safe one and the predicted: %v", order, want)
	}
}

// A timed run solves instances of all kinds, each with a seed of its own; where it has room for fewer,
// the next begins with another kind.
func TestLots(t *testing.T) {
	var drawn []int
	var seeds []uint64
	several := 5
	s := algorithms.NewSubject(algorithms.Problem[int]{
		Family: algorithms.NewFamily("toy/algorithm", []string{"algorithm"}, algorithms.Algorithm{Values: []string{"a"}}),
		Small:  []int{1, 2},
		Draw: func(_ map[string]string, size, kind int, seed uint64) (int, error) {
			drawn, seeds = append(drawn, kind), append(seeds, seed)
			return size, nil
		},
		Kinds:   3,
		Several: func(int) int { return several },
	})
	for _, c := range []struct{ size, several, want, kinds int }{{3, 5, 5, 3}, {3, 1, 1, 1}, {2, 5, 2, 2}} {
		drawn, seeds, several = nil, nil, c.several
		x, err := s.Instance(nil, c.size, 7)
		if err != nil || x.Size() != c.size {
			t.Fatal(x, err)
		}
		slices.Sort(drawn)
		slices.Sort(seeds)
		if len(drawn) != c.want || len(slices.Compact(drawn)) != c.kinds || len(slices.Compact(seeds)) != c.want {
			t.Errorf("size %d, %d of them: drew kinds %v with seeds %v", c.size, c.several, drawn, seeds)
		}
	}
	drawn, several = nil, 1
	for k := range uint64(4) {
		if _, err := s.Instance(nil, 3, 7+k*0x9e3779b97f4a7c15); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(drawn)
	if len(slices.Compact(drawn)) != 3 {
		t.Errorf("four instances of one are of the kinds %v", drawn)
	}
	drawn = nil
	if cases, err := s.Cases(nil); err != nil || len(cases) != 3 || !slices.Equal(drawn, []int{0, 1, 2}) {
		t.Errorf("%d cases of the kinds %v: %v", len(cases), drawn, err)
	}
}

// An answer of an earlier run does not pass for one of a run that did nothing.
func TestResetForgets(t *testing.T) {
	f, s := toy()
	d := host.Open(1)
	defer d.Close()
	stream, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Open(d, f.Variant("algorithm=right"))
	if err != nil {
		t.Fatal(err)
	}
	x, err := s.Instance(nil, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	j, err := r.Prepare(x)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.Reset(stream), j.Run(stream), j.Check(stream)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.Reset(stream), j.Check(stream)); err == nil {
		t.Error("Check passes without a run")
	}
}

// Trials of algorithms run the kernels that won in the data that the tuner has so far.
func TestTrialsUseTunedKernels(t *testing.T) {
	kernels := &device.Family{Name: "toy/kernels", Params: []string{"block"}, Target: device.Host, Variants: []device.Variant{
		{Label: "block=32", Values: []string{"32"}, Hash: 1, Safe: true}, {Label: "block=64", Values: []string{"64"}, Hash: 2}}}
	f := algorithms.NewFamily("toy/algorithm", []string{"algorithm"}, algorithms.Algorithm{Values: []string{"a"}, Kernels: kernels})
	d := host.Open(1)
	defer d.Close()
	facts := d.Facts()
	ran := ""
	s := algorithms.NewSubject(algorithms.Problem[int]{
		Family: f, Small: []int{1}, Kinds: 1,
		Draw: func(map[string]string, int, int, uint64) (int, error) { return 1, nil },
		Work: func(int) float64 { return 1 },
		Open: func(_ context.Context, _ int, s solve.Settings) (algorithms.Solver, error) {
			c, err := s.Tuning.Choose(kernels, facts, tuned.Workload{Size: 1}, nil)
			if err == nil {
				ran = c.Variant.Label
			}
			return algorithms.Solver{Close: func() error { return nil }}, err
		},
	})
	won, err := tuned.New(tuned.Entry{Family: kernels.Name, Class: facts.Class(), Size: 1, Protocol: tuned.Protocol,
		Winner: "block=64", Results: []tuned.Result{{Variant: "block=64", Hash: 2, Nanos: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	for db, want := range map[*tuned.Database]string{{}: "block=32", won: "block=64"} {
		using := algorithms.WithDatabase([]subject.Subject{s}, db)[0]
		r, err := using.Open(d, &f.Variants[0])
		if err != nil {
			t.Fatal(err)
		}
		x, err := using.Instance(nil, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Prepare(x); err != nil || ran != want {
			t.Errorf("%s of the kernels ran, expected %s; %v", ran, want, err)
		}
	}
}
