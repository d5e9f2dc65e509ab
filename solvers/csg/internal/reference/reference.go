// Package reference is the plainest dynamic program of coalition structures: on one core,
// one splitting after the other. Tests compare all other algorithms with it.
package reference

import (
	"fmt"
	"math/big"
	"math/bits"
	"slices"

	"coalesce/solvers/csg/problem"
)

// A Method is which splittings are evaluated. All methods find the optimum.
type Method string

// The methods.
const (
	// DP evaluates every splitting of every coalition (Yeh 1986; Rothkopf,
	// Pekec and Harstad 1998).
	DP Method = "dp"
	// IDP evaluates {T, S\T} of a coalition of at most 2n/3 agents only when
	// neither part is larger than the n-|S| agents left, and every splitting
	// of the grand coalition (Rahwan and Jennings, AAMAS 2008). Two smallest
	// blocks of three or more hold at most 2n/3 agents, and a third block is
	// as large as either, so some order of merging finds every structure.
	IDP Method = "idp"
	// Apart evaluates every splitting of the coalitions without the last
	// agent, and of the grand coalition those that give the last agent's block
	// its own value: a third of DP's, the fewest that any method of this form
	// can do with.
	Apart Method = "apart"
)

// Methods are the methods, in the order of their introduction.
func Methods() []Method { return []Method{DP, IDP, Apart} }

// Splittings is how many splittings a method evaluates for n agents.
func Splittings(m Method, n int) (*big.Int, error) {
	three := func(e int) *big.Int { return new(big.Int).Exp(big.NewInt(3), big.NewInt(int64(e)), nil) }
	two := func(e int) *big.Int { return new(big.Int).Lsh(big.NewInt(1), uint(e)) }
	if n < 2 {
		return new(big.Int), CheckMethod(m)
	}
	switch m {
	case DP: // (3^n + 1)/2 - 2^n
		c := three(n)
		c.Add(c, big.NewInt(1)).Rsh(c, 1)
		return c.Sub(c, two(n)), nil
	case Apart: // (3^(n-1) - 1)/2
		c := three(n - 1)
		return c.Sub(c, big.NewInt(1)).Rsh(c, 1), nil
	case IDP:
		total := two(n - 1)
		total.Sub(total, big.NewInt(1))
		for s := 2; s <= 2*n/3; s++ {
			each := new(big.Int)
			for t := 1; 2*t <= s; t++ {
				if s-t > n-s {
					continue
				}
				c := new(big.Int).Binomial(int64(s), int64(t))
				if 2*t == s {
					c.Rsh(c, 1)
				}
				each.Add(each, c)
			}
			total.Add(total, each.Mul(each, new(big.Int).Binomial(int64(n), int64(s))))
		}
		return total, nil
	}
	return nil, CheckMethod(m)
}

// SplittingCount is Splittings as a float64, 0 for a name that is no method.
func SplittingCount(m Method, n int) float64 {
	count, err := Splittings(m, n)
	if err != nil {
		return 0
	}
	x, _ := new(big.Float).SetInt(count).Float64()
	return x
}

// CheckMethod returns an error unless m is one of Methods.
func CheckMethod(m Method) error {
	if slices.Contains(Methods(), m) {
		return nil
	}
	return fmt.Errorf("method %q: expected one of %v", m, Methods())
}

// Solve solves an instance, and returns an optimal structure, its value in decimals and the number of
// splittings that were evaluated.
func Solve(inst *problem.Instance, m Method) (problem.Structure, string, uint64) {
	switch inst.Type {
	case problem.Int16:
		return solve(inst.I16, m)
	case problem.Int32:
		return solve(inst.I32, m)
	case problem.Int64:
		return solve(inst.I64, m)
	case problem.Float32:
		return solve(inst.F32, m)
	}
	return solve(inst.F64, m)
}

func solve[T problem.Number](v []T, m Method) (problem.Structure, string, uint64) {
	f, count := Table(v, m)
	return Restore(v, f, uint64(len(f)-1)), problem.FormatNumber(f[len(f)-1]), count
}

// Table is the table f that a method ends with, and the number of splittings
// it evaluated: f[S] is the best value found of a partition of S. With DP that
// is the optimum for every S; with IDP and Apart it is for the grand
// coalition, and a lower bound for others (no less than v).
func Table[T problem.Number](v []T, m Method) (f []T, splittings uint64) {
	f = slices.Clone(v)
	grand := uint64(len(v) - 1)
	n := bits.OnesCount64(grand)
	if n < 2 {
		return f, 0
	}
	for s := uint64(3); s <= grand; s++ {
		k := bits.OnesCount64(s)
		if k < 2 {
			continue
		}
		last := s>>(n-1) != 0
		if m == IDP && s != grand && k > 2*n/3 || m == Apart && s != grand && last {
			continue
		}
		// T runs over the parts that hold the first agent of S, so that each
		// splitting comes once; for the last agent's block, over those that
		// hold the last agent.
		pivot := s & -s
		if m == Apart && s == grand {
			pivot = 1 << (n - 1)
		}
		best := f[s]
		rest := s ^ pivot
		for sub := (rest - 1) & rest; ; sub = (sub - 1) & rest {
			t := sub | pivot
			if m == IDP && s != grand {
				if a := bits.OnesCount64(t); max(a, k-a) > n-k {
					if sub == 0 {
						break
					}
					continue
				}
			}
			splittings++
			if x := f[t] + f[s^t]; x > best {
				best = x
			}
			if sub == 0 {
				break
			}
		}
		f[s] = best
	}
	return f, splittings
}

// Restore rebuilds an optimal structure of the agents of a coalition from f (Algorithm 2
// of GPU-CSG): a coalition is a block when no splitting of it attains f. A coalition that
// is worth as much whole as split stays whole when v is given; v may be nil.
func Restore[T problem.Number](v, f []T, coalition uint64) problem.Structure {
	s := problem.Structure{}
	if coalition == 0 {
		return s
	}
	todo := []uint64{coalition}
	for len(todo) > 0 {
		c := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		t := uint64(0)
		if v == nil || v[c] != f[c] {
			t = AttainingPart(f, c)
		}
		if t == 0 {
			s = append(s, c)
		} else {
			todo = append(todo, t, c^t)
		}
	}
	s.Sort()
	return s
}

// AttainingPart is a part of c whose splitting attains f[c], 0 when there is none.
func AttainingPart[T problem.Number](f []T, c uint64) uint64 {
	pivot := c & -c
	rest := c ^ pivot
	if rest == 0 {
		return 0
	}
	for sub := (rest - 1) & rest; ; sub = (sub - 1) & rest {
		if t := sub | pivot; f[t]+f[c^t] == f[c] {
			return t
		}
		if sub == 0 {
			return 0
		}
	}
}

// AttainingLast returns, of a splitting of all agents c that is worth `best`, the agents outside the
// last agent's block; 0 where c as a whole is worth that. f has the values of coalitions with the
// last agent, and for the others the values of their best partitions.
func AttainingLast[T problem.Number](f []T, c uint64, best T) uint64 {
	last := uint64(1) << (bits.Len64(c) - 1)
	rest := c ^ last
	for sub := rest; ; sub = (sub - 1) & rest {
		// sub = rest is the coalition of all agents, unsplit.
		if t := sub | last; t == c && f[c] == best {
			return 0
		} else if t != c && f[t]+f[c^t] == best {
			return c ^ t
		}
		if sub == 0 {
			return 0
		}
	}
}
