package csg

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/internal/draw"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// A drawnConstraints holds drawn constraints twice: as a caller gives them, and as sets of agents for the exhaustive search.
type drawnConstraints struct {
	problem.Constraints
	together, separate []uint64
	edges              [][2]int // agents from 0
}

func drawConstraints(r *rand.Rand, n int) (c drawnConstraints) {
	group := func() (mask uint64, text string) {
		a := r.IntN(n)
		b := (a + 1 + r.IntN(n-1)) % n
		mask = 1<<a | 1<<b | r.Uint64N(1<<n)&r.Uint64N(1<<n)&r.Uint64N(1<<n)
		return mask, strings.Trim(fmt.Sprint(problem.Agents(mask)), "[]")
	}
	c.Minimize = r.IntN(3) == 0
	if r.IntN(3) == 0 {
		c.Sizes = problem.Sizes(1+r.Uint64N(1<<n-1)) << 1
	}
	switch r.IntN(5) {
	case 0:
		c.Blocks.Least = 1 + r.IntN(n+1)
		c.Blocks.Most = c.Blocks.Least
	case 1:
		c.Blocks.Least = 1 + r.IntN(n)
	case 2:
		c.Blocks.Least = 1
		c.Blocks.Most = 1 + r.IntN(n+1)
	}
	if n < 2 {
		return c
	}
	if r.IntN(3) == 0 {
		mask, text := group()
		c.together, c.Together = append(c.together, mask), append(c.Together, text)
	}
	for range r.IntN(3) {
		mask, text := group()
		c.separate, c.Separate = append(c.separate, mask), append(c.Separate, text)
	}
	if r.IntN(3) == 0 {
		for range 1 + r.IntN(2*n) {
			a := r.IntN(n)
			b := (a + 1 + r.IntN(n-1)) % n
			c.edges, c.Edges = append(c.edges, [2]int{a, b}), append(c.Edges, fmt.Sprint(a+1, " ", b+1))
		}
	}
	return c
}

// allows is whether a coalition may be a block.
func (c *drawnConstraints) allows(mask uint64) bool {
	if !c.Sizes.Allows(mask) {
		return false
	}
	for _, group := range c.together {
		if mask&group != 0 && mask&group != group {
			return false
		}
	}
	for _, group := range c.separate {
		if len(problem.Agents(mask&group)) > 1 {
			return false
		}
	}
	if c.edges == nil {
		return true
	}
	agents := problem.Agents(mask)
	label := map[int]int{}
	for _, a := range agents {
		label[a-1] = a
	}
	for range agents {
		for _, e := range c.edges {
			if a, b := label[e[0]], label[e[1]]; a > 0 && b > 0 {
				label[e[0]], label[e[1]] = min(a, b), min(a, b)
			}
		}
	}
	for _, l := range label {
		if l != agents[0] {
			return false
		}
	}
	return true
}

// bestUnder is the best value of all structures, by recursion.
func bestUnder(inst *problem.Instance, c *drawnConstraints) (best float64, found bool) {
	var extend func(left uint64, blocks int, sum float64)
	extend = func(left uint64, blocks int, sum float64) {
		if left == 0 {
			if blocks >= c.Blocks.Least && (c.Blocks.Most == 0 || blocks <= c.Blocks.Most) && (!found || c.Minimize && sum < best || !c.Minimize && sum > best) {
				best, found = sum, true
			}
			return
		}
		first := left & -left
		for rest := left ^ first; ; rest = (rest - 1) & (left ^ first) {
			if x := inst.Value64(rest | first); c.allows(rest|first) && x > -1e300 {
				extend(left^first^rest, blocks+1, sum+x)
			}
			if rest == 0 {
				return
			}
		}
	}
	extend(inst.GrandCoalition(), 0, 0)
	return best, found
}

// Tables under constraints are solved by every algorithm as by exhaustion, and checked.
func TestConstraintsAgainstExhaustion(t *testing.T) {
	h := host.Open(2)
	defer h.Close()
	r := rand.New(rand.NewPCG(62, 5))
	kinds := make([]string, 0, len(draws))
	for kind := range draws {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	rounds, infeasible, priced := 2000, 0, 0
	if testing.Short() {
		rounds = 200
	}
	for round := range rounds {
		n := 1 + r.IntN(6)
		value := []problem.Value{problem.Int16, problem.Int32, problem.Int64, problem.Float32, problem.Float64}[r.IntN(5)]
		kind := kinds[r.IntN(len(kinds))]
		shift := r.Uint64()
		fresh := func() *problem.Instance {
			inst, err := draw.ByCoalition(value, n, func(mask uint64) float64 {
				if mask == 0 {
					return 0
				}
				return draws[kind](value, n, mask^shift)
			})
			if err != nil {
				t.Fatal(err)
			}
			return inst
		}
		c := drawConstraints(r, n)
		want, feasible := bestUnder(fresh(), &c)
		inst := fresh()
		if err := inst.Constrain(c.Constraints); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		algorithm := []string{"", string(Apart), string(ByPrices), string(DP), string(IDP)}[r.IntN(5)]
		if c.Blocks != (problem.Counts{}) {
			algorithm = []string{"", string(DP), string(ByPrices)}[r.IntN(3)]
		}
		o := Options{Settings: solve.Settings{Devices: []device.Device{h}, Algorithm: algorithm}}
		got, err := Solve(context.Background(), inst, o)
		what := fmt.Sprintf("round %d: %d agents, %s %s, %q, %+v", round, n, kind, value, algorithm, c.Constraints)
		if algorithm == string(ByPrices) && err != nil && errors.Is(err, solve.ErrGaveUp) {
			continue
		}
		if !feasible {
			infeasible++
			if !errors.Is(err, solve.ErrInfeasible) || !got.Proven {
				t.Fatalf("%s: expected no structure, found %v, %v", what, got, err)
			}
		} else if err != nil {
			t.Fatalf("%s: %v", what, err)
		} else if math.Abs(got.Value.Float()-want) > 1e-14*math.Abs(want) || !got.Proven {
			t.Fatalf("%s: found %s (proven: %t), expected %v", what, got.Value, got.Proven, want)
		}
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if got.Prices != nil && got.Prices.Blocks != nil {
			priced++
			if lie := *got.Prices.Blocks; lie.Price != 0 { // of another sign it proves nothing
				lie.Price = -lie.Price
				honest := got.Prices.Blocks
				got.Prices.Blocks = &lie
				altered, err := json.Marshal(got)
				if err != nil {
					t.Fatal(err)
				}
				if verdict, err := Verify(fresh(), altered); err != nil || verdict.Err() == nil {
					t.Fatalf("%s: an altered price of blocks was not refuted: %v", what, err)
				}
				got.Prices.Blocks = honest
			}
		}
		verdict, err := Verify(fresh(), text)
		if err != nil || verdict.Err() != nil {
			t.Fatalf("%s: %v, %+v", what, err, verdict)
		}
	}
	if priced < rounds/10 {
		t.Errorf("prices of blocks proved %d of %d", priced, rounds)
	}
	if infeasible < rounds/20 || infeasible > rounds/2 {
		t.Errorf("%d of %d instances have no structure", infeasible, rounds)
	}
}

// Constraints are given once, after nothing else was restricted, and for agents that there are.
func TestConstraintsRefused(t *testing.T) {
	game := func() *problem.Instance {
		inst, err := problem.NewInstance(make([]int32, 8), "zeros")
		if err != nil {
			t.Fatal(err)
		}
		return inst
	}
	restricted, twice := game(), game()
	if err := errors.Join(restricted.Restrict(2), twice.Constrain(problem.Constraints{Together: []string{"1 2"}})); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		inst *problem.Instance
		problem.Constraints
		want string
	}{
		{game(), problem.Constraints{Connected: true}, "Connected: found true for a table"},
		{game(), problem.Constraints{Together: []string{"1 4"}}, `Together: found agent "4", expected a number from 1 to 3`},
		{game(), problem.Constraints{Separate: []string{"1"}}, `Separate: found "1", expected two agents or more`},
		{restricted, problem.Constraints{Together: []string{"1 2"}}, "Sizes: found an instance that is restricted already"},
		{twice, problem.Constraints{Together: []string{"1 2"}}, "Constraints: found some for an instance that has constraints"},
	} {
		if err := c.inst.Constrain(c.Constraints); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, expected %s", c.Constraints, err, c.want)
		}
	}
	o := Options{Settings: solve.Settings{Devices: []device.Device{host.Open(1)}}}
	if _, _, err := SolveCover(context.Background(), twice, o); err == nil || !strings.Contains(err.Error(), "constraints besides sizes") {
		t.Error(err)
	}
	counted := game()
	if err := counted.Constrain(problem.Constraints{Blocks: problem.Counts{Least: 2}}); err != nil {
		t.Fatal(err)
	}
	o.Algorithm = string(Apart)
	if _, err := Solve(context.Background(), counted, o); err == nil || !strings.Contains(err.Error(), "expected price, dp or none beside a number of blocks") {
		t.Error(err)
	}
	if _, err := Reference(counted, DP); err == nil {
		t.Error("the reference solved an instance whose blocks count")
	}
}

// A solve of a number of blocks that ends at once leaves a structure of so many, and a bound, which Verify computes again.
func TestConstraintsStopped(t *testing.T) {
	h := host.Open(1)
	defer h.Close()
	for _, c := range []problem.Constraints{{Blocks: problem.Counts{Least: 3, Most: 3}}, {Together: []string{"1 5", "5 7"}}, {Blocks: problem.Counts{Least: 2, Most: 4}, Together: []string{"2 3 4"}}} {
		inst, err := GenerateAs("uniform", 12, 3, problem.Int32)
		if err != nil {
			t.Fatal(err)
		}
		if err := inst.Constrain(c); err != nil {
			t.Fatal(err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		r, err := Solve(ended, inst, Options{Settings: solve.Settings{Devices: []device.Device{h}}})
		if err != nil || !r.Stopped || r.Structure == nil || r.Bound == "" || c.Blocks.Check(len(r.Structure)) != nil {
			t.Fatalf("%+v: %v, %v, expected a structure and a bound", c, r, err)
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := GenerateAs("uniform", 12, 3, problem.Int32)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := Verify(plain, text); err != nil || v.Err() != nil || !v.BoundChecked {
			t.Errorf("%+v: %+v, %v", c, v, err)
		}
	}
}
