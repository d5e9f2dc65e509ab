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
	contractWalk                // annealing of clusters on which elites agree
	chainWalk                   // annealing of chains of flips
	replicaWalk                 // replica exchange, which goes on where the last such walk ended
	methods
)

// String is the name by which a method is left out.
func (m method) String() string {
	return [...]string{"tabu", "anneal", "reheat", "eliminate", "multistart", "contract", "chain", Replicas}[m]
}

// A walkPlan is the first solution of a walk and the method that improves it. Walks do not
// write to elites.
type walkPlan struct {
	method  method
	from    []uint64   // first solution; nil: a random one
	toward  []uint64   // second parent; nil: none
	parents [][]uint64 // of a contraction, from among them
	length  int        // index of lengths
	arm     int        // of the portfolio
}

// A searcher is one of the searches that run side by side: a goroutine that
// makes the walks it is given, in grants of so much work.
type searcher[S qubo.Sum] struct {
	*state[S]
	searcherSetup
	walkState
	workBudget
	walkMemory[S]
	starts uint64   // of massive multi-start, made so far
	last   []uint64 // of those; nil: none
}

// searcherSetup is what a searcher gets before its first walk.
type searcherSetup struct {
	random      *rand.PCG
	logs        *logTable
	spread      float64
	end         *deadline
	target      *int64       // value at which the searcher rings end; nil: it never does
	rules       search.Rules // of the host's
	slacks      *slacks      // of the problem, for chains
	replicaRows *replicaRows // of the problem; nil where it does not suit replica exchange
}

// walkState is how the walk stands, which the methods write.
type walkState struct {
	course walkPlan
	ended  bool // the walk of course is complete
	best   int64
	bestX  []uint64 // the best of this walk
	cost   float64  // of this walk, in units of about a nanosecond
}

// workBudget counts work against grants, in countWork.
type workBudget struct {
	grant     chan grant
	report    chan struct{}
	look      float64 // work until the next look at the clock
	costLeft  float64
	flipsLeft int64
	flips     int64 // in all grants
}

// walkMemory is memory that the methods use in each walk again.
type walkMemory[S qubo.Sum] struct {
	every       []uint64 // ones for variables 0 to n-1
	free        []uint64
	middle      []uint64
	ring        []int32
	until       []int
	group       []int32
	elimination *elimination[S]
	replicas    *replicas
}

// A deadline tells when time is over.
type deadline struct {
	rung     atomic.Bool
	deadline time.Time // zero: none
}

func (a *deadline) expire() { a.rung.Store(true) }

// passed looks at the clock. Timers alone can be late by the time that goroutines
// compute without a pause.
func (a *deadline) passed() bool {
	if !a.deadline.IsZero() && !time.Now().Before(a.deadline) {
		a.expire()
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
		state:         newState(p, m),
		searcherSetup: searcherSetup{random: rand.NewPCG(seed, number), rules: RulesFor(search.Rules{}, p.N)},
		workBudget:    workBudget{grant: make(chan grant), report: make(chan struct{})},
	}
	size := len(s.x)
	s.bestX, s.every, s.free, s.middle = make([]uint64, size), make([]uint64, size), make([]uint64, size), make([]uint64, size)
	s.setBits(s.every)
	return s
}

// setBits sets the bits of all variables.
func (s *searcher[S]) setBits(x []uint64) {
	for i := range x {
		x[i] = ^uint64(0)
	}
	clear(x[problem.Words(s.p.N):])
	if s.p.N%64 != 0 {
		x[problem.Words(s.p.N)-1] = 1<<(s.p.N%64) - 1
	}
}

// keepBest keeps x as the best solution of the walk.
func (s *searcher[S]) keepBest() {
	s.best = s.value
	copy(s.bestX, s.x)
	if s.target != nil && s.best >= *s.target {
		s.end.expire()
	}
}

// countWork counts work that was done. Where the grant is used up, countWork reports and waits for the next
// grant. It is false where no grant comes, and the walk shall end.
func (s *searcher[S]) countWork(cost float64, flips int64) bool {
	s.costLeft -= cost
	s.flipsLeft -= flips
	s.cost += cost
	s.flips += flips
	if s.look -= cost; s.look < 0 {
		s.look = lookEvery
		s.end.passed()
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
		if !s.makeWalk() {
			return
		}
		s.ended = true
		ok = s.pause()
	}
}

// makeWalk makes the planned walk.
func (s *searcher[S]) makeWalk() bool {
	from := s.course.from
	if from == nil {
		from = draw.RandomSolution(rand.New(s.random), s.p.N)
	}
	_, add := s.m.flipCosts()
	flips := s.flipTowards(from)
	s.keepBest()
	if !s.countWork(add*float64(flips), flips) {
		return false
	}
	length := 2 * s.course.length
	switch s.course.method {
	case annealWalk:
		return s.anneal(s.drawTemperature(hot, hottest), s.drawTemperature(coldest, cold), annealSweeps<<length) && s.polish()
	case reheatWalk:
		return s.reheat() && s.polish()
	case eliminateWalk:
		return s.eliminate()
	case contractWalk:
		return s.contract()
	case chainWalk:
		return s.chain()
	case replicaWalk:
		return s.exchange()
	case startWalk:
		if !s.multistartFromElite() {
			return false
		}
	}
	if s.course.toward != nil {
		if !s.relink(s.course.toward) {
			return false
		}
		s.keepBest() // the best of the walk counts from here
	}
	return s.tabu(s.rules.Stall << length)
}

// flipTowards flips every variable in which x differs from to, and returns how
// many; it stops on the way when time is over.
func (s *searcher[S]) flipTowards(to []uint64) (flips int64) {
	for k := 0; k < len(to) && !s.end.passed(); k++ {
		flips += s.flipWord(k, to[k])
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

// drawTemperature draws a temperature between two multiples of the spread.
func (s *searcher[S]) drawTemperature(low, high float64) float64 {
	return s.spread * (low + (high-low)*float64(s.random.Uint64()>>11)/(1<<53))
}
