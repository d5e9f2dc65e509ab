package qubo

import (
	"context"
	"fmt"
	"math/big"
	"runtime"

	"coalesce/solvers/qubo/internal/frustration"
	"coalesce/solvers/qubo/internal/oddcycle"
)

// pausing is a context whose Err is a function that gives way to other goroutines.
type pausing struct {
	context.Context
	pause func() error
}

func (c pausing) Err() error { return c.pause() }

// proveByCycles improves the bound of a sparse instance by odd cycles, and by cases, until it meets the best solution or ctx ends. Where yields is
// set it gives way to each goroutine that waits for a core. A large instance has a packing of cycles, until pause returns an error.
func (r *run) proveByCycles(ctx context.Context, yields bool, pause func() error) {
	if ctx.Err() != nil || !oddcycle.MayFit(r.inst.N, r.inst.Pairs()) {
		return
	}
	m := frustration.New(r.inst, r.inst.Fixed)
	if m == nil {
		return
	}
	if !oddcycle.IsProvable(m, r.mostBoundMemory()) {
		oddcycle.Pack(pausing{ctx, pause}, m, func(proof *frustration.Proof) { r.takeCycles(m, proof) })
		return
	}
	if outer := ctx; yields {
		ctx = pausing{outer, func() error {
			runtime.Gosched()
			return outer.Err()
		}}
	}
	known, loss := int64(0), (*big.Int)(nil)
	proven := oddcycle.Prove(ctx, m, oddcycle.Options{
		Best: func() *big.Int {
			r.mu.Lock()
			defer r.mu.Unlock()
			if total := r.bests.total(); loss == nil || total != known {
				known, loss = total, m.Loss(r.bests.solution(-1, nil))
			}
			return loss
		},
		Found: func(up []bool) {
			x := m.Spins(up)
			for k, part := range r.bests.red.Parts {
				y := r.bests.red.Project(k, x)
				r.improve(k, part.Problem.Value(y), y, r.elapsed())
			}
		},
		Bound: func(proof *frustration.Proof) { r.takeCycles(m, proof) },
	})
	if proven && r.inst.Int == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		if s := r.frustrated; !r.ended && s != nil && r.isClosed(r.bests.solution(-1, nil), s.value) {
			s.objective = r.bests.total()
			r.endIfMet()
		}
	}
}

// takeCycles takes the bound of a proof, where it is better.
func (r *run) takeCycles(m *frustration.Model, proof *frustration.Proof) {
	reason := "they are odd cycles"
	if n := len(proof.Cases); n > 1 {
		reason = fmt.Sprintf("they are odd cycles in %d cases", n)
	}
	b, err := r.frustrationBound(m, proof, reason)
	if err != nil {
		r.o.Logf("no bound by odd cycles: %v", err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.frustrated != nil && !r.inst.Better(r.frustrated.value, b.value) {
		return
	}
	r.frustrated = b
	r.progress(r.elapsed(), r.told.history[len(r.told.history)-1].Value)
	r.endIfMet()
}
