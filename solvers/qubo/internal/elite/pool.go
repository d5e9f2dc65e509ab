// Package elite keeps good solutions that differ from one another, and combines
// two of them.
package elite

import (
	"math/bits"
	"math/rand/v2"
	"slices"

	"coalesce/solvers/qubo/problem"
)

// A Member is a solution of the pool, and its value. X is never written to.
type Member struct {
	Value int64
	X     []uint64
}

// A Pool holds the best solutions found, the best first. Any two of them differ in at least Apart
// variables.
type Pool struct {
	Elites []Member
	Size   int
	Apart  int
	N      int
	Mirror bool // x and its complement have the same value
	Misses int  // solutions refused since one was taken
}

// DefaultSize is the number of elites of a pool where the rules give none.
const DefaultSize = 10

// NewPool makes a pool of at most size elites, any two of which differ in at least apart
// variables. Where a solution and its complement always have the same value, as in maximum cuts,
// the pool stores the one that is closer to its best elite.
func NewPool(p *problem.Normal, size, apart int) *Pool {
	e := &Pool{Size: size, Apart: apart, N: p.N, Mirror: p.N > 0}
	for i := 0; i < p.N && e.Mirror; i++ {
		sum := 2 * p.Diag[i]
		_, weight := p.Row(i)
		for _, w := range weight {
			sum += w
		}
		e.Mirror = sum == 0
	}
	return e
}

// HammingDistance is the number of variables in which two solutions differ.
func HammingDistance(a, b []uint64) (d int) {
	for i := range a {
		d += bits.OnesCount64(a[i] ^ b[i])
	}
	return d
}

func (e *Pool) complement(x []uint64) {
	for i := range x {
		x[i] = ^x[i]
	}
	if e.N%64 != 0 {
		x[len(x)-1] &= 1<<(e.N%64) - 1
	}
}

// Add offers a solution. taken reports whether the pool keeps it, best whether it is then the
// best.
func (e *Pool) Add(value int64, x []uint64) (taken, best bool) {
	x = slices.Clone(x[:problem.Words(e.N)])
	if e.Mirror && len(e.Elites) > 0 && 2*HammingDistance(x, e.Elites[0].X) > e.N {
		e.complement(x)
	}
	near := func(other Member) bool { return HammingDistance(x, other.X) < e.Apart }
	place := len(e.Elites)
	for k, other := range e.Elites {
		if other.Value >= value && near(other) {
			e.Misses++
			return false, false
		}
		if value > other.Value && k < place {
			place = k
		}
	}
	if place >= e.Size {
		e.Misses++
		return false, false
	}
	rest := slices.DeleteFunc(slices.Clone(e.Elites[place:]), near)
	e.Elites = append(append(e.Elites[:place:place], Member{value, x}), rest...)
	e.Elites = e.Elites[:min(len(e.Elites), e.Size)]
	e.Misses = 0
	return true, place == 0
}

// KeepBest drops all but the best.
func (e *Pool) KeepBest() {
	e.Elites = e.Elites[:min(1, len(e.Elites))]
	e.Misses = 0
}

// DrawPair draws two different elites; ok is false where there are fewer.
func (e *Pool) DrawPair(r *rand.Rand) (a, b Member, ok bool) {
	n := len(e.Elites)
	if n < 2 {
		return a, b, false
	}
	i := r.IntN(n)
	j := r.IntN(n - 1)
	if j >= i {
		j++
	}
	return e.Elites[i], e.Elites[j], true
}
