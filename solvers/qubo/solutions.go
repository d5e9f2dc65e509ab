package qubo

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"time"

	"coalesce/solvers/qubo/internal/host"
	"coalesce/solvers/qubo/internal/preprocess"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// A Solution is one of several that were asked for.
type Solution struct {
	Value   problem.Amount `json:"value"`            // value of the solution
	Bits    problem.Bits   `json:"solution"`         // a digit for each variable, as in the best solution
	Seconds float64        `json:"seconds" unit:"s"` // time from the start of the solve at which it was found

	objective int64
	exact     *big.Float // the value, where coefficients were rounded for the objective
}

// solutions keeps the best solutions met, no two of which differ in fewer than
// apart variables.
type solutions struct {
	limit, apart int // how many are kept; variables in which they differ
	n            int
	mirror       bool // flipping all variables changes nothing: both count as one
	list         []Solution
	complete     bool // there are no others
}

// distance is the number of variables in which two solutions differ.
func (s *solutions) distance(a, b []uint64) int {
	d := 0
	for k := range a {
		d += bits.OnesCount64(a[k] ^ b[k])
	}
	if s.mirror {
		d = min(d, s.n-d)
	}
	return d
}

// add takes x in place of worse solutions near it, unless a solution near x is as good as x, and
// reports that.
func (s *solutions) add(objective int64, x []uint64, at time.Duration) bool {
	if s.limit <= 0 || len(s.list) == s.limit && objective <= s.list[s.limit-1].objective {
		return false
	}
	near := func(o Solution) bool { return s.distance(o.Bits.Words(), x) < s.apart }
	if slices.ContainsFunc(s.list, func(o Solution) bool { return o.objective >= objective && near(o) }) {
		return false
	}
	s.list = slices.DeleteFunc(s.list, near)
	s.list = append(s.list, Solution{Bits: problem.NewBits(slices.Clone(x), s.n), Seconds: at.Seconds(), objective: objective})
	slices.SortStableFunc(s.list, func(a, b Solution) int { return cmp.Compare(b.objective, a.objective) })
	s.list = s.list[:min(len(s.list), s.limit)]
	return true
}

// diversify searches for more solutions where fewer than asked for were found. It takes a known
// solution, flips as many random variables as solutions must differ in, fixes these, and searches
// the other variables on the host.
func (r *run) diversify() error {
	s := &r.several
	if s.limit <= 1 || r.inst.N == 0 || s.complete {
		return nil
	}
	s.add(r.bests.total(), r.bests.solution(-1, nil), r.elapsed())
	random := rand.New(rand.NewPCG(r.o.Seed, 1<<32))
	var free []int
	for i := range r.inst.N {
		if r.inst.Fixed == nil || r.inst.Fixed[i] < 0 {
			free = append(free, i)
		}
	}
	left := func() int64 { // flips, of a limit on them
		if r.o.Work == 0 {
			return math.MaxInt64
		}
		return r.o.Work - r.told.work.Flips
	}
	end := r.deadlineFor(0.75) // fill needs some time too
	late := func() bool { return r.isOverdue() || !end.IsZero() && time.Now().After(end) }
	for rounds := 0; rounds < 8*s.limit && len(s.list) < s.limit && len(free) >= s.apart && left() > 0 && !late(); rounds++ {
		from := s.list[random.IntN(len(s.list))].Bits.Words()
		given := slices.Clone(r.inst.Fixed)
		if given == nil {
			given = slices.Repeat([]int8{-1}, r.inst.N)
		}
		random.Shuffle(len(free), func(a, b int) { free[a], free[b] = free[b], free[a] })
		for _, i := range free[:s.apart] {
			given[i] = int8(1 - problem.Bit(from, i))
		}
		if s.mirror && len(free) > s.apart { // else the search may end at the mirror image
			i := free[s.apart]
			given[i] = int8(problem.Bit(from, i))
		}
		red := preprocess.Reduce(r.p, given, true, nil, r.isOverdue)
		if len(red.Parts) == 0 {
			s.add(red.Constant, red.Restore(nil), r.elapsed())
		}
		o := search.Options{Began: r.began, Deadline: r.deadline, Seed: random.Uint64(), Work: min(2000+50*int64(len(free)), left()), Workers: 1}
		for _, c := range red.Parts {
			did, err := host.Search{}.Search(r.ctx, c.Problem, o, func(v int64, x []uint64, at time.Duration) {
				s.add(red.Constant+v, red.Restore([][]uint64{x}), at)
			})
			if err != nil {
				return err
			}
			r.told.work.Flips += did.Flips
			r.told.work.Restarts += did.Restarts
		}
	}
	r.fill(free)
	return nil
}

// fill adds solutions if searches have not found enough: neighbours of the known ones, at the least
// permitted distance.
func (r *run) fill(free []int) {
	s := &r.several
	known := slices.Clone(s.list)
	for k := 0; k < len(known) && len(free) >= s.apart; k++ {
		from := known[k]
		for at := range free {
			if len(s.list) >= s.limit || r.isOverdue() {
				return
			}
			x := slices.Clone(from.Bits.Words())
			for d := range s.apart {
				i := free[(at+d)%len(free)]
				x[i>>6] ^= 1 << (i & 63)
			}
			value := r.p.ValueFrom(from.Bits.Words(), from.objective, x)
			if s.add(value, x, r.elapsed()) {
				known = append(known, Solution{Bits: problem.NewBits(x, s.n), objective: value})
			}
		}
	}
}
