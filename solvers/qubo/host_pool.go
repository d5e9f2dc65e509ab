package qubo

import (
	"math/bits"
	"math/rand/v2"
	"slices"
)

// An elite is a solution of the pool. It is never written to.
type elite struct {
	value int64
	x     []uint64
}

// A pool holds the best solutions found, the best first, no two of them closer
// than apart variables.
type pool struct {
	elites []elite
	size   int
	apart  int
	n      int
	mirror bool // x and its complement have the same value
	misses int  // solutions refused since one was taken
}

// poolSize is how many elites a pool has where that is not said.
const poolSize = 10

// newPool makes a pool of at most size elites, no two of them closer than apart
// variables. Where all fields are the negative of what they are at
// the complement, as in maximum cuts, a solution is stored as that of it and
// its complement which is closer to the best.
func newPool(p *normal, size, apart int) *pool {
	e := &pool{size: size, apart: apart, n: p.n, mirror: p.n > 0}
	for i := 0; i < p.n && e.mirror; i++ {
		sum := 2 * p.diag[i]
		_, weight := p.row(i)
		for _, w := range weight {
			sum += w
		}
		e.mirror = sum == 0
	}
	return e
}

// distance is the number of variables in which two solutions differ.
func distance(a, b []uint64) (d int) {
	for i := range a {
		d += bits.OnesCount64(a[i] ^ b[i])
	}
	return d
}

func (e *pool) complement(x []uint64) {
	for i := range x {
		x[i] = ^x[i]
	}
	if e.n%64 != 0 {
		x[len(x)-1] &= 1<<(e.n%64) - 1
	}
}

// add offers a solution, which the pool may keep, and reports whether it did
// and whether it is the best.
func (e *pool) add(value int64, x []uint64) (taken, best bool) {
	x = slices.Clone(x[:words(e.n)])
	if e.mirror && len(e.elites) > 0 && 2*distance(x, e.elites[0].x) > e.n {
		e.complement(x)
	}
	near := func(other elite) bool { return distance(x, other.x) < e.apart }
	place := len(e.elites)
	for k, other := range e.elites {
		if other.value >= value && near(other) {
			e.misses++
			return false, false
		}
		if value > other.value && k < place {
			place = k
		}
	}
	if place >= e.size {
		e.misses++
		return false, false
	}
	rest := slices.DeleteFunc(slices.Clone(e.elites[place:]), near)
	e.elites = append(append(e.elites[:place:place], elite{value, x}), rest...)
	e.elites = e.elites[:min(len(e.elites), e.size)]
	e.misses = 0
	return true, place == 0
}

// renew drops all but the best.
func (e *pool) renew() {
	e.elites = e.elites[:min(1, len(e.elites))]
	e.misses = 0
}

// pair draws two different elites; ok is false where there are fewer.
func (e *pool) pair(r *rand.Rand) (a, b elite, ok bool) {
	n := len(e.elites)
	if n < 2 {
		return a, b, false
	}
	i := r.IntN(n)
	j := r.IntN(n - 1)
	if j >= i {
		j++
	}
	return e.elites[i], e.elites[j], true
}
