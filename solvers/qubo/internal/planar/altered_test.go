package planar

import (
	"encoding/json"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/solvers/qubo/internal/frustration"
	"coalesce/solvers/qubo/problem"
)

// altered is a proof with a random change to its sets or cases.
func altered(r *rand.Rand, p *frustration.Proof) *frustration.Proof {
	text, _ := json.Marshal(p)
	q := new(frustration.Proof)
	if err := json.Unmarshal(text, q); err != nil {
		panic(err)
	}
	sets := q.Sets
	c := &q.Cases[r.IntN(len(q.Cases))]
	if r.IntN(2) == 0 && len(c.Sets) > 0 {
		sets = c.Sets
	}
	set := sets[r.IntN(len(sets))]
	whole := []int32{int32(r.IntN(30)) - 2}
	switch r.IntN(13) {
	case 12:
		set[0] = -set[0]
	case 0:
		set[0] += 1 << r.IntN(62)
	case 1:
		set[1+r.IntN(len(set)-1)] = int64(r.IntN(30))
	case 2:
		sets[0] = sets[len(sets)-1]
	case 3:
		c.Without = append(c.Without, whole...)
	case 4:
		c.Without = nil
	case 5:
		c.Uses = append(c.Uses, whole...)
	case 6:
		c.Uses = nil
	case 7:
		for k := range c.Values {
			c.Values[k] = 1 - c.Values[k]
		}
	case 8:
		if len(c.Cycle) > 0 {
			c.Cycle = slices.Delete(c.Cycle, 0, 1)
		}
	case 9:
		if k := len(c.Edges); k > 0 {
			c.Edges, c.Values, c.Children = c.Edges[:k-1], c.Values[:k-1], c.Children[:k-1]
		}
	case 10:
		if k := len(c.Children); k > 0 {
			c.Children[r.IntN(k)] = int32(r.IntN(len(q.Cases)))
		}
	case 11:
		q.Exponent += 1 - 2*r.IntN(2)
	}
	return q
}

// Altered proofs with cases are refused, or prove no more than there is.
func TestAltered(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	refused, tried := 0, 0
	for tried < 3000 {
		n, ends := lattice(3+r.IntN(3), 4+r.IntN(3), 4, true, true)
		inst := drawing{form: problem.MaxCut, sense: problem.Maximize, coeff: coefficients(r, r.IntN(2))}.instance(t, r, n, ends)
		m := frustration.New(inst, nil)
		s := Find(m)
		if s == nil {
			continue
		}
		a := s.Solve(Options{Workers: 1})
		if len(a.Proof.Cases) == 0 {
			continue
		}
		least, _ := s.Loss(a.Up)
		for range 100 {
			tried++
			loss, shift, err := m.Check(altered(r, a.Proof))
			if err != nil {
				refused++
				continue
			}
			if own := new(big.Float).SetMantExp(new(big.Float).SetInt(loss), -shift); own.Cmp(new(big.Float).SetInt(least)) > 0 {
				t.Fatalf("an altered proof shows a loss of %v, the solution's is %v", own, least)
			}
		}
	}
	if refused < 1000 {
		t.Errorf("%d of %d altered proofs are refused", refused, tried)
	}
}

// plain are sets without relative ones.
func plain(sets [][]int64) (list [][]int64) {
	in := map[int64]bool{}
	for _, set := range sets {
		if set[0] > 0 {
			clear(in)
		}
		for _, e := range set[1:] {
			if in[e] {
				delete(in, e)
			} else {
				in[e] = true
			}
		}
		list = append(list, append([]int64{max(set[0], -set[0])}, slices.Sorted(maps.Keys(in))...))
	}
	return list
}

// Proofs whose sets are written as differences show what those with whole sets show, and are shorter.
func TestRelative(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 3))
	cases, shorter := 0, 0
	for round := range 60 {
		n, ends := lattice(6+r.IntN(8), 6+r.IntN(8), 4, true, true)
		inst := drawing{form: problem.MaxCut, sense: problem.Maximize, coeff: coefficients(r, round)}.instance(t, r, n, ends)
		m := frustration.New(inst, nil)
		s := Find(m)
		if s == nil {
			continue
		}
		p := s.Solve(Options{Workers: 1}).Proof
		whole := &frustration.Proof{Exponent: p.Exponent, Sets: plain(p.Sets), Cases: slices.Clone(p.Cases)}
		for k := range whole.Cases {
			whole.Cases[k].Sets = plain(whole.Cases[k].Sets)
		}
		loss, _, err := m.Check(p)
		if err != nil {
			t.Fatal(err)
		}
		if same, _, err := m.Check(whole); err != nil || same.Cmp(loss) != 0 {
			t.Fatalf("whole sets show %v (%v), differences %v", same, err, loss)
		}
		cases += len(p.Cases)
		for k := range p.Sets {
			shorter += len(whole.Sets[k]) - len(p.Sets[k])
		}
	}
	if cases < 100 || shorter < 1000 {
		t.Errorf("%d cases, %d numbers less", cases, shorter)
	}
}

// FuzzCheck reads any proof: it is refused, or proves no more than there is.
func FuzzCheck(f *testing.F) {
	r := rand.New(rand.NewPCG(8, 2))
	n, ends := lattice(3, 4, 4, true, true)
	inst := drawing{form: problem.MaxCut, sense: problem.Maximize, coeff: coefficients(r, 0)}.instance(f, r, n, ends)
	m := frustration.New(inst, nil)
	s := Find(m)
	a := s.Solve(Options{Workers: 1})
	least, _ := s.Loss(a.Up)
	text, err := json.Marshal(a.Proof)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"exponent":1,"sets":[],"cases":[{"cycle":[0,1],"edges":[0],"values":[1],"children":[1]},{}]}`))
	f.Add([]byte(`{"exponent":-4000,"sets":[[1]]}`))
	f.Add([]byte(`{"exponent":1,"sets":[[-1,0,1],[-9223372036854775808]]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p := new(frustration.Proof)
		if json.Unmarshal(text, p) != nil {
			return
		}
		loss, shift, err := m.Check(p)
		if err == nil && new(big.Float).SetMantExp(new(big.Float).SetInt(loss), -shift).Cmp(new(big.Float).SetInt(least)) > 0 {
			t.Fatalf("%s shows %v / 2^%d, there is %v", text, loss, shift, least)
		}
	})
}
