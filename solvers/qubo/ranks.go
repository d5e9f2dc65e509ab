package qubo

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"sync"
	"time"

	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// Several ranks are islands: each searches the whole problem with random numbers of its
// own. Ten times a second a goroutine of each rank exchanges with those of the others
// the rank's best solution and its last elite. Searches never wait for the exchange; they
// take the solutions of other ranks between two rounds. All ranks end with the best of
// all. With a limit on work searches have epochs: after each, all ranks exchange, and
// begin the next epoch from the best, so that a run depends on the seed and the number of
// ranks alone.

const (
	meetEvery = 100 * time.Millisecond
	epochs    = 4 // of a search with a limit on work
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

// alike returns rank 0's word on all ranks. Decisions by the clock, which differs among ranks, go
// through it.
func (r *run) alike(word uint64) (uint64, error) {
	if r.o.Together() == 1 {
		return word, nil
	}
	all, err := collective.Lists(r.o.Ranks, []uint64{word})
	if err != nil {
		return 0, err
	}
	return all[0][0], nil
}

// An archipelago is this rank's view of all.
type archipelago struct {
	ranks collective.Ranks
	p     *problem.Normal
	found func(int64, []uint64, time.Duration)
	o     search.Options

	mu    sync.Mutex
	own   []uint64   // this rank's standing
	best  int64      // value of bestX
	bestX []uint64   // the best solution of all ranks; nil: none yet
	came  [][]uint64 // solutions of other ranks that the search has not taken yet
	work  search.Work
}

// islands has all ranks search p together, each with a searcher of its own. All ranks return the
// same work, and all call found with the same best value.
func islands(ctx context.Context, ranks collective.Ranks, s search.Searcher, p *problem.Normal, o search.Options, found func(int64, []uint64, time.Duration)) (search.Work, error) {
	a := &archipelago{ranks: ranks, p: p, found: found, o: o, own: make([]uint64, wordsHead+2*problem.Words(p.N))}
	if o.Work > 0 {
		return a.epochs(ctx, s)
	}
	o.Seed = seedOf(o.Seed, ranks.Rank(), 0)
	o.Give, o.Take = a.give, a.take
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	o.Progress = a.progress
	go func() {
		did, err := s.Search(ctx, p, o, a.tell)
		a.progress(did)
		done <- err
	}()
	tick := time.NewTicker(meetEvery)
	defer tick.Stop()
	for ended := false; ; {
		select {
		case err := <-done:
			if err != nil {
				return a.work, err
			}
			ended, done = true, nil
		case <-tick.C:
		}
		all, err := a.meet(ended)
		if err != nil {
			stop()
			if !ended {
				err = errors.Join(err, <-done)
			}
			return a.work, err
		}
		if a.bestX != nil && o.Met(a.best) {
			stop() // the target is met: this rank's search ends too
		}
		if all {
			return a.work, nil
		}
	}
}

// epochs searches with a limit on work.
func (a *archipelago) epochs(ctx context.Context, s search.Searcher) (search.Work, error) {
	o := a.o
	o.Progress = nil
	share := a.o.Work / int64(a.ranks.Size())
	for e := range int64(epochs) {
		o.Seed = seedOf(a.o.Seed, a.ranks.Rank(), int(e))
		o.Work = share*(e+1)/epochs - share*e/epochs
		if o.Work == 0 {
			continue
		}
		did, err := s.Search(ctx, a.p, o, a.tell)
		if err != nil {
			return a.work, err
		}
		a.own[wordFlips] += uint64(did.Flips)
		a.own[wordRestarts] += uint64(did.Restarts)
		stopped := ctx.Err() != nil
		if _, err := a.meet(stopped); err != nil {
			return a.work, err
		}
		if a.own[wordEnded] != 0 || a.bestX != nil && a.o.Met(a.best) {
			break
		}
		o.Start = a.bestX
	}
	return a.work, nil
}

// seedOf gives every rank and epoch random numbers of its own. Those of rank 0 in epoch 0 are the
// ones of a single process.
func seedOf(seed uint64, rank, epoch int) uint64 {
	return seed ^ uint64(rank*epochs+epoch)*0x9e3779b97f4a7c15
}

// tell is called with the better solutions of this rank's search.
func (a *archipelago) tell(value int64, x []uint64, at time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.own[wordFound] == 0 || value > int64(a.own[wordValue]) {
		a.own[wordFound], a.own[wordValue] = 1, uint64(value)
		copy(a.own[wordsHead:], x[:problem.Words(a.p.N)])
	}
	a.better(value, x, at)
}

// better passes on a solution, of any rank, that is better than all before.
func (a *archipelago) better(value int64, x []uint64, at time.Duration) {
	if a.bestX != nil && value <= a.best {
		return
	}
	a.best, a.bestX = value, slices.Clone(x[:problem.Words(a.p.N)])
	a.found(value, a.bestX, at)
}

// progress is called with the work that this rank has done.
func (a *archipelago) progress(did search.Work) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.own[wordFlips], a.own[wordRestarts] = uint64(did.Flips), uint64(did.Restarts)
}

func (a *archipelago) give(x []uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.own[wordElite] = 1
	copy(a.own[wordsHead+problem.Words(a.p.N):], x)
}

func (a *archipelago) take() []uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.came) == 0 {
		return nil
	}
	x := a.came[0]
	a.came = a.came[1:]
	return x
}

// meet exchanges standings with all ranks, and reports whether all have ended; own[wordEnded]
// is then whether any has.
func (a *archipelago) meet(ended bool) (all bool, err error) {
	a.mu.Lock()
	if a.own[wordEnded] = 0; ended {
		a.own[wordEnded] = 1
	}
	mine := slices.Clone(a.own)
	a.own[wordElite] = 0
	a.mu.Unlock()
	told, err := collective.Lists(a.ranks, mine)
	if err != nil {
		return false, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	n := problem.Words(a.p.N)
	var came [][]uint64
	a.work, all = search.Work{}, true
	for k, s := range told {
		a.work.Flips += int64(s[wordFlips])
		a.work.Restarts += int64(s[wordRestarts])
		all = all && s[wordEnded] == 1
		a.own[wordEnded] = max(a.own[wordEnded], s[wordEnded])
		if s[wordFound] == 1 {
			a.better(int64(s[wordValue]), s[wordsHead:wordsHead+n], time.Since(a.o.Began))
		}
		if k == a.ranks.Rank() {
			continue
		}
		if s[wordElite] == 1 {
			came = append(came, s[wordsHead+n:wordsHead+2*n])
		}
		if s[wordFound] == 1 {
			came = append(came, s[wordsHead:wordsHead+n])
		}
	}
	a.came = came
	if a.o.Progress != nil {
		a.o.Progress(a.work)
	}
	return all, nil
}

// Digest is a checksum of an instance's form and numbers, by which ranks notice that their
// instances differ.
func Digest(inst *Instance) []byte {
	h := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	fmt.Fprintln(h, inst.N, inst.Form, inst.Sense, inst.Fixed, inst.Hint)
	for _, list := range [][]byte{device.Bytes(inst.Start), device.Bytes(inst.Col)} {
		h.Write(list)
	}
	if t := inst.Int; t != nil {
		fmt.Fprintln(h, t.Offset)
		h.Write(device.Bytes(t.Linear))
		h.Write(device.Bytes(t.Pair))
	}
	if t := inst.Real; t != nil {
		fmt.Fprintln(h, t.Offset)
		h.Write(device.Bytes(t.Linear))
		h.Write(device.Bytes(t.Pair))
	}
	return h.Sum(nil)
}
