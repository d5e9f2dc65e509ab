package host

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"coalesce/runtime/host/kernels/qubo"
	"coalesce/solvers/qubo/internal/draw"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// A method is a way to walk.
type method int

const (
	tabuWalk      method = iota // one-flip tabu search, from between two elites
	annealWalk                  // simulated annealing from a random start
	reheatWalk                  // annealing of an elite from a lower temperature
	eliminateWalk               // exact moves by elimination from an elite or a crossover
	startWalk                   // a start of massive multi-start, path relinking to an elite, tabu search
	methods
)

// String is the name by which a method is left out.
func (m method) String() string {
	return [...]string{"tabu", "anneal", "reheat", "eliminate", "multistart"}[m]
}

// A course is the first solution of a walk and the method that improves it. Walks do not
// write to elites.
type course struct {
	method method
	from   []uint64 // first solution; nil: a random one
	toward []uint64 // second parent; nil: none
	length int      // index of lengths
	arm    int      // of the portfolio
}

// A searcher is one of the searches that run side by side: a goroutine that
// makes the walks it is given, in grants of so much work.
type searcher[S qubo.Sum] struct {
	*state[S]
	random *rand.PCG
	logs   *logs
	spread float64
	end    *alarm
	target *int64 // value at which the searcher rings end; nil: it never does

	rules  search.Rules // of the host's
	course course
	ended  bool // the walk of course is complete
	best   int64
	bestX  []uint64 // the best of this walk
	flips  int64    // in all grants
	cost   float64  // of this walk, in units of about a nanosecond

	grant       chan grant
	report      chan struct{}
	look        float64 // work until the next look at the clock
	costLeft    float64
	flipsLeft   int64
	every       []uint64 // ones for variables 0 to n-1
	free        []uint64
	middle      []uint64
	ring        []int32
	until       []int
	group       []int32
	elimination *elimination[S]
	starts      uint64   // of massive multi-start, made so far
	last        []uint64 // of those; nil: none
}

// An alarm rings when time is over.
type alarm struct {
	rung     atomic.Bool
	deadline time.Time // zero: none
}

func (a *alarm) ring() { a.rung.Store(true) }

// over looks at the clock. Timers alone can be late by the time that goroutines
// compute without a pause.
func (a *alarm) over() bool {
	if !a.deadline.IsZero() && !time.Now().Before(a.deadline) {
		a.ring()
	}
	return a.rung.Load()
}

// lookEvery is the work between two looks at the clock.
const lookEvery = 1e5

// A grant is the work until the next report.
type grant struct {
	cost  float64
	flips int64
}

func newSearcher[S qubo.Sum](p *problem.Normal, m matrix[S], seed, number uint64) *searcher[S] {
	s := &searcher[S]{
		state: newState(p, m), random: rand.NewPCG(seed, number),
		grant: make(chan grant), report: make(chan struct{}), rules: RulesFor(search.Rules{}, p.N),
	}
	size := len(s.x)
	s.bestX, s.every, s.free, s.middle = make([]uint64, size), make([]uint64, size), make([]uint64, size), make([]uint64, size)
	s.fill(s.every)
	return s
}

// fill sets the bits of all variables.
func (s *searcher[S]) fill(x []uint64) {
	for i := range x {
		x[i] = ^uint64(0)
	}
	clear(x[problem.Words(s.p.N):])
	if s.p.N%64 != 0 {
		x[problem.Words(s.p.N)-1] = 1<<(s.p.N%64) - 1
	}
}

// note keeps x as the best solution of the walk.
func (s *searcher[S]) note() {
	s.best = s.value
	copy(s.bestX, s.x)
	if s.target != nil && s.best >= *s.target {
		s.end.ring()
	}
}

// tick counts work that was done. Where the grant is used up, tick reports and waits for the next
// grant. It is false where no grant comes, and the walk shall end.
func (s *searcher[S]) tick(cost float64, flips int64) bool {
	s.costLeft -= cost
	s.flipsLeft -= flips
	s.cost += cost
	s.flips += flips
	if s.look -= cost; s.look < 0 {
		s.look = lookEvery
		s.end.over()
	}
	if s.costLeft > 0 && s.flipsLeft > 0 && !s.end.rung.Load() {
		return true
	}
	return s.pause()
}

func (s *searcher[S]) pause() bool {
	s.report <- struct{}{}
	g, ok := <-s.grant
	s.costLeft, s.flipsLeft = g.cost, g.flips
	return ok
}

// run makes walks until the grants end.
func (s *searcher[S]) run() {
	g, ok := <-s.grant
	s.costLeft, s.flipsLeft = g.cost, g.flips
	for ok {
		if !s.follow() {
			return
		}
		s.ended = true
		ok = s.pause()
	}
}

// follow makes the walk of the course.
func (s *searcher[S]) follow() bool {
	from := s.course.from
	if from == nil {
		from = draw.Bits(rand.New(s.random), s.p.N)
	}
	_, add := s.m.cost()
	flips := s.approach(from)
	s.note()
	if !s.tick(add*float64(flips), flips) {
		return false
	}
	length := 2 * s.course.length
	switch s.course.method {
	case annealWalk:
		return s.anneal(s.uniform(hot, hottest), s.uniform(coldest, cold), annealSweeps<<length) && s.polish()
	case reheatWalk:
		return s.reheat() && s.polish()
	case eliminateWalk:
		return s.eliminate()
	case startWalk:
		if !s.start() {
			return false
		}
	}
	if s.course.toward != nil {
		if !s.relink(s.course.toward) {
			return false
		}
		s.note() // the best of the walk counts from here
	}
	return s.tabu(s.rules.Stall << length)
}

// approach flips every variable in which x differs from to, and returns how
// many; it stops on the way when time is over.
func (s *searcher[S]) approach(to []uint64) (flips int64) {
	for k := 0; k < len(to) && !s.end.over(); k++ {
		flips += s.walk(k, to[k])
	}
	return flips
}

// polish is a short tabu search where a flip is cheap beside a sweep.
func (s *searcher[S]) polish() bool {
	return s.m.sparse() != nil || s.tabu(s.p.N)
}

// Annealing begins at a temperature drawn from hot to hottest and ends at one drawn from
// coldest to cold, in multiples of the spread of the fields. Dense spins begin to order at
// 1/2, sparse ones below; at the coldest all are frozen.
const hottest, hot, cold, coldest = 0.5, 0.25, 0.07, 0.03

// The shortest walks: flips without improvement by variable, and sweeps.
const tabuStall, annealSweeps, reheatSweeps = 3, 100, 25

// uniform draws a temperature between two multiples of the spread.
func (s *searcher[S]) uniform(low, high float64) float64 {
	return s.spread * (low + (high-low)*float64(s.random.Uint64()>>11)/(1<<53))
}
