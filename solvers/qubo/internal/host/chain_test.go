package host

import (
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/solvers/qubo/internal/qubotest"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// lowAutocorrelation is the problem of low autocorrelation binary sequences as QOBLIB states it: a variable for each product of two of the
// sequence's, tied by a penalty. offset is the energy less the value.
func lowAutocorrelation(n int) (p *problem.Normal, offset int64) {
	const penalty = 10000
	diag, pairs := map[int]int64{}, map[[2]int]int64{}
	add := func(i, j int, w int64) {
		if i == j {
			diag[i] -= w
		} else {
			pairs[[2]int{min(i, j), max(i, j)}] -= w
		}
	}
	count := n
	for k := 1; k < n; k++ {
		type term struct {
			at     int
			weight int64
		}
		sum := []term{}
		constant := int64(n - k)
		for i := range n - k {
			z := count
			count++
			sum = append(sum, term{z, 4}, term{i, -2}, term{i + k, -2})
			add(z, z, 3*penalty)
			add(z, i, -2*penalty)
			add(z, i+k, -2*penalty)
			add(i, i+k, penalty)
		}
		offset += constant * constant
		for _, a := range sum {
			add(a.at, a.at, 2*constant*a.weight)
			for _, b := range sum {
				add(a.at, b.at, a.weight*b.weight)
			}
		}
	}
	return qubotest.Sparse(count, func(i int) int64 { return diag[i] }, pairs), offset
}

// Chains find sequences of lower energy than the other methods in the same flips, and beside them the best, of energy 24.
func TestChainsCrossPenalties(t *testing.T) {
	p, offset := lowAutocorrelation(16)
	energy := func(without ...string) int64 {
		return offset - qubotest.RunSearch(t, Search{Without: without}, p, search.Options{Seed: 1, Work: 2e5, Workers: 2}).Best()
	}
	others := slices.DeleteFunc(MethodNames(), func(name string) bool { return name == chainWalk.String() })
	if alone, all, none := energy(others...), energy(), energy(chainWalk.String()); alone >= none || all != 24 || none <= 24 {
		t.Errorf("energies: chains alone %d, all methods %d, without chains %d; expected less than the last, 24, and more", alone, all, none)
	}
}

// A chain ends where its value was best, and leaves no variable held.
func TestChainEndsAtItsBest(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	for range 20 {
		p := qubotest.RandomProblem(r, 2+r.IntN(60), r.Float64(), 50, 1)
		s := endless(p, layOutRows[int64, int64](p, 0, 1, new(deadline), nil))
		s.setBits(s.free)
		before, x := s.value, slices.Clone(s.x)
		s.group = append(s.group[:0], int32(r.IntN(p.N)))
		end := s.grow()
		flips := slices.Clone(s.group)
		s.shorten(0)
		best, value := -1, before
		for k, i := range flips {
			s.flip(int(i))
			if best < 0 || s.value > value {
				best, value = k+1, s.value
			}
		}
		s.group = flips
		if best != end || len(flips)-end > chainPast+1 || !slices.Equal(s.free, s.every) {
			t.Errorf("a chain of %d flips ends after %d, its best end is %d", len(flips), end, best)
		}
		if s.shorten(0); s.value != before || !slices.Equal(s.x, x) {
			t.Error("a chain that was taken back has left changes")
		}
		s.slacks = newSlacks(p)
		s.chain()
		s.keepBest()
		s.consistent(t, "chain")
	}
}

// Penalties are told from weights of like size.
func TestPenaltiesAreFound(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	labs, _ := lowAutocorrelation(8)
	for name, c := range map[string]struct {
		p    *problem.Normal
		want bool
	}{"LABS": {labs, true}, "uniform": {qubotest.RandomProblem(r, 100, 0.5, 100, 1), false}, "torus": {qubotest.Torus(r, 9), false}, "no pairs": {qubotest.RandomProblem(r, 5, 0, 9, 1), false}} {
		if _, got := penaltiesOf(c.p, c.p.Spans().Weight); got != c.want {
			t.Errorf("%s: penalties %t, expected %t", name, got, c.want)
		}
	}
}

// Numbers that follow a variable keep the sums of penalties, with negative entries and entries of more than 1 too.
func TestSlacksKeepSums(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 2))
	for range 20 {
		const items, digits, penalty = 12, 5, 1000
		n := items + 2*digits
		diag, pairs := make([]int64, n), map[[2]int]int64{}
		entries := [2][]int64{make([]int64, n), make([]int64, n)}
		limits := [2]int64{r.Int64N(40), r.Int64N(40)}
		for c, a := range entries {
			for i := range items {
				a[i] = (1 + r.Int64N(3)) * (1 - 2*r.Int64N(2))
			}
			for k := range digits {
				a[items+c*digits+k] = 1 << k
			}
			for i := range n {
				diag[i] -= penalty * a[i] * (a[i] - 2*limits[c])
				for j := range i {
					if w := 2 * penalty * a[i] * a[j]; w != 0 {
						pairs[[2]int{j, i}] -= w
					}
				}
			}
		}
		p := qubotest.Sparse(n, func(i int) int64 { return diag[i] }, pairs)
		s, found := penaltiesOf(p, p.Spans().Weight)
		if !found || len(s.numbers) != 2 || len(s.numbers[0]) != digits {
			t.Fatalf("found %t, numbers %v, expected two of %d digits", found, s.numbers, digits)
		}
		x := []uint64{r.Uint64()}
		sum := func(c int) (total int64) {
			for i, a := range entries[c] {
				total += a * int64(problem.Bit(x, i))
			}
			return total
		}
		for i := range items {
			before := [2]int64{sum(0), sum(1)}
			list := s.follow([]int32{int32(i)}, x)
			change := 1 - 2*int64(problem.Bit(x, i))
			for _, at := range list {
				x[0] ^= 1 << at
			}
			for c, a := range entries {
				number := (x[0] >> (items + c*digits) & (1<<digits - 1))
				next := int64(number) - a[i]*change
				if got := sum(c); got != before[c] && !(got == before[c]+a[i]*change && (next < 0 || next >= 1<<digits)) {
					t.Errorf("variable %d with %d: the sum went from %d to %d, the number is %d", i, a[i], before[c], got, number)
				}
			}
		}
	}
}
