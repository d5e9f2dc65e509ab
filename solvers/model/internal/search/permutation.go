package search

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"coalesce/solvers/model/problem"
)

// A permutation is a model whose solutions are the permutations of groups over as many seats: an assignment, a tour, a quadratic
// assignment. It is searched by robust tabu search (Taillard 1991) on the table of all swaps' changes, which a swap updates in one
// pass. Where pairs are flows between groups times distances between seats, the pass takes a product for each entry of the table, else
// the change of each bit's gain.
type permutation struct {
	*Layout
	n        int
	linear   []int64   // [group][seat]
	flow     []int64   // [group][group], nil where pairs are no products
	distance []int64   // [seat][seat]
	pair     [][]int64 // [group, seat][group, seat], nil where flow is there
}

// long is the moves for each group after which a long walk without a better solution begins again.
const long = 100

// mostPairs is the most entries of the table of pairs.
const mostPairs = 1 << 24

// permutation is the model as one, nil where it is none.
func (l *Layout) permutation() *permutation {
	n := len(l.keeps)
	if n < 2 || len(l.seats.rows) != n || len(l.rows) > 0 || len(l.form.Products) > 0 || l.form.N != n*n {
		return nil
	}
	for g := range n {
		if s := &l.seats.rows[g]; s.Low != 1 || s.High != 1 || slices.Contains(l.seats.bits[g], -1) {
			return nil
		}
	}
	p := &permutation{Layout: l, n: n, linear: make([]int64, n*n)}
	for b, c := range l.form.Linear {
		p.linear[p.index(int32(b))] = c
	}
	if !p.factor() {
		if n*n*n*n > mostPairs {
			return nil
		}
		p.flow, p.distance, p.pair = nil, nil, make([][]int64, n*n)
		for i := range p.pair {
			p.pair[i] = make([]int64, n*n)
		}
		for _, q := range l.form.Pairs {
			if a, b := p.index(q.I), p.index(q.J); a/n != b/n && a%n != b%n {
				p.pair[a][b], p.pair[b][a] = q.Coefficient, q.Coefficient
			}
		}
	}
	return p
}

// index is the number of a bit among those of groups in turn.
func (p *permutation) index(b int32) int { return int(p.group[b])*p.n + int(p.seats.of[b]) }

// factor finds flows and distances, both symmetric, whose products all pairs are.
func (p *permutation) factor() bool {
	n := p.n
	p.flow, p.distance = make([]int64, n*n), make([]int64, n*n)
	first, common, entries := -1, int64(0), 0
	each := func(visit func(block, entry int, c int64) bool) bool { // of pairs of groups, the smaller first
		for _, q := range p.form.Pairs {
			a, b := p.index(q.I), p.index(q.J)
			if a > b {
				a, b = b, a
			}
			if a/n != b/n && a%n != b%n && !visit(a/n*n+b/n, a%n*n+b%n, q.Coefficient) {
				return false
			}
		}
		return true
	}
	each(func(block, entry int, c int64) bool {
		if first < 0 {
			first = block
		}
		if block == first {
			p.distance[entry], common, entries = c, problem.Divisor(common, c), entries+1
		}
		return true
	})
	if first < 0 {
		return true
	}
	for k := range p.distance {
		p.distance[k] /= common
	}
	for k, d := range p.distance {
		if p.distance[k%n*n+k/n] != d {
			return false
		}
	}
	count := make([]int, n*n)
	if !each(func(block, entry int, c int64) bool {
		d := p.distance[entry]
		if d == 0 || c%d != 0 || count[block] > 0 && p.flow[block] != c/d {
			return false
		}
		p.flow[block] = c / d
		p.flow[block%n*n+block/n] = c / d
		count[block]++
		return true
	}) {
		return false
	}
	return !slices.ContainsFunc(count, func(c int) bool { return c != 0 && c != entries })
}

// An arrangement is a seat of each group, with the change of the objective by each swap.
type arrangement struct {
	*permutation
	at      []int32 // the seat of each group
	value   int64
	change  []int64 // [group][group], of a smaller and a larger
	slope   []int64 // of each bit, its linear term and its pairs with bits that are 1; unused with flows
	f, g, h []int64 // scratch of a swap
}

func (p *permutation) arrange(at []int32) *arrangement {
	a := &arrangement{permutation: p, at: at, change: make([]int64, p.n*p.n), f: make([]int64, p.n), g: make([]int64, p.n)}
	x := make([]uint8, p.form.N)
	a.bits(x)
	a.value = p.form.Value(x)
	if p.flow == nil {
		a.slope, a.h = slices.Clone(p.linear), make([]int64, p.n*p.n)
		for i, k := range at {
			for b, c := range p.pair[i*p.n+int(k)] {
				a.slope[b] += c
			}
		}
	}
	for r := range p.n {
		for s := r + 1; s < p.n; s++ {
			a.change[r*p.n+s] = a.swapChange(r, s)
		}
	}
	return a
}

// bits writes the arrangement as bits.
func (a *arrangement) bits(x []uint8) {
	clear(x)
	for g, seat := range a.at {
		x[a.seats.bits[g][seat]] = 1
	}
}

// swapChange is the change of the objective if groups r and s swap seats.
func (a *arrangement) swapChange(r, s int) int64 {
	n, u, v := a.n, int(a.at[r]), int(a.at[s])
	if a.flow == nil {
		p, q, i, j := r*n+u, s*n+v, r*n+v, s*n+u
		return a.slope[i] + a.slope[j] - a.slope[p] - a.slope[q] + a.pair[p][q] + a.pair[i][j]
	}
	sum := a.linear[r*n+v] + a.linear[s*n+u] - a.linear[r*n+u] - a.linear[s*n+v]
	fr, fs, du, dv := a.flow[r*n:][:n], a.flow[s*n:][:n], a.distance[u*n:][:n], a.distance[v*n:][:n]
	for k, seat := range a.at {
		if k != r && k != s {
			sum += (fr[k] - fs[k]) * (dv[seat] - du[seat])
		}
	}
	return sum
}

// swap makes groups u and v swap seats.
func (a *arrangement) swap(u, v int) {
	n, x, y := a.n, int(a.at[u]), int(a.at[v])
	a.value += a.change[min(u, v)*n+max(u, v)]
	if a.flow == nil {
		p, q, i, j := a.pair[u*n+x], a.pair[v*n+y], a.pair[u*n+y], a.pair[v*n+x]
		for b := range a.h {
			a.h[b] = i[b] + j[b] - p[b] - q[b]
			a.slope[b] += a.h[b]
		}
	} else {
		for k := range n {
			a.f[k] = a.flow[k*n+u] - a.flow[k*n+v]
			seat := int(a.at[k])
			a.g[k] = a.distance[seat*n+y] - a.distance[seat*n+x]
		}
	}
	a.at[u], a.at[v] = int32(y), int32(x)
	for r := range n {
		row := a.change[r*n:][:n]
		if r == u || r == v {
			for s := r + 1; s < n; s++ {
				row[s] = a.swapChange(r, s)
			}
			continue
		}
		if a.flow != nil {
			f, g := a.f[r], a.g[r]
			row, fs, gs := row[r+1:], a.f[r+1:], a.g[r+1:]
			fs, gs = fs[:len(row)], gs[:len(row)]
			for k := range row {
				row[k] += (f - fs[k]) * (gs[k] - g)
			}
		} else {
			seat := int(a.at[r])
			own := a.h[r*n:][:n]
			for s := r + 1; s < n; s++ {
				other := int(a.at[s])
				row[s] += own[other] + a.h[s*n+seat] - own[seat] - a.h[s*n+other]
			}
		}
		for _, s := range [2]int{u, v} {
			if s > r {
				row[s] = a.swapChange(r, s)
			}
		}
	}
}

// least is the swap with the least change among those that are not tabu or lead below aspired; u is -1 where there is none. tabu is the
// move from which a group may sit on a seat again.
func (a *arrangement) least(tabu []int64, now, aspired int64) (u, v int) {
	n, best := a.n, int64(math.MaxInt64)
	u = -1
	for r := range n {
		own, seat := tabu[r*n:][:n], int(a.at[r])
		for k, c := range a.change[r*n+r+1:][:n-r-1] {
			if c >= best {
				continue
			}
			s := r + 1 + k
			if own[a.at[s]] <= now || tabu[s*n+seat] <= now || a.value+c < aspired {
				u, v, best = r, s, c
			}
		}
	}
	return u, v
}

// search walks until the context ends or the work, in moves, is done, and calls found with each better solution.
func (p *permutation) search(ctx context.Context, start []uint8, random *rand.Rand, work int64, limit *atomic.Int64, found func(value int64, x []uint8)) (moves int64) {
	n := p.n
	at := make([]int32, n)
	for g, k := range random.Perm(n) {
		at[g] = int32(k)
	}
	if start != nil {
		on, _ := p.sit(slices.Clone(start), random)
		for g, b := range on {
			at[g] = p.seats.of[b]
		}
	}
	a := p.arrange(at)
	best, bestAt, stall := int64(math.MaxInt64), slices.Clone(at), int64(0)
	here, hereAt := int64(math.MaxInt64), slices.Clone(at) // since the last restart
	tabu := make([]int64, n*n)
	x := make([]uint8, p.form.N)
	var u, v int
	for ; work <= 0 || moves < work; moves++ {
		if moves&63 == 0 && ctx.Err() != nil {
			break
		}
		if a.value < here {
			here, stall = a.value, 0
			copy(hereAt, a.at)
		}
		if here < best {
			best = here
			copy(bestAt, hereAt)
			if best < limit.Load() {
				a.bits(x)
				found(best, slices.Clone(x))
			}
		}
		patience := int64(n) // structured instances want many restarts, random ones long walks: half of the moves each
		if moves/int64(long*n)%2 == 1 {
			patience = long * int64(n)
		}
		if stall++; stall > patience || moves == 0 {
			stall = 0
			if moves > 0 {
				from := bestAt
				if random.IntN(4) == 0 {
					from = hereAt
				}
				copy(at, from)
				for range 2 + random.IntN(max(1, n/2)) {
					i, j := random.IntN(n), random.IntN(n)
					at[i], at[j] = at[j], at[i]
				}
				a = p.arrange(at)
				here = a.value
				copy(hereAt, at)
				clear(tabu)
			}
			u, v = a.least(tabu, moves, here)
		}
		for _, g := range [2]int{u, v} {
			tabu[g*n+int(a.at[g])] = moves + 1 + int64(n) - int64(n/10) + int64(random.IntN(1+n/5))
		}
		a.swap(u, v)
		if u, v = a.least(tabu, moves+1, here); u < 0 {
			u = random.IntN(n)
			v = (u + 1 + random.IntN(n-1)) % n
			if u > v {
				u, v = v, u
			}
		}
	}
	return moves
}
