package qubo_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"coalesce/solvers/qubo"
	"coalesce/solvers/qubo/problem"
)

// drawnSparse are random couplings and linear terms of spins, degree pairs at each on average.
func drawnSparse(t testing.TB, r *rand.Rand, n int, degree float64, coupling func() float64) *problem.Instance {
	t.Helper()
	b := problem.NewBuilder(n)
	b.Form(problem.Ising)
	b.Minimize()
	met := map[[2]int]bool{}
	for len(met) < int(float64(n)*degree/2) {
		i, j := r.IntN(n), r.IntN(n)
		if e := [2]int{min(i, j), max(i, j)}; i != j && !met[e] {
			met[e] = true
			b.Pair(i, j, coupling())
		}
	}
	for i := range n {
		b.Linear(i, coupling())
	}
	inst, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

// Sparse instances with linear terms are proven by odd cycles beside the search, and verify checks the proof; altered ones are refuted, or prove the same.
func TestCycles(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 7))
	signs := func() float64 { return float64(2*r.IntN(2) - 1) }
	o := surfaceOptions(t)
	refuted, tried := 0, 0
	for round := range 8 {
		coupling := []func() float64{signs, r.NormFloat64, func() float64 { return float64(r.IntN(2001) - 1000) }, func() float64 { return float64(90 + r.IntN(20)) }}[round%4]
		inst := drawnSparse(t, r, 60+5*round, 4, coupling)
		if round%4 == 3 {
			inst = drawnSparse(t, r, 40, 5, coupling) // divided into cases
		}
		result, err := qubo.Solve(t.Context(), inst, o)
		if err != nil {
			t.Fatal(err)
		}
		if !result.Proven || result.BoundKind != qubo.BoundFrustration {
			t.Fatalf("round %d: proven %t, bound of kind %s, by %s: %s", round, result.Proven, result.BoundKind, result.Variant, result.Proof)
		}
		if verdict := verified(t, inst, result); verdict.Err() != nil || !verdict.Proven || !verdict.BoundChecked {
			t.Fatalf("round %d: %v, %+v", round, verdict.Err(), verdict)
		}
		more, no := alter(t, r, inst, result, 200)
		tried, refuted = tried+more, refuted+no
	}
	if t.Logf("%d of %d altered certificates are refuted", refuted, tried); refuted < 500 || tried-refuted > tried/4 {
		t.Errorf("%d of %d altered certificates are refuted", refuted, tried)
	}
}

// Variables that are fixed, components, and several solutions.
func TestCyclesFixed(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 9))
	b := problem.NewBuilder(150)
	b.Maximize()
	for part := range 2 {
		met := map[[2]int]bool{}
		for len(met) < 130 {
			i, j := 75*part+r.IntN(60), 75*part+r.IntN(60)
			if e := [2]int{min(i, j), max(i, j)}; i != j && !met[e] {
				met[e] = true
				b.Pair(i, j, float64(r.IntN(201)-100))
			}
		}
	}
	for i := range 150 {
		b.Linear(i, float64(r.IntN(11)-5))
	}
	inst, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	o := surfaceOptions(t)
	for _, several := range []int{0, 3} {
		o.Fix, o.Solutions, o.TimeLimit = []string{"3=1", "80=0", "81=1"}, several, 5*time.Second
		result, err := qubo.Solve(t.Context(), inst, o)
		if err != nil {
			t.Fatal(err)
		}
		verdict := verified(t, inst, result)
		if verdict.Err() != nil || !verdict.Proven || !verdict.BoundChecked || result.BoundKind != qubo.BoundFrustration {
			t.Fatalf("%v, %+v, %s", verdict.Err(), verdict, result.BoundKind)
		}
		if result.Solution.At(3) != 1 || result.Solution.At(80) != 0 {
			t.Error("a variable is not as it is fixed")
		}
	}
}

// A solve that the time limit ends has the bound so far, and its proof.
func TestCyclesEnded(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 8))
	inst := drawnSparse(t, r, 300, 7, r.NormFloat64)
	o := surfaceOptions(t)
	o.TimeLimit = 500 * time.Millisecond
	result, err := qubo.Solve(t.Context(), inst, o)
	if err != nil {
		t.Fatal(err)
	}
	verdict := verified(t, inst, result)
	if verdict.Err() != nil || !verdict.BoundChecked {
		t.Fatalf("%v, %+v", verdict.Err(), verdict)
	}
	o.Without = []string{"bound"}
	if result, err = qubo.Solve(t.Context(), inst, o); err != nil || result.BoundKind != qubo.BoundCoefficients {
		t.Errorf("without bound: %v, %s", err, result.BoundKind)
	}
}
