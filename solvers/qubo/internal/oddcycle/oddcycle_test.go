package oddcycle

import (
	"context"
	"encoding/json"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/solvers/qubo/internal/frustration"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve/inputtest"
)

// drawn is an instance on edges, with linear terms where fields is not nil.
func drawn(t testing.TB, n int, edges [][2]int, coupling, field func() float64) *problem.Instance {
	t.Helper()
	b := problem.NewBuilder(n)
	b.Form(problem.Ising)
	b.Minimize()
	for _, e := range edges {
		b.Pair(e[0], e[1], coupling())
	}
	if field != nil {
		for i := range n {
			b.Linear(i, field())
		}
	}
	inst, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

func torus(rows, cols int) (edges [][2]int) {
	for i := range rows {
		for k := range cols {
			edges = append(edges, [2]int{i*cols + k, i*cols + (k+1)%cols}, [2]int{i*cols + k, (i+1)%rows*cols + k})
		}
	}
	return edges
}

// sparse are random edges, degree at each vertex on average.
func sparse(r *rand.Rand, n int, degree float64) (edges [][2]int) {
	met := map[[2]int]bool{}
	for len(edges) < int(float64(n)*degree/2) {
		a, b := r.IntN(n), r.IntN(n)
		if a > b {
			a, b = b, a
		}
		if e := [2]int{a, b}; a != b && !met[e] {
			met[e] = true
			edges = append(edges, e)
		}
	}
	return edges
}

// proveAll proves the optimum of an instance from nothing.
func proveAll(ctx context.Context, m *frustration.Model) (proof *frustration.Proof, up []bool, ok bool) {
	ok = Prove(ctx, m, Options{Best: func() *big.Int { return nil }, Found: func(x []bool) { up = x }, Bound: func(p *frustration.Proof) { proof = p }})
	return proof, up, ok
}

// leastLoss is the loss of the best of all solutions.
func leastLoss(m *frustration.Model) int64 {
	at := make([][]int32, m.N)
	for e, end := range m.Ends {
		at[end[0]] = append(at[end[0]], int32(e))
		at[end[1]] = append(at[end[1]], int32(e))
	}
	loss, least := int64(0), int64(0)
	wrong := slices.Clone(m.Odd)
	for e, is := range wrong {
		if is {
			loss += m.Cap[e]
		}
	}
	least = loss
	for k := uint64(1); k < 1<<(m.N-1); k++ { // Gray codes
		for _, e := range at[bits.TrailingZeros64(k)] {
			if wrong[e] = !wrong[e]; wrong[e] {
				loss += m.Cap[e]
			} else {
				loss -= m.Cap[e]
			}
		}
		least = min(least, loss)
	}
	return least
}

// coefficients are signs, integers, real numbers, 0 among integers, or nearly equal integers: complete graphs of these are divided into cases.
func coefficients(r *rand.Rand, kind int) func() float64 {
	return []func() float64{
		func() float64 { return float64(2*r.IntN(2) - 1) },
		func() float64 { return float64(r.IntN(201) - 100) },
		func() float64 { return float64(r.IntN(1<<20)-1<<19) / 1024 }, // sums are exact
		func() float64 { return float64(r.IntN(3) - 1) },
		func() float64 { return float64(90 + r.IntN(21)) },
	}[kind]
}

// 2,000 small sparse instances have the optimum of an exhaustive search, and a proof of it.
func TestExhaustion(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 2))
	divided := 0
	for round := range inputtest.Draws(2000) {
		n := 3 + r.IntN(11)
		edges := sparse(r, n, min(float64(n-1), 1+6*r.Float64()))
		if round%5 == 0 {
			edges = torus(3, 3+r.IntN(2))
			n = len(edges) / 2
		}
		kind := round % 4
		if round%10 == 7 {
			n, kind = 6+r.IntN(3), 4
			edges = sparse(r, n, float64(n-1))
		}
		coefficient := coefficients(r, kind)
		var field func() float64
		if round%3 > 0 {
			field = coefficient
		}
		m := frustration.New(drawn(t, n, edges, coefficient, field), nil)
		least := leastLoss(m)
		proof, up, ok := proveAll(t.Context(), m)
		if proof == nil {
			if least != 0 || slices.Max(append(m.Cap, 0)) != 0 {
				t.Fatalf("round %d: no proof of the loss %d", round, least)
			}
			continue
		}
		loss, shift, err := m.Check(proof)
		if err != nil || !ok {
			t.Fatalf("round %d: proven %t, %v", round, ok, err)
		}
		if len(proof.Cases) > 0 {
			divided++
		}
		gap := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(least), uint(shift-m.Shift)), loss)
		if gap.Sign() < 0 || m.Whole && gap.Sign() > 0 || gap.BitLen() > max(0, shift-m.Shift)+20 {
			t.Fatalf("round %d: the proof shows %v / 2^%d, the least loss is %d", round, loss, shift, least)
		}
		if m.Loss(m.Spins(up)).Cmp(big.NewInt(least)) != 0 {
			t.Fatalf("round %d: the loss %v, the least is %d", round, m.Loss(m.Spins(up)), least)
		}
	}
	t.Logf("%d were divided into cases", divided)
	if divided < inputtest.Draws(20) {
		t.Errorf("%d instances were divided into cases", divided)
	}
}

// A solve that is ended early has a proof of a weaker bound.
func TestEnded(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 3))
	for calls := range 60 {
		m := frustration.New(drawn(t, 36, torus(6, 6), coefficients(r, calls%4), coefficients(r, 0)), nil)
		ctx := &fewCalls{t.Context(), calls}
		proof, _, ok := proveAll(ctx, m)
		if proof == nil {
			continue
		}
		if _, _, err := m.Check(proof); err != nil {
			t.Fatalf("after %d calls, proven %t: %v", calls, ok, err)
		}
	}
}

// fewCalls is a context that ends after some calls of Err.
type fewCalls struct {
	context.Context
	calls int
}

func (c *fewCalls) Err() error {
	if c.calls--; c.calls < 0 {
		return context.Canceled
	}
	return nil
}

// A packing by windows proves nearly as much as the whole relaxation.
func TestPack(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 6))
	for _, c := range []struct {
		n     int
		edges [][2]int
		kind  int
		field bool
	}{{400, torus(20, 20), 0, true}, {400, torus(20, 20), 2, false}, {300, sparse(r, 300, 4), 1, true}} {
		coefficient := coefficients(r, c.kind)
		var field func() float64
		if c.field {
			field = coefficient
		}
		inst := drawn(t, c.n, c.edges, coefficient, field)
		m := frustration.New(inst, nil)
		var proof *frustration.Proof
		ctx, shown := &fewCalls{t.Context(), 700}, 0
		Pack(ctx, m, func(p *frustration.Proof) { proof, shown = p, shown+1 })
		loss, shift, err := m.Check(proof)
		if err != nil {
			t.Fatal(err)
		}
		best := m.Bound(loss, shift).Float()
		whole, up, _ := proveAll(&fewCalls{t.Context(), 700}, m)
		loss, shift, err = m.Check(whole)
		if err != nil {
			t.Fatal(err)
		}
		value := inst.Amount(m.Spins(up)).Float()
		t.Logf("%d edges: bound %v by windows, %d times better, %v by one program, value %v", len(m.Ends), best, shown, m.Bound(loss, shift), value)
		if best > value || best < 1.12*value {
			t.Errorf("bound %v, value %v", best, value)
		}
	}
}

// Altered proofs are refused, or prove no more than there is.
func TestAltered(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 4))
	refused, tried, divided := 0, 0, 0
	for tried < 2500 {
		n, degree, kind := 12, 5.0, r.IntN(3)
		if r.IntN(2) == 0 {
			n, degree, kind = 8, 7, 4
		}
		m := frustration.New(drawn(t, n, sparse(r, n, degree), coefficients(r, kind), nil), nil)
		proof, _, ok := proveAll(t.Context(), m)
		if !ok {
			continue
		}
		if len(proof.Cases) > 0 {
			divided++
		}
		least := big.NewInt(leastLoss(m))
		for range 50 {
			tried++
			loss, shift, err := m.Check(altered(r, proof, len(m.Ends)))
			if err != nil {
				refused++
				continue
			}
			if loss.Cmp(new(big.Int).Lsh(least, uint(max(0, shift-m.Shift)))) > 0 && shift >= m.Shift {
				t.Fatalf("an altered proof shows a loss of %v / 2^%d, there is %v", loss, shift, least)
			}
		}
	}
	if refused < 1000 {
		t.Errorf("%d of %d altered proofs are refused", refused, tried)
	}
	if divided < 10 {
		t.Errorf("%d instances were divided into cases", divided)
	}
}

// altered is a proof with a random change.
func altered(r *rand.Rand, p *frustration.Proof, edges int) *frustration.Proof {
	text, _ := json.Marshal(p)
	q := new(frustration.Proof)
	if err := json.Unmarshal(text, q); err != nil {
		panic(err)
	}
	c, sets := new(frustration.Case), q.Sets
	if len(q.Cases) > 0 {
		c = &q.Cases[r.IntN(len(q.Cases))]
		sets = c.Sets
	}
	if len(sets) > 0 && r.IntN(2) == 0 {
		set := sets[r.IntN(len(sets))]
		switch r.IntN(3) {
		case 0:
			set[0] += 1 << r.IntN(62)
		case 1:
			set[1+r.IntN(len(set)-1)] = int64(r.IntN(edges))
		default:
			sets[0] = append(slices.Clone(set), int64(r.IntN(edges)))
		}
		return q
	}
	switch r.IntN(7) {
	case 0:
		q.Exponent--
	case 1:
		c.Uses = append(c.Uses, int32(r.IntN(edges)))
	case 2:
		c.Uses = nil
	case 3:
		for k := range c.Values {
			c.Values[k] = 1 - c.Values[k]
		}
	case 4:
		if k := len(c.Children); k > 0 {
			c.Children = c.Children[:k-1]
		}
	case 5:
		if k := len(c.Children); k > 0 {
			c.Children[r.IntN(k)] = int32(r.IntN(len(q.Cases)))
		}
	default:
		if len(c.Edges) > 0 {
			c.Edges[0] = int32(r.IntN(edges))
		}
	}
	return q
}

// Tori with fields and sparse graphs are proven.
func TestProven(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 5))
	for _, c := range []struct {
		name            string
		n               int
		edges           [][2]int
		coupling, field func() float64
	}{
		{"10 x 10, signs", 100, torus(10, 10), coefficients(r, 0), coefficients(r, 0)},
		{"12 x 12, real numbers", 144, torus(12, 12), r.NormFloat64, r.NormFloat64},
		{"random, degree 3", 100, sparse(r, 100, 3), coefficients(r, 0), nil},
		{"random, degree 4", 60, sparse(r, 60, 4), r.NormFloat64, nil},
	} {
		inst := drawn(t, c.n, c.edges, c.coupling, c.field)
		m := frustration.New(inst, nil)
		proof, up, ok := proveAll(t.Context(), m)
		if !ok {
			t.Fatalf("%s: not proven", c.name)
		}
		loss, shift, err := m.Check(proof)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		bound, value := m.Bound(loss, shift).Float(), inst.Amount(m.Spins(up)).Float()
		if math.Abs(value-bound) > 0x1p-50*math.Abs(value) {
			t.Errorf("%s: value %v, bound %v", c.name, value, bound)
		}
		t.Logf("%s: %v, %d cases", c.name, value, len(proof.Cases))
	}
}
