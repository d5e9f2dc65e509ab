package qubo_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/qubo"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// drawnGrid is a grid of spins with random couplings, closed in both directions where torus is set.
func drawnGrid(t testing.TB, r *rand.Rand, rows, cols int, torus bool, coupling func() float64) *problem.Instance {
	t.Helper()
	b := problem.NewBuilder(rows * cols)
	b.Form(problem.Ising)
	b.Minimize()
	for i := range rows {
		for k := range cols {
			if torus || k+1 < cols {
				b.Pair(i*cols+k, i*cols+(k+1)%cols, coupling())
			}
			if torus || i+1 < rows {
				b.Pair(i*cols+k, (i+1)%rows*cols+k, coupling())
			}
		}
	}
	inst, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

func surfaceOptions(t testing.TB) qubo.Options {
	d := host.Open(2)
	t.Cleanup(func() { d.Close() })
	return qubo.Options{Settings: solve.Settings{Devices: []device.Device{d}, TimeLimit: time.Minute}, Certificate: true}
}

// Grids and tori are proven by their certificates, which verify checks; alterations of these never prove more, and are refuted unless they
// prove the same.
func TestSurfaces(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 2))
	signs := func() float64 { return float64(2*r.IntN(2) - 1) }
	o := surfaceOptions(t)
	refuted, tried := 0, 0
	for round := range 12 {
		coupling := []func() float64{signs, r.NormFloat64, func() float64 { return float64(r.IntN(2001) - 1000) }}[round%3]
		inst := drawnGrid(t, r, 7+r.IntN(5), 7+r.IntN(5), round%2 == 0, coupling)
		result, err := qubo.Solve(t.Context(), inst, o)
		if err != nil {
			t.Fatal(err)
		}
		if !result.Proven || result.BoundKind != qubo.BoundFrustration || result.Frustration == nil || !strings.HasPrefix(result.Variant, "qubo/planar") {
			t.Fatalf("round %d: proven %t, bound of kind %s, by %s: %s", round, result.Proven, result.BoundKind, result.Variant, result.Proof)
		}
		if verdict := verified(t, inst, result); verdict.Err() != nil || !verdict.Proven || !verdict.BoundChecked {
			t.Fatalf("round %d: %v, %+v", round, verdict.Err(), verdict)
		}
		more, no := alter(t, r, inst, result, 150)
		tried, refuted = tried+more, refuted+no
	}
	if refuted < 1000 || tried-refuted > tried/5 {
		t.Errorf("%d of %d altered certificates are refuted", refuted, tried)
	}
}

// verified is the verdict on a result.
func verified(t *testing.T, inst *problem.Instance, result *qubo.Result) *solve.Verdict {
	t.Helper()
	text, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	verdict, err := qubo.Verify(inst, text)
	if err != nil {
		t.Fatal(err)
	}
	return verdict
}

// alter verifies a result with up to count altered proofs, and returns how many it tried and how many verify refuted.
func alter(t *testing.T, r *rand.Rand, inst *problem.Instance, result *qubo.Result, count int) (tried, refuted int) {
	t.Helper()
	for range count {
		altered := *result
		if altered.Frustration = alteredProof(r, result.Frustration); altered.Frustration == nil {
			continue
		}
		if tried++; verified(t, inst, &altered).Err() != nil {
			refuted++
		}
	}
	return tried, refuted
}

// alteredProof is a proof with a random change; nil: there is none of that kind.
func alteredProof(r *rand.Rand, p *qubo.Frustration) *qubo.Frustration {
	text, _ := json.Marshal(p)
	q := new(qubo.Frustration)
	if json.Unmarshal(text, q) != nil {
		return nil
	}
	if len(q.Sets) == 0 {
		return nil
	}
	k := r.IntN(len(q.Sets))
	set := q.Sets[k]
	switch r.IntN(9) {
	case 0:
		set[0]++
	case 1:
		set[0] = -set[0]
	case 2:
		set[0] += 1 << 40
	case 3:
		q.Sets[k] = slices.Delete(set, 1, 2)
	case 4:
		q.Sets[k] = append(set, set[1])
	case 5:
		set[1] += int64(1 + r.IntN(3))
	case 6:
		q.Sets = append(q.Sets, set)
	case 7:
		set[len(set)-1] = 1 << 40
	case 8:
		q.Exponent--
	}
	return q
}

// A solve that is ended early has a bound, and others are as good as without.
func TestSurfaceLimits(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 3))
	inst := drawnGrid(t, r, 60, 60, true, r.NormFloat64)
	o := surfaceOptions(t)
	o.TimeLimit = 30 * time.Millisecond
	result, err := qubo.Solve(t.Context(), inst, o)
	if err != nil {
		t.Fatal(err)
	}
	verdict := verified(t, inst, result)
	if verdict.Err() != nil {
		t.Fatal(verdict.Err())
	}
	o.Without = []string{"planar"}
	o.TimeLimit = 200 * time.Millisecond
	other, err := qubo.Solve(t.Context(), inst, o)
	if err != nil || other.BoundKind == qubo.BoundFrustration {
		t.Fatalf("%v, bound of kind %s", err, other.BoundKind)
	}
}

// Several solutions of a grid of signs are all optimal, and as far apart as asked for.
func TestSurfaceSolutions(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 4))
	inst := drawnGrid(t, r, 12, 12, true, func() float64 { return float64(2*r.IntN(2) - 1) })
	o := surfaceOptions(t)
	o.Solutions, o.Distance = 12, 3
	result, err := qubo.Solve(t.Context(), inst, o)
	if err != nil {
		t.Fatal(err)
	}
	if !result.Proven || len(result.Solutions) != 12 {
		t.Fatalf("proven %t, %d solutions", result.Proven, len(result.Solutions))
	}
	for i, a := range result.Solutions {
		if solve.Number(a.Value.String()) != result.Value {
			t.Errorf("solution %d is worth %s, the best %s", i, a.Value, result.Value)
		}
		for _, b := range result.Solutions[:i] {
			differ := 0
			for v := range inst.N {
				if a.Bits.At(v) != b.Bits.At(v) {
					differ++
				}
			}
			if min(differ, inst.N-differ) < 3 {
				t.Errorf("two solutions differ in %d variables", differ)
			}
		}
	}
}

// Degenerate instances: no variables, no pairs, bridges, several components, zeros and coefficients near the end of int64.
func TestSurfaceEdges(t *testing.T) {
	o := surfaceOptions(t)
	o.TimeLimit = 5 * time.Second
	r := rand.New(rand.NewPCG(6, 5))
	for _, every := range []int{40, 20, 81} { // pairs in a row that are left out
		b := problem.NewBuilder(81)
		b.Form(problem.MaxCut)
		b.Maximize()
		for i := range 80 {
			if (i+1)%every != 0 {
				b.PairInt(i, i+1, r.Int64N(1<<48)-1<<47)
			}
			if i+9 < 81 && i%9 != 8 {
				b.PairInt(i, i+9, (r.Int64N(3)-1)<<47)
				b.PairInt(i+9, i, 0)
			}
		}
		inst, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		result, err := qubo.Solve(t.Context(), inst, o)
		if err != nil || !result.Proven {
			t.Errorf("%d: %v, proven %t: %s", every, err, result.Proven, result.Proof)
		}
	}
	for n := range 2 {
		b := problem.NewBuilder(n)
		b.Maximize()
		inst, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		if result, err := qubo.Solve(t.Context(), inst, o); err != nil || !result.Proven {
			t.Errorf("%d variables: %v", n, err)
		}
	}
}

// On hexagons with signs no flip of one variable changes no value: other optimal solutions come from clusters.
func TestSurfaceClusters(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 4))
	const side = 20
	for round := range 4 {
		b := problem.NewBuilder(side * side)
		b.Form(problem.Ising)
		b.Minimize()
		for i := range side {
			for k := range side {
				if round%2 == 0 || k+1 < side {
					b.PairInt(i*side+k, i*side+(k+1)%side, 2*r.Int64N(2)-1)
				}
				if (i+k)%2 == 0 && (round%2 == 0 || i+1 < side) {
					b.PairInt(i*side+k, (i+1)%side*side+k, 2*r.Int64N(2)-1)
				}
			}
		}
		inst, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		o := surfaceOptions(t)
		o.Solutions = 50
		result, err := qubo.Solve(t.Context(), inst, o)
		if err != nil {
			t.Fatal(err)
		}
		if !result.Proven || len(result.Solutions) != o.Solutions {
			t.Fatalf("proven %t, %d solutions", result.Proven, len(result.Solutions))
		}
		for k, s := range result.Solutions {
			if s.Value.String() != result.Value.String() || inst.Amount(s.Bits.Words()) != s.Value {
				t.Fatalf("solution %d has the value %v, the best %v", k, s.Value, result.Value)
			}
			for _, other := range result.Solutions[:k] {
				if slices.Equal(other.Bits.Words(), s.Bits.Words()) {
					t.Fatalf("solution %d is there twice", k)
				}
			}
		}
	}
}
