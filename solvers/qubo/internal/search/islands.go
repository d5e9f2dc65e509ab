package search

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"coalesce/runtime/collective"
	"coalesce/solvers/qubo/problem"
)

// Islands are searches of one problem at the same time, one on each device of this process and, with
// Ranks, of other processes. Each has random numbers of its own, and all search the whole problem.
// They share the limits, the target and the best solution, and exchange elites: those of one process
// at once, those of several ten times a second. No search waits for another. The first that meets
// the target ends all.
//
// With a limit on work every island has an equal share of it, and no search runs beside it. Several
// islands have epochs: after each, those that have found less begin again from the best solution, of
// equal ones that of the first island. A run depends on the seed and the number of islands alone:
// several devices of one process give the answer of as many ranks.
type Islands struct {
	Members []Searcher       // one a device
	Beside  Searcher         // a search on the host's cores, beside the first member; nil: none
	Ranks   collective.Ranks // processes with as many members each, of which this is one; nil: this alone
}

const (
	meetEvery = 100 * time.Millisecond
	// Epochs is the number of epochs of several islands with a limit on work.
	Epochs = 4
)

// A standing is the message of a rank to the others: these words, its best solution and its last elite.
const (
	wordEnded = iota
	wordFlips
	wordRestarts
	wordFound // 1: there is a best; its value is the next word
	wordValue
	wordElite // 1: there is an elite
	wordsHead
)

// StandingWords is the length of the message that ranks exchange, for a problem of n variables.
func StandingWords(n int) int { return wordsHead + 2*problem.Words(n) }

// ranks is the number of processes, and the number of this one.
func (l Islands) ranks() (count, own int) {
	if l.Ranks == nil {
		return 1, 0
	}
	return l.Ranks.Size(), l.Ranks.Rank()
}

// Search implements Searcher. All ranks return the same work, and all call found with the same best value.
func (l Islands) Search(ctx context.Context, p *problem.Normal, o Options, found func(int64, []uint64, time.Duration)) (Work, error) {
	count, own := l.ranks()
	searches := l.Members
	if l.Beside != nil && o.Work == 0 {
		searches = append(slices.Clip(searches), l.Beside)
	}
	if count*len(searches) == 1 {
		return searches[0].Search(ctx, p, o, found)
	}
	a := &archipelago{Islands: l, p: p, o: o, found: found, standing: make([]uint64, StandingWords(p.N))}
	swaps := &exchange{}
	for k, s := range searches {
		m := &member{archipelago: a, searcher: s, stream: own + k*count}
		if k == len(l.Members) {
			m.stream = own // beside the first
		}
		m.giveLocal, m.takeLocal = swaps.memberFunctions(k)
		a.members = append(a.members, m)
	}
	if o.Work > 0 {
		return a.epochs(ctx)
	}
	return a.together(ctx)
}

// An archipelago is this rank's view of all islands while they search.
type archipelago struct {
	Islands
	p       *problem.Normal
	found   func(int64, []uint64, time.Duration)
	o       Options
	members []*member
	stop    func() // ends the members' searches

	mu       sync.Mutex
	standing []uint64 // of this rank
	best     int64    // value of bestX
	bestX    []uint64 // the best solution of all ranks; nil: none yet
	others   Work     // of other ranks, at the last meeting
}

// A member is a search of this rank.
type member struct {
	*archipelago
	searcher  Searcher
	stream    int // of random numbers
	giveLocal func(x []uint64)
	takeLocal func() []uint64

	before, did Work       // in the epochs before, and in this one
	came        [][]uint64 // solutions of other ranks that it has not taken yet
	top         int64      // with a limit on work: value of topX
	topX        []uint64   // its best solution, from which its next epoch begins; nil: none
}

// together searches until a limit is met. Ranks meet on the way.
func (a *archipelago) together(ctx context.Context) (Work, error) {
	ctx, a.stop = context.WithCancel(ctx)
	defer a.stop()
	done := make(chan error, len(a.members))
	for _, m := range a.members {
		o := m.options(0)
		o.Give, o.Take = m.give, m.take
		go func() { done <- m.search(ctx, o, a.report) }()
	}
	var tick <-chan time.Time
	if count, _ := a.ranks(); count > 1 {
		t := time.NewTicker(meetEvery)
		defer t.Stop()
		tick = t.C
	}
	var failed error
	for left := len(a.members); ; {
		due, over := false, false
		select {
		case err := <-done:
			left--
			failed = errors.Join(failed, err)
		case <-tick:
			due = true
		}
		if failed == nil && (due || left == 0) {
			over, failed = a.meet(left == 0)
		}
		if failed != nil {
			a.stop()
			for ; left > 0; left-- {
				failed = errors.Join(failed, <-done)
			}
		}
		if over || failed != nil {
			return a.work(), failed
		}
	}
}

// epochs searches with a limit on work.
func (a *archipelago) epochs(ctx context.Context) (Work, error) {
	ctx, a.stop = context.WithCancel(ctx)
	defer a.stop()
	count, _ := a.ranks()
	share := a.o.Work / int64(count) / int64(len(a.members))
	for _, m := range a.members {
		m.topX = a.o.Start
	}
	for e := range int64(Epochs) {
		work := share*(e+1)/Epochs - share*e/Epochs
		if work == 0 {
			continue
		}
		err := collective.OnAll(len(a.members), func(k int) error {
			m := a.members[k]
			o := m.options(int(e))
			o.Work, o.Start, m.top = work, m.topX, math.MinInt64
			err := m.search(ctx, o, func(value int64, x []uint64, at time.Duration) {
				if m.top, m.topX = value, slices.Clone(x[:problem.Words(a.p.N)]); k == 0 {
					a.report(value, x, at)
				}
			})
			if err != nil {
				a.stop()
			}
			return err
		})
		if err != nil {
			return a.work(), err
		}
		for k, m := range a.members {
			if m.before, m.did = m.before.plus(m.did), (Work{}); k > 0 && m.topX != nil {
				a.report(m.top, m.topX, time.Since(a.o.Began))
			}
		}
		if _, err := a.meet(ctx.Err() != nil); err != nil {
			return a.work(), err
		}
		if a.standing[wordEnded] != 0 || a.bestX != nil && a.o.TargetMet(a.best) {
			break
		}
		for _, m := range a.members {
			if a.bestX != nil && m.top < a.best {
				m.topX = a.bestX
			}
		}
	}
	return a.work(), nil
}

// options are those of a member's search in an epoch.
func (m *member) options(epoch int) Options {
	o := m.o
	o.Seed ^= uint64(m.stream*Epochs+epoch) * 0x9e3779b97f4a7c15 // the first island's in epoch 0 are those of a search alone
	o.Progress = m.progress
	if o.Elite != nil {
		o.Elite = func(v int64, x []uint64) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.o.Elite(v, x)
		}
	}
	return o
}

func (m *member) search(ctx context.Context, o Options, found func(int64, []uint64, time.Duration)) error {
	did, err := m.searcher.Search(ctx, m.p, o, found)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.did = did
	return err
}

// report is called with the better solutions of this rank's searches.
func (a *archipelago) report(value int64, x []uint64, at time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.standing; s[wordFound] == 0 || value > int64(s[wordValue]) {
		s[wordFound], s[wordValue] = 1, uint64(value)
		copy(s[wordsHead:], x[:problem.Words(a.p.N)])
	}
	a.better(value, x, at)
}

// better passes on a solution, of any rank, that is better than all before.
func (a *archipelago) better(value int64, x []uint64, at time.Duration) {
	if a.bestX != nil && value <= a.best {
		return
	}
	a.best, a.bestX = value, slices.Clone(x[:problem.Words(a.p.N)])
	if a.found(value, a.bestX, at); a.o.Work == 0 && a.o.TargetMet(value) {
		a.stop()
	}
}

// progress is called with the work that a member has done.
func (m *member) progress(did Work) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.did = did
	if m.o.Progress != nil {
		m.o.Progress(m.work())
	}
}

// own is the work of this rank.
func (a *archipelago) own() (sum Work) {
	for _, m := range a.members {
		sum = sum.plus(m.before).plus(m.did)
	}
	return sum
}

// work is the work of all ranks, that of others as they last said.
func (a *archipelago) work() Work { return a.others.plus(a.own()) }

func (w Work) plus(v Work) Work {
	return Work{Flips: w.Flips + v.Flips, Restarts: w.Restarts + v.Restarts}
}

// give offers a solution to the other members, to other ranks and to the partner of all (Options.Give).
func (m *member) give(x []uint64) {
	m.giveLocal(x)
	m.mu.Lock()
	m.standing[wordElite] = 1
	copy(m.standing[wordsHead+problem.Words(m.p.N):], x)
	m.mu.Unlock()
	if m.o.Give != nil {
		m.o.Give(x)
	}
}

// take returns a solution of another member, of another rank or of the partner; nil: there is none.
func (m *member) take() (x []uint64) {
	if x = m.takeLocal(); x != nil {
		return x
	}
	m.mu.Lock()
	if len(m.came) > 0 {
		x, m.came = m.came[0], m.came[1:]
	}
	m.mu.Unlock()
	if x == nil && m.o.Take != nil {
		x = m.o.Take()
	}
	return x
}

// meet exchanges standings with all ranks, and reports whether all have ended; the standing's
// wordEnded is then whether any has.
func (a *archipelago) meet(ended bool) (over bool, err error) {
	a.mu.Lock()
	own, s := a.own(), a.standing
	s[wordFlips], s[wordRestarts] = uint64(own.Flips), uint64(own.Restarts)
	if s[wordEnded] = 0; ended {
		s[wordEnded] = 1
	}
	mine := slices.Clone(s)
	s[wordElite] = 0
	a.mu.Unlock()
	all, number := [][]uint64{mine}, 0
	if a.Ranks != nil {
		number = a.Ranks.Rank()
		if all, err = collective.GatherLists(a.Ranks, mine); err != nil {
			return false, err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	n := problem.Words(a.p.N)
	var came [][]uint64
	a.others, over = Work{}, true
	for k, s := range all {
		over = over && s[wordEnded] == 1
		a.standing[wordEnded] = max(a.standing[wordEnded], s[wordEnded])
		if s[wordFound] == 1 {
			a.better(int64(s[wordValue]), s[wordsHead:wordsHead+n], time.Since(a.o.Began))
		}
		if k == number {
			continue
		}
		a.others = a.others.plus(Work{Flips: int64(s[wordFlips]), Restarts: int64(s[wordRestarts])})
		if s[wordElite] == 1 {
			came = append(came, s[wordsHead+n:wordsHead+2*n])
		}
		if s[wordFound] == 1 {
			came = append(came, s[wordsHead:wordsHead+n])
		}
	}
	for _, m := range a.members {
		m.came = came
	}
	if a.o.Progress != nil {
		a.o.Progress(a.work())
	}
	return over, nil
}
