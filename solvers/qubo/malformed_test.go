package qubo

import (
	"bytes"
	"strings"
	"testing"

	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"

	"coalesce/runtime/host"
)

// Every function that takes an instance refuses a malformed one, with a text that names the fault:
// neither a panic nor a value.
func TestMalformedInstances(t *testing.T) {
	d := host.Open(1)
	defer d.Close()
	two := func(sense problem.Sense, start []int64, col []int32, pair ...int64) *problem.Instance {
		return &problem.Instance{N: 2, Form: problem.QUBO, Sense: sense, Start: start, Col: col, Int: &problem.Terms[int64]{Linear: make([]int64, 2), Pair: pair}}
	}
	for name, c := range map[string]struct {
		inst *problem.Instance
		want string
	}{
		"nil":          {nil, "instance: found nil"},
		"empty":        {&problem.Instance{}, "Form"},
		"one side":     {two(problem.Maximize, []int64{0, 1, 1}, []int32{1}, 2), "stored with variable 0 alone"},
		"asymmetric":   {two(problem.Maximize, []int64{0, 1, 2}, []int32{1, 0}, 2, -5), "coefficient 2 with variable 0 and -5 with variable 1"},
		"short":        {two(problem.Maximize, []int64{0, 1, 2}, []int32{1, 0}, 2), "Pair: found 1 coefficients, expected 2"},
		"no start":     {two(problem.Maximize, nil, nil), "Start: found 0 numbers"},
		"no terms":     {&problem.Instance{N: 2, Form: problem.QUBO, Sense: problem.Maximize, Start: make([]int64, 3)}, "neither integer nor real terms"},
		"out of range": {two(problem.Maximize, []int64{0, 1, 2}, []int32{7, 0}, 2, 2), "variable 0 has a pair with variable 7"},
		"no sense":     {two("", []int64{0, 1, 2}, []int32{1, 0}, 2, 2), `Sense: found "", expected maximize or minimize`},
	} {
		refused := func(by string, err error) {
			t.Helper()
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %s: %v, expected %q", name, by, err, c.want)
			}
		}
		for _, engine := range append(Algorithms(), "") {
			if engine == "portfolio" || engine == "bulk" || engine == "temper" {
				continue // not on a host
			}
			r, err := Solve(t.Context(), c.inst, on(d, Options{Settings: solve.Settings{Algorithm: engine}, Work: 10}))
			if refused("Solve "+engine, err); r != nil {
				t.Errorf("%s, Solve %s: a result", name, engine)
			}
		}
		_, err := Multistart(t.Context(), d, c.inst, MultistartOptions{Iterations: 1})
		refused("Multistart", err)
		_, err = EvaluateVariants(c.inst)
		refused("EvaluateVariants", err)
		_, err = OpenEvaluation(d, c.inst, "", 1)
		refused("OpenEvaluation", err)
		_, err = Write(new(bytes.Buffer), c.inst, "qubo")
		refused("Write", err)
	}
}

// An instance that is built solves as the one that is read.
func TestSolveBuilt(t *testing.T) {
	d := host.Open(1)
	defer d.Close()
	b := problem.NewBuilder(3)
	b.Linear(0, 5)
	b.Linear(1, -2)
	b.Linear(2, -1)
	b.Pair(0, 1, -6)
	b.Pair(1, 2, 3)
	b.Minimize()
	built, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	read, err := ReadFrom(strings.NewReader("p qubo 0 3 3 2\n0 0 5\n1 1 -2\n2 2 -1\n0 1 -6\n1 2 3\n"), "a.qubo", ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, inst := range []*problem.Instance{built, read} {
		r, err := Solve(t.Context(), inst, on(d, Options{}))
		if err != nil || r.Value.String() != "-3" || !r.Proven || r.Solution.String() != "110" {
			t.Errorf("%v: %v", r, err)
		}
	}
}
