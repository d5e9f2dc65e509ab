package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/model/problem"
	"coalesce/solvers/solve"
)

// overlapping draws groups whose bits are in a second family of rows too: places with room for one or two, some pairs missing, some
// groups without a need of a place, with a quadratic objective, of flows and distances or any, and with or without one more constraint.
func overlapping(r *rand.Rand) *problem.Model {
	m := problem.New(problem.Minimize)
	groups := 2 + r.IntN(2)
	places := groups + r.IntN(2)
	square := r.IntN(3) == 0 // a permutation
	if square {
		places = groups
	}
	at := make([][]int32, groups)
	one := problem.DecimalOfInteger(1)
	for g := range at {
		c := problem.Constraint{Name: fmt.Sprintf("group%d", g), Low: &one, High: &one}
		for p := range places {
			at[g] = append(at[g], -1)
			if square || r.IntN(6) > 0 {
				at[g][p] = int32(m.AddBinary(fmt.Sprintf("x%d_%d", g, p)))
				c.Terms = append(c.Terms, problem.Linear{Coefficient: one, Variable: at[g][p]})
			}
		}
		m.AddConstraint(c)
	}
	for p := range places {
		low, high := problem.DecimalOfInteger(int64(r.IntN(2))), problem.DecimalOfInteger(int64(1+r.IntN(2)))
		c := problem.Constraint{Name: fmt.Sprintf("place%d", p), High: &high}
		if r.IntN(2) == 0 {
			c.Low = &low
		}
		if square {
			c.Low, c.High = &one, &one
		}
		for g := range at {
			if at[g][p] >= 0 {
				c.Terms = append(c.Terms, problem.Linear{Coefficient: one, Variable: at[g][p]})
			}
		}
		m.AddConstraint(c)
	}
	n := len(m.Variables)
	if r.IntN(2) == 0 {
		flow, distance := make([]int64, groups*groups), make([]int64, places*places)
		for i := range groups * groups {
			flow[i] = int64(r.IntN(9) - 2)
			flow[i%groups*groups+i/groups] = flow[i]
		}
		for i := range places * places {
			distance[i] = int64(r.IntN(9))
		}
		for i := range groups * groups * places * places {
			g, h, p, q := i/places/places/groups, i/places/places%groups, i/places%places, i%places
			if g != h && at[g][p] >= 0 && at[h][q] >= 0 {
				m.AddTerm(problem.DecimalOfInteger(flow[g*groups+h]*distance[p*places+q]), at[g][p], at[h][q])
			}
		}
	} else {
		for range 3 * n {
			m.AddTerm(problem.DecimalOfInteger(int64(r.IntN(41)-20)), int32(r.IntN(n)), int32(r.IntN(n)))
		}
	}
	for i := range n {
		m.AddTerm(problem.DecimalOfInteger(int64(r.IntN(21)-10)), int32(i))
	}
	if r.IntN(2) == 0 {
		high := problem.DecimalOfInteger(int64(groups * 3))
		c := problem.Constraint{Name: "weight", High: &high}
		for i := range n {
			c.Terms = append(c.Terms, problem.Linear{Coefficient: problem.DecimalOfInteger(int64(1 + r.IntN(5))), Variable: int32(i)})
		}
		m.AddConstraint(c)
	}
	return m
}

// Overlapping groups: the search alone, and with the tree, finds what exhaustion finds.
func TestOverlappingGroups(t *testing.T) {
	infeasible, count := 0, 80
	switch {
	case testing.Short():
		count = 30
	case emulatedtest.Thorough():
		count = 600
	}
	for seed := range count {
		m := overlapping(rand.New(rand.NewPCG(uint64(seed), 3)))
		want, err := Reference(m)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			if infeasible++; seed%5 == 0 {
				if _, err := Solve(t.Context(), m, Options{Settings: solve.Settings{TimeLimit: time.Minute}}); !errors.Is(err, solve.ErrInfeasible) {
					t.Fatalf("seed %d: found %v, expected no solution", seed, err)
				}
			}
			continue
		}
		value := solve.Number(problem.RatText(want))
		for _, o := range []Options{{Settings: solve.Settings{Seed: 1}, Work: 3000}, {Settings: solve.Settings{TimeLimit: time.Minute}, Threads: 2}} {
			r, err := Solve(t.Context(), m, o)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if !r.Feasible || r.Value != value || o.Work == 0 && !r.Proven {
				t.Fatalf("seed %d: found %s (feasible: %t, proven: %t, work %d), expected %s", seed, r.Value, r.Feasible, r.Proven, o.Work, value)
			}
		}
	}
	if infeasible == 0 || infeasible > count/2 {
		t.Errorf("%d of %d models had no solution", infeasible, count)
	}
}

// linear draws a model of packing, partitioning, covering or knapsack rows with a linear objective.
func linear(r *rand.Rand, kind, n, rows int) *problem.Model {
	m := problem.New([]problem.Sense{problem.Maximize, problem.Minimize}[kind/2])
	for i := range n {
		m.AddBinary(fmt.Sprintf("x%d", i))
		m.AddTerm(problem.DecimalOfInteger(int64(20+r.IntN(60))), int32(i))
	}
	for k := range rows {
		c := problem.Constraint{Name: fmt.Sprintf("row%d", k)}
		total := int64(0)
		for i := range n {
			a := int64(1)
			if kind == 1 {
				a = int64(10 + r.IntN(50))
			} else if r.IntN(5) > 0 {
				continue
			}
			total += a
			c.Terms = append(c.Terms, problem.Linear{Coefficient: problem.DecimalOfInteger(a), Variable: int32(i)})
		}
		bound := problem.DecimalOfInteger(1)
		switch kind {
		case 0:
			c.High = &bound
		case 1:
			bound = problem.DecimalOfInteger(total / 3)
			c.High = &bound
		default:
			c.Low = &bound
		}
		m.AddConstraint(c)
	}
	return m
}

// Linear models beyond exhaustion are proven, and the check recomputes a bound that multipliers give and refutes another.
func TestBoundsOfMultipliers(t *testing.T) {
	checked := 0
	for kind := range 3 {
		for seed := range 6 {
			m := linear(rand.New(rand.NewPCG(uint64(seed), uint64(kind))), kind, 40, []int{30, 2, 20}[kind])
			r, err := Solve(t.Context(), m, Options{Settings: solve.Settings{TimeLimit: time.Minute}, Threads: 2})
			if err != nil || !r.Proven {
				t.Fatalf("kind %d, seed %d: found %+v, %v", kind, seed, r, err)
			}
			text, _ := json.Marshal(r)
			v, err := Verify(m, text)
			if err != nil || v.Err() != nil {
				t.Fatalf("kind %d, seed %d: %v, %v", kind, seed, err, v.Err())
			}
			if !v.BoundChecked || r.Certificate.Tree {
				continue
			}
			checked++
			altered := strings.Replace(string(text), `"multipliers":[`, `"multipliers":[7,`, 1)
			if v, err := Verify(m, []byte(altered)); err == nil && v.Err() == nil {
				t.Errorf("kind %d, seed %d: one multiplier more passes", kind, seed)
			}
			if len(r.Certificate.Multipliers) == 0 {
				continue
			}
			r.Certificate.Multipliers = nil // which leaves a bound that is not the best of both
			text, _ = json.Marshal(r)
			if v, err := Verify(m, text); err == nil && v.Err() == nil {
				t.Errorf("kind %d, seed %d: no multipliers pass", kind, seed)
			}
		}
	}
	if checked == 0 {
		t.Error("no bound was checked")
	}
}

// The check visits a tree again: it accepts what the tree proved, and refutes a worse value that is said to be optimal, and infeasibility.
func TestTreeVisitedAgain(t *testing.T) {
	checked := 0
	for seed := range 60 {
		m := randomModel(rand.New(rand.NewPCG(uint64(seed), 8)))
		if f, err := problem.NewForm(m); err != nil || f.Rounded() {
			continue
		}
		r, err := Solve(t.Context(), m, Options{Settings: solve.Settings{TimeLimit: time.Minute}, Threads: 1})
		if err != nil && !errors.Is(err, solve.ErrInfeasible) || !r.Certificate.Tree {
			continue
		}
		checked++
		text, _ := json.Marshal(r)
		if v, err := Verify(m, text); err != nil || v.Err() != nil || r.Feasible && !v.BoundChecked {
			t.Fatalf("seed %d: %v, %v", seed, err, v.Err())
		}
		if !r.Feasible {
			continue
		}
		best := r.Value
		for range 50 { // a feasible solution that is worse
			for i := range m.Variables {
				lo, hi := m.Variables[i].Low, m.Variables[i].High
				if r.Solution[i] = lo + rand.Int64N(hi-lo+1); m.Variables[i].Kind == problem.Spin {
					r.Solution[i] = []int64{lo, hi}[rand.IntN(2)]
				}
				r.Assignment[m.Variables[i].Name] = r.Solution[i]
			}
			x := problem.Values(r.Solution)
			if r.Value = solve.Number(problem.RatText(m.Value(x))); m.Feasible(x) && r.Value != best {
				r.Bound, r.Constraints = r.Value, constraintsOf(m, x)
				text, _ := json.Marshal(r)
				if v, err := Verify(m, text); err == nil && v.Err() == nil {
					t.Fatalf("seed %d: %s passes for the optimum %s", seed, r.Value, best)
				}
				break
			}
		}
		infeasible := *r
		infeasible.Feasible, infeasible.Value, infeasible.Bound, infeasible.Solution, infeasible.Assignment = false, "", "", nil, nil
		text, _ = json.Marshal(infeasible)
		if v, err := Verify(m, text); err == nil && v.Err() == nil {
			t.Fatalf("seed %d: no feasible solution passes", seed)
		}
	}
	if checked < 10 {
		t.Errorf("%d proofs by the tree", checked)
	}
}
