package payments

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// inequalities of a polyhedron: coefficients times x are at least the last entry.
type inequality struct {
	a []int64
	b int64
}

func (q inequality) slack(x []*big.Rat) *big.Rat {
	s := big.NewRat(-q.b, 1)
	for i, a := range q.a {
		s.Add(s, new(big.Rat).Mul(big.NewRat(a, 1), x[i]))
	}
	return s
}

// vertices are all points where so many inequalities as there are unknowns meet, and
// none is violated.
func vertices(n int, all []inequality) [][]*big.Rat {
	var found [][]*big.Rat
	var pick func(from int, chosen []inequality)
	pick = func(from int, chosen []inequality) {
		if len(chosen) == n {
			if x := meet(chosen); x != nil {
				for _, q := range all {
					if q.slack(x).Sign() < 0 {
						return
					}
				}
				found = append(found, x)
			}
			return
		}
		for k := from; k < len(all); k++ {
			pick(k+1, append(chosen[:len(chosen):len(chosen)], all[k]))
		}
	}
	pick(0, nil)
	return found
}

// meet solves n equations by Cramer's rule; nil where they depend on one another.
func meet(rows []inequality) []*big.Rat {
	n := len(rows)
	matrix := func(replaced int) [][]int64 {
		m := make([][]int64, n)
		for i, r := range rows {
			m[i] = append([]int64(nil), r.a...)
			if replaced >= 0 {
				m[i][replaced] = r.b
			}
		}
		return m
	}
	d := determinant(matrix(-1))
	if d == 0 {
		return nil
	}
	x := make([]*big.Rat, n)
	for i := range x {
		x[i] = big.NewRat(determinant(matrix(i)), d)
	}
	return x
}

func determinant(m [][]int64) int64 {
	if len(m) == 0 {
		return 1
	}
	sum, sign := int64(0), int64(1)
	for j, a := range m[0] {
		var minor [][]int64
		for _, r := range m[1:] {
			minor = append(minor, append(append([]int64(nil), r[:j]...), r[j+1:]...))
		}
		sum += sign * a * determinant(minor)
		sign = -sign
	}
	return sum
}

func total(x []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for _, v := range x {
		sum.Add(sum, v)
	}
	return sum
}

// The point is held against all vertices of the polyhedron: none has less revenue, and
// of those of least revenue, whose hull is all such points, none lies on the near side.
func TestAgainstVertices(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	fractions := 0
	for trial := range 600 {
		n := 1 + r.IntN(4)
		upper := make([]int64, n)
		var all []inequality
		for i := range n {
			upper[i] = int64(r.IntN(12))
			low, high := make([]int64, n), make([]int64, n)
			low[i], high[i] = 1, -1
			all = append(all, inequality{low, 0}, inequality{high, -upper[i]})
		}
		p := NewPoint(upper)
		for range r.IntN(5) {
			var members []int
			a := make([]int64, n)
			room := int64(0)
			for i := range n {
				if r.IntN(3) > 0 {
					members = append(members, i)
					a[i], room = 1, room+upper[i]
				}
			}
			least := int64(r.IntN(20)) - 2
			if ok := p.Add(members, least); ok != (room >= least) {
				t.Fatalf("members %v of at most %v pay at least %d: %t", members, upper, least, ok)
			} else if ok {
				all = append(all, inequality{a, least})
			}
		}
		x := make([]*big.Rat, n)
		for i := range x {
			x[i] = p.Value(i)
			if !x[i].IsInt() {
				fractions++
			}
			if up := big.NewRat(p.Ceil(i), 1); up.Cmp(x[i]) < 0 || new(big.Rat).Sub(up, x[i]).Cmp(big.NewRat(1, 1)) >= 0 {
				t.Fatalf("%s is rounded to %s", x[i], up)
			}
		}
		for _, q := range all {
			if q.slack(x).Sign() < 0 {
				t.Fatalf("trial %d: %v violates %v", trial, x, q)
			}
		}
		for _, v := range vertices(n, all) {
			switch total(v).Cmp(total(x)) {
			case -1:
				t.Fatalf("trial %d: %v has more revenue than %v", trial, x, v)
			case 0:
				side := new(big.Rat)
				for i := range x {
					side.Add(side, new(big.Rat).Mul(x[i], new(big.Rat).Sub(v[i], x[i])))
				}
				if side.Sign() < 0 {
					t.Fatalf("trial %d: %v is farther from 0 than points towards %v", trial, x, v)
				}
			}
		}
	}
	if fractions == 0 {
		t.Error("no trial had a fraction: too easy")
	}
}

// Forty winners that all coalitions of neighbours press on.
func TestManyWinners(t *testing.T) {
	upper := make([]int64, 40)
	for i := range upper {
		upper[i] = 1000
	}
	p := NewPoint(upper)
	for i := range 39 {
		if !p.Add([]int{i, i + 1}, 10) {
			t.Fatal("the members can pay")
		}
	}
	sum := new(big.Rat)
	for i := range upper {
		sum.Add(sum, p.Value(i))
	}
	if sum.Cmp(big.NewRat(200, 1)) != 0 { // pairs (0 1), (2 3), … ask for 10 each
		t.Errorf("revenue %s, expected 200", sum)
	}
}
