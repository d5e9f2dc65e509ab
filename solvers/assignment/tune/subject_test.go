package tune

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"

	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/assignment/internal/draw"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/reference"
	"coalesce/solvers/assignment/problem"
)

// verifyVariant runs a variant on every case, twice.
func verifyVariant(t *testing.T, d device.Device, s subject.Subject, v *device.Variant, cases []subject.Case) {
	t.Helper()
	run, err := s.Open(d, v)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	stream, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	for _, c := range cases {
		job, err := run.Prepare(c.Instance)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		for range 2 { // the second run finds the memory of the first
			if err := cmp.Or(job.Reset(stream), job.Run(stream), job.Check(stream)); err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
		}
		if err := job.Close(); err != nil {
			t.Errorf("%s: close: %v", c.Name, err)
		}
	}
}

// Every family of the tuner, on its own cases: of those that solve, which have
// tests of their own, the safe variant on the smaller cases, unless every
// variant is asked for.
func TestSubjects(t *testing.T) {
	emulation := emulatedtest.Open(t)
	hosts := host.Open(2)
	defer hosts.Close()
	for _, s := range Subjects() {
		f := s.Family()
		d, list, most := emulation, emulatedtest.Variants(f), 1000
		switch {
		case f.Target == device.Host:
			d = hosts
		case f.Name != "assignment/check" && f.Name != "assignment/pointcheck":
			most = 40
			if !emulatedtest.EveryVariant() {
				at := max(0, slices.IndexFunc(f.Variants, func(v device.Variant) bool { return v.Safe }))
				list = []*device.Variant{&f.Variants[at]}
			}
		}
		for _, v := range list {
			fixed := map[string]string{}
			for at, name := range f.Params {
				fixed[name] = v.Values[at]
			}
			cases, err := s.Cases(fixed)
			if err != nil {
				t.Fatal(err)
			}
			cases = slices.DeleteFunc(cases, func(c subject.Case) bool { return c.Instance.Size() > most })
			t.Run(f.Name+" "+v.Label, func(t *testing.T) { verifyVariant(t, d, s, v, cases) })
		}
	}
}

// Every family whose variants differ in time only has a subject.
func TestSubjectsCoverFamilies(t *testing.T) {
	covered := map[string]bool{}
	for _, s := range Subjects() {
		covered[s.Family().Name] = true
		if len(s.Workloads()) == 0 {
			t.Errorf("%s has no workloads", s.Family().Name)
		}
	}
	for _, name := range []string{"core", "tree", "classical", "batch", "check", "points", "pointcheck", "duals", "hostscan"} {
		if !covered["assignment/"+name] {
			t.Errorf("assignment/%s has no subject", name)
		}
	}
}

// The cases hold what they are named for.
func TestCasesAreWhatTheySay(t *testing.T) {
	for _, value := range []problem.Value{problem.Int32, problem.Int64, problem.Float32, problem.Float64} {
		cases, err := tunableFamily{}.Cases(map[string]string{"value": string(value)})
		if err != nil {
			t.Fatal(err)
		}
		refused := 0
		for _, c := range cases {
			trial, ok := c.Instance.(*trialInstance)
			if !ok {
				t.Fatalf("%s is a %T", c.Name, c.Instance)
			}
			s, err := reference.Solve(trial.p, nil)
			if errors.As(err, new(*engine.Infeasible)) {
				refused++
			}
			if err := trial.checkAnswer(s, err, nil); err != nil {
				t.Errorf("%s, %s: the reference: %v", value, c.Name, err)
			}
		}
		if refused != 1 {
			t.Errorf("%s: %d cases have no full matching, expected 1", value, refused)
		}
		checks, err := tunableCheck{}.Cases(map[string]string{"value": string(value)})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range checks {
			p := c.Instance.(*draw.Planted)
			if _, err := problem.Check(p.Instance, p.Solution.Column, problem.Duals{U: p.Solution.U, V: p.Solution.V, Scale: p.Scale}); (err != nil) != p.Wrong {
				t.Errorf("%s, %s: the host's check gave %v", value, c.Name, err)
			}
		}
	}
}

// A wrong answer of an engine is noticed.
func TestTrialsNoticeWrongAnswers(t *testing.T) {
	trial, err := newTrial(draw.Generate("uniform", 20, 20, 50, 1<<40, problem.Int32))
	if err != nil {
		t.Fatal(err)
	}
	right, err := reference.Solve(trial.p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := trial.checkAnswer(right, nil, nil); err != nil {
		t.Fatal(err)
	}
	right.Column[0], right.Column[1] = right.Column[1], right.Column[0]
	if err := trial.checkAnswer(right, nil, nil); !errors.Is(err, problem.ErrCheck) {
		t.Errorf("two columns exchanged: found %v", err)
	}
	if err := trial.checkAnswer(nil, &engine.Infeasible{Rows: []int32{0, 1}}, nil); !errors.Is(err, problem.ErrCheck) {
		t.Errorf("no full matching: found %v", err)
	}
}

func TestWorkloadByRange(t *testing.T) {
	for _, value := range []problem.Value{problem.Int32, problem.Int64, problem.Float32, problem.Float64} {
		for _, class := range []string{engine.SmallRange, engine.MediumRange, engine.WideRange} {
			var most [2]int64 // costs of the two ranges
			for turn := range uint64(2) {
				inst, err := Subjects()[0].Instance(map[string]string{"value": string(value), "range": class}, 60, turn<<63|1)
				if err != nil {
					t.Fatal(err)
				}
				p := inst.(*trialInstance).p
				w := engine.Workload(p)
				most[turn] = p.Max
				if w.Fixed["range"] != class || w.Fixed["value"] != string(value) || w.Size != 60 {
					t.Errorf("%s, %s: found the workload %v", value, class, w)
				}
			}
			if class == engine.MediumRange && value.Integer() && most[1] < 2*most[0] {
				t.Errorf("%s, %s: costs up to %d and up to %d, expected two ranges", value, class, most[0], most[1])
			}
		}
	}
}

// Answers with many rows and columns are proven on the device, by costs that no variant was given.
func TestLargeAnswers(t *testing.T) {
	d := emulatedtest.Open(t)
	stream, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	for _, s := range Subjects() {
		f := s.Family()
		fixed := map[string]string{"value": "int32", "range": "wide", "metric": "euclidean", "floor": "off"}
		if f.Name != "assignment/core" && f.Name != "assignment/points" {
			continue
		}
		inst, err := s.Instance(fixed, longestReferred+1, 7)
		if err != nil {
			t.Fatal(err)
		}
		p := inst.(*trialInstance).p
		sol, err := reference.Solve(p, nil)
		if err != nil {
			t.Fatal(err)
		}
		v := tuned.LikeSafe(f, func(v *device.Variant) bool { return f.CheckWorkload(v, fixed) == nil })
		run, err := s.Open(d, v)
		if err != nil {
			t.Fatal(err)
		}
		job, err := run.Prepare(inst)
		if err != nil {
			t.Fatal(err)
		}
		switch j := job.(type) {
		case *trialJob: // costs are copied on the device, as on GPUs
			if j.inputs.second, err = d.Alloc(j.inputs.costs.Len()); err != nil {
				t.Fatal(err)
			}
			if err := stream.Fill(j.inputs.costs, 0, j.inputs.costs.Len(), 0); err != nil {
				t.Fatal(err)
			}
			j.sol = sol
		case *pointJob:
			j.sol = sol
		}
		full := func() error { return fmt.Errorf("no room: %w", device.ErrMemory) } // where the host looks
		if err := cmp.Or(job.Check(stream), inst.(*trialInstance).checkAnswer(sol, nil, full)); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		sol.U[3]++
		if err := inst.(*trialInstance).checkAnswer(sol, nil, full); !errors.Is(err, problem.ErrCheck) {
			t.Errorf("%s: a dual too large passed where the device is full: %v", f.Name, err)
		}
		if err := job.Check(stream); !errors.Is(err, problem.ErrCheck) {
			t.Errorf("%s: a dual too large passed: %v", f.Name, err)
		}
		if err := cmp.Or(job.Close(), run.Close()); err != nil {
			t.Error(err)
		}
	}
}
