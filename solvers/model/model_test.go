package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/host"
	"coalesce/solvers/model/problem"
	"coalesce/solvers/solve"
)

// randomModel draws a small model of all kinds of variables, terms and constraints.
func randomModel(r *rand.Rand) *problem.Model {
	m := problem.New([]problem.Sense{problem.Minimize, problem.Maximize}[r.IntN(2)])
	n := 1 + r.IntN(9)
	for i := range n {
		name := fmt.Sprintf("v%d", i)
		switch r.IntN(6) {
		case 0:
			m.AddSpin(name)
		case 1:
			low := int64(r.IntN(7) - 3)
			m.AddInteger(name, low, low+int64(r.IntN(6)))
		default:
			m.AddBinary(name)
		}
	}
	decimal := func() problem.Decimal {
		d := problem.Decimal{Digits: int64(r.IntN(41) - 20)}
		switch r.IntN(8) {
		case 0:
			d.Exponent = -2
		case 1:
			d, _ = problem.DecimalOf(r.NormFloat64())
		}
		return d
	}
	for range r.IntN(3 * n) {
		list := make([]int32, r.IntN(6))
		for k := range list {
			list[k] = int32(r.IntN(n))
		}
		m.AddTerm(decimal(), list...)
	}
	for k := range r.IntN(4) {
		c := problem.Constraint{Name: fmt.Sprintf("row%d", k)}
		ones := r.IntN(2) == 0
		for i := range n {
			if r.IntN(4) == 0 {
				continue
			}
			a := problem.DecimalOfInteger(1)
			if !ones {
				a = decimal()
			}
			c.Terms = append(c.Terms, problem.Linear{Coefficient: a, Variable: int32(i)})
		}
		bound := problem.DecimalOfInteger(int64(r.IntN(9) - 4))
		more := problem.DecimalOfInteger(bound.Digits + int64(r.IntN(9)))
		switch r.IntN(4) {
		case 0:
			c.Low, c.High = &bound, &bound
		case 1:
			c.Low = &bound
		case 2:
			c.High = &bound
		default:
			c.Low, c.High = &bound, &more
		}
		m.AddConstraint(c)
	}
	return m
}

// Small models of all kinds are solved to the optimum that exhaustion finds, with a proof, and models without a solution are called infeasible.
func TestSmallModels(t *testing.T) {
	count := 400
	switch {
	case testing.Short():
		count = 120
	case emulatedtest.Thorough():
		count = 3000
	}
	infeasible := 0
	for seed := range count {
		m := randomModel(rand.New(rand.NewPCG(uint64(seed), 1)))
		want, err := Reference(m)
		if err != nil {
			continue
		}
		r, err := Solve(t.Context(), m, Options{Settings: solve.Settings{TimeLimit: time.Minute, Seed: 1}, Threads: 2})
		if want == nil {
			if infeasible++; !errors.Is(err, solve.ErrInfeasible) || !r.Proven || r.Feasible {
				t.Fatalf("seed %d: found %v, %+v, expected no solution", seed, err, r)
			}
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		value, _ := r.Value.Rat()
		close, _ := new(big.Rat).Sub(value, want).Float64()
		if !r.Feasible || !r.Proven || close*close > 1e-24 {
			t.Fatalf("seed %d: found %s (proven: %t, feasible: %t), expected %s", seed, r.Value, r.Proven, r.Feasible, want.FloatString(6))
		}
		text, _ := json.Marshal(r)
		if v, err := Verify(m, text); err != nil || v.Err() != nil {
			t.Fatalf("seed %d: %v, %v", seed, err, v.Err())
		}
	}
	if infeasible < count/20 || infeasible > count/2 {
		t.Errorf("%d of %d models had no solution", infeasible, count)
	}
}

// The walk alone finds the best value of small models, without the proof's help.
func TestWalkAlone(t *testing.T) {
	missed, count := 0, 0
	for seed := range 150 {
		m := randomModel(rand.New(rand.NewPCG(uint64(seed), 2)))
		want, err := Reference(m)
		if err != nil {
			continue
		}
		if want == nil {
			continue
		}
		count++
		r, err := Solve(t.Context(), m, Options{Settings: solve.Settings{Seed: 1, Algorithm: Search}, Work: 20000})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		value, _ := r.Value.Rat()
		if !r.Feasible || value == nil || value.Cmp(want) != 0 && r.Value.Float() != solve.Number(problem.RatText(want)).Float() {
			missed++
			t.Logf("seed %d: found %s (feasible: %t), expected %s", seed, r.Value, r.Feasible, want.FloatString(6))
		}
	}
	if missed > count/50 {
		t.Errorf("%d of %d models were missed", missed, count)
	}
}

// An altered answer is refuted.
func TestAlteredAnswers(t *testing.T) {
	m := problem.New(problem.Maximize)
	c := problem.Constraint{Name: "weight", High: &problem.Decimal{Digits: 7}}
	for i, w := range []int64{3, 4, 5, 2} {
		v := int32(m.AddBinary(fmt.Sprintf("item%d", i)))
		m.AddTerm(problem.DecimalOfInteger(2*w+int64(i)), v)
		c.Terms = append(c.Terms, problem.Linear{Coefficient: problem.DecimalOfInteger(w), Variable: v})
	}
	m.AddConstraint(c)
	r, err := Solve(t.Context(), m, Options{Settings: solve.Settings{TimeLimit: time.Minute}})
	if err != nil || r.Value != "19" || !r.Proven {
		t.Fatalf("found %+v, %v", r, err)
	}
	text, _ := json.Marshal(r)
	for _, change := range [][2]string{{`"value":19`, `"value":20`}, {`"feasible":true`, `"feasible":false`}, {`"item0":0`, `"item0":1`}, {`"value":7,"low"`, `"value":6,"low"`}, {`"solution":[0,`, `"solution":[1,`}, {`"sense":"maximize"`, `"sense":"minimize"`}} {
		altered := strings.Replace(string(text), change[0], change[1], 1)
		if altered == string(text) {
			t.Fatalf("found no %s in %s", change[0], text)
		}
		if v, err := Verify(m, []byte(altered)); err == nil && v.Err() == nil {
			t.Errorf("%s passes", change[1])
		}
	}
	if _, err := Solve(t.Context(), m, Options{Fix: []string{"north=0"}}); !errors.Is(err, solve.ErrInput) {
		t.Errorf("found %v, expected an error of the input", err)
	}
	if r, err := Solve(t.Context(), m, Options{Fix: []string{"item2=0"}}); err != nil || r.Assignment["item2"] != 0 || r.Value != "16" {
		t.Errorf("found %v, %v", r, err)
	}
}

// The models of docs/models.md, as Python writes them, have the values of that page.
func TestPageOfModels(t *testing.T) {
	for name, want := range map[string]solve.Number{"knapsack": "21", "colouring": "0", "infeasible": "", "tour": "22", "cut": "5", "independent": "3",
		"portfolio": "-9", "assignment": "6", "shifts": "9", "queens": "0", "sudoku": "0"} {
		m, err := Read("testdata/"+name+".json", 0)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Solve(t.Context(), m, Options{Settings: solve.Settings{TimeLimit: time.Minute, Seed: 1}, Threads: 2})
		if (want == "") != errors.Is(err, solve.ErrInfeasible) || want != "" && err != nil || r.Value != want || !r.Proven {
			t.Errorf("%s: found %v, %v, expected %s", name, r, err, want)
			continue
		}
		text, _ := json.Marshal(r)
		if v, err := Verify(m, text); err != nil || v.Err() != nil {
			t.Errorf("%s: %v, %v", name, err, v.Err())
		}
	}
}

// A constraint without a name is no other's name.
func TestConstraintsWithoutNames(t *testing.T) {
	m := problem.New(problem.Minimize)
	bound := problem.DecimalOfInteger(1)
	for _, name := range []string{"", "c1", "c2", "c2_", "", "c4"} {
		m.AddConstraint(problem.Constraint{Name: name, High: &bound})
	}
	if err := m.Check(); err != nil || m.Label(0) != "c1_" || m.Label(4) != "c5" {
		t.Errorf("found %v, %s, %s", err, m.Label(0), m.Label(4))
	}
}

// Binary quadratic models with weights of 17 digits, whose sum no solver of such programs takes, are solved to what exhaustion finds.
func TestManyDigits(t *testing.T) {
	d := host.Open(2)
	defer d.Close()
	for seed := range uint64(10) {
		random := rand.New(rand.NewPCG(seed, 7))
		m := problem.New(problem.Maximize)
		for i := range 8 {
			m.AddBinary(fmt.Sprint(i))
			for j := range i {
				m.AddTerm(problem.Decimal{Digits: random.Int64N(6e17) - 3e17, Exponent: -16}, int32(i), int32(j))
			}
			m.AddTerm(problem.Decimal{Digits: random.Int64N(2e17) - 1e17, Exponent: -16}, int32(i))
		}
		want, err := Reference(m)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Solve(t.Context(), m, Options{Settings: solve.Settings{TimeLimit: time.Minute, Seed: 1, Devices: []device.Device{d}}})
		if err != nil || r.Algorithm != QUBO || !r.Proven || r.Value != solve.Number(problem.RatText(want)) {
			t.Fatalf("seed %d: found %v, %v, expected %s", seed, r, err, problem.RatText(want))
		}
	}
}

// A constraint without variables, alone.
func TestNoVariables(t *testing.T) {
	for high, feasible := range map[int64]bool{-1: false, 0: true} {
		m := problem.New(problem.Minimize)
		bound := problem.DecimalOfInteger(high)
		m.AddConstraint(problem.Constraint{High: &bound})
		r, err := Solve(t.Context(), m, Options{Settings: solve.Settings{TimeLimit: time.Minute}})
		if errors.Is(err, solve.ErrInfeasible) == feasible || feasible && (err != nil || r.Value != "0") || !r.Proven {
			t.Errorf("0 <= %d: found %+v, %v", high, r, err)
		}
	}
}
