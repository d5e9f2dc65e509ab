package stableset

import (
	"cmp"
	"context"
	"runtime"
	"sync"
	"time"

	"coalesce/solvers/qubo/internal/elite"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// Search looks for large stable sets on the cores of this machine: on each, walks of two kinds in turn. The walks work in rounds of
// equal work, so that with Options.Work a run depends on the seed and the number of cores alone.
type Search struct{ Cores int } // 0: all

// Steps of a walk in a round grow from firstSteps to lastSteps, on a graph of one word; those of larger ones are as much slower.
const firstSteps, lastSteps = 1 << 13, 1 << 18

// fewerSteps is how many times fewer steps the walk on a core makes whose largest set is smaller than the other's.
const fewerSteps = 16

// Search implements search.Searcher, for problems that Is takes.
func (h Search) Search(ctx context.Context, p *problem.Normal, o search.Options, found func(int64, []uint64, time.Duration)) (search.Work, error) {
	r := o.NewRounds(ctx, found)
	defer r.End()
	x := make([]uint64, problem.Words(p.N))
	if o.Start != nil {
		copy(x, o.Start)
	}
	r.Improve(p.Value(x), x)
	if r.Done() {
		return r.Did, nil
	}
	g := newGraph(p)
	var walks [][]*walk // of a core
	for k := range cmp.Or(o.Workers, h.Cores, runtime.GOMAXPROCS(0)) {
		stream := 2*uint64(k) + 1
		walks = append(walks, []*walk{newWalk(g, o.Seed, stream, newSwaps(p.N)), newWalk(g, o.Seed, stream+1, newPenalties(p.N))})
	}
	if o.Start != nil {
		walks[0][0].begin(o.Start)
	}
	pool, quota := elite.NewPool(p, elite.DefaultSize, 1+p.N/500), float64(firstSteps)
	offer := func(value int64, x []uint64) {
		taken, _ := pool.Add(value, x)
		if taken && o.Elite != nil {
			o.Elite(value, x)
		}
		if taken && o.Give != nil {
			o.Give(x)
		}
	}
	return r.Run(search.Method{Round: func() error {
		steps := max(64, int(quota)/g.words)
		quota = min(lastSteps, quota*1.2)
		if o.Work > 0 {
			steps = min(steps, int((o.Work-r.Spent)/int64(2*len(walks)))+1)
		}
		target := p.N + 1
		if o.Work == 0 && o.Target != nil {
			target = int((*o.Target - g.base + g.gain - 1) / g.gain)
		}
		var team sync.WaitGroup
		for _, own := range walks {
			team.Go(func() {
				lead := max(own[0].top, own[1].top)
				for _, w := range own {
					if w.top < lead {
						w.run(max(1, steps/fewerSteps), target, r.Deadline)
						continue
					}
					w.run(steps, target, r.Deadline)
				}
			})
		}
		team.Wait()
		r.Spent = 0
		for _, own := range walks {
			for _, w := range own {
				r.Spent += w.moved
				g.solution(x, w.topSet)
				r.Improve(g.value(w.top), x)
				if o.Elite == nil && o.Give == nil {
					continue
				}
				offer(g.value(w.top), x)
				g.solution(x, w.set)
				offer(g.value(w.size), x)
			}
		}
		r.Did.Flips = r.Spent
		return nil
	}})
}

// begin begins with what is stable of a solution.
func (w *walk) begin(start []uint64) {
	set := make([]uint64, w.words)
	w.solution(set, start)
	for v := range w.n {
		if contains(set, v) && w.member(v) == none {
			w.exchange(none, v)
		}
	}
}

// lookEvery is the number of steps between two looks at the clock, on a graph of one word.
const lookEvery = 1 << 14

// run makes so many steps, or fewer where time is over or a set of the target's size is found.
func (w *walk) run(steps, target int, deadline time.Time) {
	every := max(16, lookEvery/w.words)
	for k := range steps {
		if w.top >= target || k%every == every-1 && !deadline.IsZero() && !time.Now().Before(deadline) {
			return
		}
		w.step(w)
	}
}
