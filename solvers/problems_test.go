// Package solvers tests the rules that solvers of all problems follow.
package solvers_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/assignment"
	assignmentproblem "coalesce/solvers/assignment/problem"
	"coalesce/solvers/auction"
	auctionproblem "coalesce/solvers/auction/problem"
	"coalesce/solvers/csg"
	"coalesce/solvers/csg/anytime"
	csgproblem "coalesce/solvers/csg/problem"
	"coalesce/solvers/qubo"
	quboproblem "coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// A solver of each problem ends by one rule: cancelled at any moment, or at its time limit, it gives an answer without an error,
// which is proven or says that it was stopped.
func TestAllEndAlike(t *testing.T) {
	d := host.Open(2)
	defer d.Close()
	settings := func(limit time.Duration) solve.Settings {
		return solve.Settings{Devices: []device.Device{d}, TimeLimit: limit}
	}
	table, err := csg.GenerateAs("uniform", 18, 1, csgproblem.Int32)
	if err != nil {
		t.Fatal(err)
	}
	graph, err := anytime.Draw("uniform", 60, 0.5, 1)
	if err != nil {
		t.Fatal(err)
	}
	bids, err := auction.Generate("regions", 100, 400, 1)
	if err != nil {
		t.Fatal(err)
	}
	costs, err := assignment.Generate("machol", 700, 700, 0, 1, assignmentproblem.Int32)
	if err != nil {
		t.Fatal(err)
	}
	program, err := qubo.Palubeckis(300, 80, 31000)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []struct {
		name  string
		takes time.Duration // about, of the whole solve: the moments are drawn from it
		run   func(ctx context.Context, s solve.Settings) (solve.Report, error)
	}{
		{"csg", 100 * time.Millisecond, func(ctx context.Context, s solve.Settings) (solve.Report, error) {
			s.Algorithm = string(csg.DP)
			r, err := csg.Solve(ctx, table, csg.Options{Settings: s})
			if err != nil {
				return solve.Report{}, err
			}
			return r.Report, nil
		}},
		{"graphs of csg", 300 * time.Millisecond, func(ctx context.Context, s solve.Settings) (solve.Report, error) {
			r, err := anytime.Solve(ctx, graph, anytime.Options{Settings: s})
			if err != nil {
				return solve.Report{}, err
			}
			return r.Report, nil
		}},
		{"auction", 100 * time.Millisecond, func(ctx context.Context, s solve.Settings) (solve.Report, error) {
			r, err := auction.Solve(ctx, bids, auction.Options{Settings: s})
			if err != nil {
				return solve.Report{}, err
			}
			return r.Report, nil
		}},
		{"assignment", 100 * time.Millisecond, func(ctx context.Context, s solve.Settings) (solve.Report, error) {
			r, err := assignment.Solve(ctx, costs, assignment.Options{Settings: s})
			if err != nil {
				return solve.Report{}, err
			}
			return r.Report, nil
		}},
		{"qubo", 300 * time.Millisecond, func(ctx context.Context, s solve.Settings) (solve.Report, error) {
			r, err := qubo.Solve(ctx, program, qubo.Options{Settings: s})
			if err != nil {
				return solve.Report{}, err
			}
			return r.Report, nil
		}},
	} {
		random := rand.New(rand.NewPCG(7, 7))
		rounds := 12
		if testing.Short() {
			rounds = 5
		}
		for round := range rounds {
			after := time.Duration(random.Int64N(int64(p.takes)))
			if round == 0 {
				after = 1
			}
			for _, how := range []string{"cancelled", "limited"} {
				ctx, cancel := context.WithCancel(t.Context())
				s := settings(0)
				if how == "limited" {
					s.TimeLimit = after
				} else if round == 0 {
					cancel()
				} else {
					time.AfterFunc(after, cancel)
				}
				r, err := p.run(ctx, s)
				cancel()
				switch claims := r.CheckClaims(); {
				case err != nil:
					t.Errorf("%s, %s after %v: %v", p.name, how, after, err)
				case r.Value == "" || claims != nil:
					t.Errorf("%s, %s after %v: found the value %q, %v", p.name, how, after, r.Value, claims)
				case !r.Proven && (!r.Stopped || len(r.Notes) == 0):
					t.Errorf("%s, %s after %v: found neither a proof nor that it was stopped: %+v", p.name, how, after, r)
				case r.Proven && r.Stopped:
					t.Errorf("%s, %s after %v: found a whole answer that was stopped: %+v", p.name, how, after, r)
				}
			}
		}
	}
}

// A setting that has no meaning for a problem is refused by name, before anything is solved.
func TestMeaninglessSettings(t *testing.T) {
	d := host.Open(1)
	defer d.Close()
	table, err := csgproblem.NewInstance([]int32{0, 1, 2, 4}, "two agents")
	if err != nil {
		t.Fatal(err)
	}
	bids, err := auctionproblem.NewAuction(1, []auctionproblem.Bid{{Price: 1, Goods: []int64{0}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	costs, err := assignmentproblem.NewInstance(1, 1, []int32{1}, "a pair")
	if err != nil {
		t.Fatal(err)
	}
	program, err := qubo.Palubeckis(5, 80, 31000)
	if err != nil {
		t.Fatal(err)
	}
	bits, _ := quboproblem.ParseBits("01011")
	starts := map[string]solve.Start{"csg": csgproblem.Blocks{{2}, {1}}, "auction": auctionproblem.Allocation{0}, "qubo": bits, "assignment": &assignmentproblem.Duals{U: []int64{1}, V: []int64{0}, Scale: 1}}
	for name, p := range map[string]struct {
		solve   func(s solve.Settings) error
		refused string
	}{
		"csg": {func(s solve.Settings) error {
			_, err := csg.Solve(t.Context(), table, csg.Options{Settings: s})
			return err
		}, "Seed"},
		"auction": {func(s solve.Settings) error {
			_, err := auction.Solve(t.Context(), bids, auction.Options{Settings: s})
			return err
		}, "Seed"},
		"assignment": {func(s solve.Settings) error {
			_, err := assignment.Solve(t.Context(), costs, assignment.Options{Settings: s})
			return err
		}, "Target Seed"},
		"qubo": {func(s solve.Settings) error {
			_, err := qubo.Solve(t.Context(), program, qubo.Options{Settings: s})
			return err
		}, ""},
	} {
		for field, s := range map[string]solve.Settings{"Target": {Target: new(float64)}, "Seed": {Seed: 1}, "Start": {Start: starts[name]}} {
			s.Devices = []device.Device{d}
			err := p.solve(s)
			if refused := strings.Contains(p.refused, field); refused != errors.Is(err, solve.ErrInput) || refused != (err != nil) || refused && !strings.Contains(err.Error(), field+": found a value, expected none: ") {
				t.Errorf("%s, %s: found the error %v, expected one: %t", name, field, err, refused)
			}
		}
		other := starts["assignment"]
		if name == "assignment" {
			other = bits
		}
		if err := p.solve(solve.Settings{Devices: []device.Device{d}, Start: other}); !errors.Is(err, solve.ErrInput) || !strings.Contains(err.Error(), "Start: found one of problem "+other.StartOf()) {
			t.Errorf("%s with a start of %s: %v", name, other.StartOf(), err)
		}
	}
}
