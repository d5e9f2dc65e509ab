package csg

import (
	"fmt"
	"math/big"
	"math/bits"
	"slices"
	"time"

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
		return new(big.Int), checkMethod(m)
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
	return nil, checkMethod(m)
}

func checkMethod(m Method) error {
	if slices.Contains(Methods(), m) {
		return nil
	}
	return fmt.Errorf("method %q: expected one of %v", m, Methods())
}

// Reference solves an instance on one core, one splitting after the other. It
// is what every other solver is held against.
func Reference(inst *Instance, m Method) (*Result, error) {
	if err := inst.Check(); err != nil {
		return nil, fmt.Errorf("reference: %w", err)
	}
	if err := checkMethod(m); err != nil {
		return nil, fmt.Errorf("reference: %w", err)
	}
	start := time.Now()
	var s Structure
	var exact string
	var count uint64
	switch inst.Type {
	case Int32:
		s, exact, count = refer(inst.I32, m)
	case Int64:
		s, exact, count = refer(inst.I64, m)
	case Float32:
		s, exact, count = refer(inst.F32, m)
	case Float64:
		s, exact, count = refer(inst.F64, m)
	}
	r := NewResult(inst)
	r.Structure, r.Splittings = s, float64(count)
	r.Device, r.Variant, r.Algorithm = "reference", string(m), string(m)
	r.Reason = "one core, one splitting after the other"
	r.Seconds.Solve = time.Since(start).Seconds()
	if err := r.Certify(inst, exact); err != nil {
		return r, fmt.Errorf("reference: %w", err)
	}
	return r, nil
}

func refer[T Number](v []T, m Method) (Structure, string, uint64) {
	f, count := Table(v, m)
	s := StructureOf(v, f)
	return s, formatNumber(f[len(f)-1]), count
}

// Table is the table f that a method ends with, and the number of splittings
// it evaluated: f[S] is the best value found of a partition of S. With DP that
// is the optimum for every S; with IDP and Apart it is for the grand
// coalition, and a lower bound for others (no less than v).
func Table[T Number](v []T, m Method) (f []T, splittings uint64) {
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

// StructureOf rebuilds an optimal structure from f (Algorithm 2 of GPU-CSG): a
// coalition no splitting of which attains f is a block. Where a coalition is
// worth as much whole as split, it stays whole when v is given; v may be nil.
func StructureOf[T Number](v, f []T) Structure {
	return structureOf(v, f, uint64(len(f)-1))
}

// structureOf is StructureOf for the agents of a coalition.
func structureOf[T Number](v, f []T, coalition uint64) Structure {
	s := Structure{}
	if coalition == 0 {
		return s
	}
	todo := []uint64{coalition}
	for len(todo) > 0 {
		c := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		t := uint64(0)
		if v == nil || v[c] != f[c] {
			t = attaining(f, c)
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

// attaining is a part of c whose splitting attains f[c], 0 when there is none.
func attaining[T Number](f []T, c uint64) uint64 {
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

// formatNumber writes a number in decimals that give it back.
func formatNumber[T Number](x T) string {
	switch x := any(x).(type) {
	case float32:
		return problem.FormatFloat(float64(x), 32)
	case float64:
		return problem.FormatFloat(x, 64)
	}
	return fmt.Sprint(x)
}
