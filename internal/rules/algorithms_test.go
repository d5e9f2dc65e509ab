package rules

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/assignment"
	assignmentproblem "coalesce/solvers/assignment/problem"
	"coalesce/solvers/auction"
	"coalesce/solvers/csg"
	csgproblem "coalesce/solvers/csg/problem"
	"coalesce/solvers/qubo"
	"coalesce/solvers/solve"
)

// Whatever the shape of a problem predicts, the algorithm that won in the user's tuning
// data is what runs: each of a problem's algorithms is forced in turn.
func TestAlgorithmsAreTuned(t *testing.T) {
	ctx, gpu := context.Background(), emulatedtest.Open(t)
	costs, err := assignment.Generate("uniform", 20, 20, 1e6, 1, assignmentproblem.Int32)
	if err != nil {
		t.Fatal(err)
	}
	agents, err := csg.GenerateAs("normal", 10, 1, csgproblem.Int32)
	if err != nil {
		t.Fatal(err)
	}
	structures := func(s solve.Settings) (*solve.Report, error) {
		r, err := csg.Solve(ctx, agents, csg.Options{Settings: s})
		if err != nil {
			return nil, err
		}
		return &r.Report, nil
	}
	bids, err := auction.Generate("L6", 12, 60, 1)
	if err != nil {
		t.Fatal(err)
	}
	winners := func(s solve.Settings) (*solve.Report, error) {
		r, err := auction.Solve(ctx, bids, auction.Options{Settings: s})
		if err != nil {
			return nil, err
		}
		return &r.Report, nil
	}
	program, err := qubo.Palubeckis(40, 50, 1) // too many variables to visit every solution
	if err != nil {
		t.Fatal(err)
	}
	cpu := host.Open(0)
	defer cpu.Close()
	tried := map[string]bool{}
	for _, c := range []struct {
		name, family string
		device       device.Device
		size         int
		subjects     []subject.Subject
		solve        func(solve.Settings) (*solve.Report, error)
	}{
		{"assignment", "assignment/algorithm", gpu, 20, assignment.Subjects(), func(s solve.Settings) (*solve.Report, error) {
			r, err := assignment.Solve(ctx, costs, assignment.Options{Settings: s})
			if err != nil {
				return nil, err
			}
			report := r.Report
			return &report, nil
		}},
		{"csg", "csg/algorithm", gpu, 10, csg.Subjects(), structures},
		{"auction", "auction/algorithm", gpu, 12, auction.Subjects(), winners},
		{"qubo", "qubo/algorithm", gpu, 40, qubo.Subjects(), func(s solve.Settings) (*solve.Report, error) {
			s.TimeLimit = 200 * time.Millisecond
			r, err := qubo.Solve(ctx, program, qubo.Options{Settings: s, Unreduced: true})
			if err != nil {
				return nil, err
			}
			report := r.Report
			return &report, nil
		}},
		{"auction, host", "auction/algorithm", cpu, 12, auction.Subjects(), winners},
		{"csg, host", "csg/algorithm", cpu, 10, csg.Subjects(), structures},
	} {
		t.Run(c.name, func(t *testing.T) {
			tried[c.family] = true
			at := slices.IndexFunc(c.subjects, func(s subject.Subject) bool { return s.Family().Name == c.family })
			if at < 0 {
				t.Fatalf("no subject %s", c.family)
			}
			s := c.subjects[at]
			f, names := s.Family(), map[string]bool{}
			for i := range f.Variants {
				v := &f.Variants[i]
				if s.Feasible(v, c.device.Facts(), c.size) != nil {
					continue
				}
				var said []string
				r, err := c.solve(solve.Settings{Devices: []device.Device{c.device}, Tuning: forcing(t, s, v, c.device.Facts(), c.size),
					Log: func(text string) { said = append(said, text) }})
				if err != nil {
					t.Errorf("%s: %v", v.Label, err)
					continue
				}
				name := f.Value(v, "algorithm")
				names[name] = true
				began := r.Algorithm == name || slices.ContainsFunc(said, func(text string) bool { // and gave way
					return strings.HasPrefix(strings.TrimPrefix(text, strings.TrimSuffix(c.family, "/algorithm")+"/"), name+" ")
				})
				if !began || !strings.Contains(r.Reason, tuned.Exact+": won when") {
					t.Errorf("%s won in the user's data, and %s runs: %s: %v", v.Label, r.Algorithm, r.Reason, said)
				}
			}
			if len(names) < 2 {
				t.Errorf("%v: expected several algorithms that run here", names)
			}
		})
	}
	for name := range subjects() {
		if strings.HasSuffix(name, "/algorithm") && !tried[name] {
			t.Errorf("%s: no algorithm is forced", name)
		}
	}
}
