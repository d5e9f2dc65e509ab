package anytime

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"

	"coalesce/solvers/csg/internal/draw"
	"coalesce/solvers/csg/internal/lns"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// MostDrawn is the most agents of NewDrawn.
const MostDrawn = draw.MostFunction

// NewDrawn is an instance of a distribution of the literature, one of csg.Distributions. Its float64 values
// are computed when they are asked for; for numbers of agents that csg.Generate takes, they are the same
// as there.
func NewDrawn(name string, n int, seed uint64) (*Instance, error) {
	law, err := draw.NewFunction(name, n, seed)
	if err != nil {
		return nil, solve.AsInputError(err)
	}
	return &Instance{N: n, Type: problem.Float64, Source: law.String(), law: law}, nil
}

// blockMasks are the coalitions of blocks, of up to 63 agents.
func blockMasks(label []int32, count int) []uint64 {
	out := make([]uint64, count)
	for i, c := range label {
		out[c] |= 1 << i
	}
	return out
}

// A drawnRun is one solve of a distribution.
type drawnRun struct {
	*progress
	inst   *Instance
	total  float64 // approximate value of blocks
	blocks []uint64
	parts  int64
}

// search has every core improve structures of its own.
func (r *drawnRun) search(_ context.Context, cores int) error {
	r.bound = drawnBound(r.inst.law.Prices())
	var wait sync.WaitGroup
	for k := range cores {
		wait.Go(func() {
			s := lns.New(r.inst.N, r.inst.law.Value, rand.New(rand.NewPCG(r.o.Seed, uint64(k))))
			r.offer(s.Best())
			if r.begin != nil {
				s.Begin(blockMasks(r.begin, int(slices.Max(r.begin))+1))
			}
			for r.offer(s.Best()); !r.over.Load(); {
				if s.Step() {
					r.offer(s.Best())
				}
				r.mu.Lock()
				r.parts++
				r.mu.Unlock()
			}
		})
	}
	wait.Wait()
	return nil
}

// offer keeps a structure if it is worth more than the best so far. The first one offered is that of
// single agents, which no distribution forbids.
func (r *drawnRun) offer(blocks []uint64, total float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.history != nil && total <= r.total || math.IsInf(total, -1) {
		return
	}
	r.blocks, r.total = slices.Clone(blocks), total
	sum := new(big.Rat)
	for _, b := range blocks {
		sum.Add(sum, new(big.Rat).SetFloat64(r.inst.law.Value(b)))
	}
	r.addImprovement(decimalNumber(sum))
}

// drawnBound is the sum of the prices, empty if there are no prices.
func drawnBound(prices []float64) solve.Number {
	if prices == nil {
		return ""
	}
	sum := new(big.Rat)
	for _, y := range prices {
		sum.Add(sum, new(big.Rat).SetFloat64(y))
	}
	return roundedUp(sum)
}

// certify implements searcher.
func (r *drawnRun) certify(x *Result) error {
	x.Variant, x.Reason = "exact parts on all cores", "values are drawn when they are asked for"
	x.Work = Work{Parts: r.parts}
	problem.Structure(r.blocks).Sort()
	x.Blocks = [][]int{}
	for _, b := range r.blocks {
		x.Blocks = append(x.Blocks, problem.Agents(b))
	}
	if err := x.certifyDrawn(r.inst); err != nil {
		return err
	}
	if claimed := r.history[len(r.history)-1].Value; claimed != x.Value {
		return fmt.Errorf("%w: the search says %s, the blocks add up to %s", problem.ErrCheck, claimed, x.Value)
	}
	return nil
}

// certifyDrawn recomputes the value of Blocks, and the bound of the distribution's range. Errors wrap
// problem.ErrCheck.
func (x *Result) certifyDrawn(inst *Instance) error {
	if _, err := x.checkBlocks(inst); err != nil {
		return err
	}
	x.Certificate.Unit, x.Certificate.Prices = "1", inst.law.Prices()
	if bound := drawnBound(x.Certificate.Prices); bound == x.Value {
		x.SetProvenBound(bound)
	} else if bound != "" {
		x.SetBound(bound)
	}
	return nil
}

// verifyDrawn checks a result of a distribution against the distribution.
func verifyDrawn(v *solve.Verdict, inst *Instance, r *Result, x *Result) {
	if err := r.certifyDrawn(inst); err != nil {
		v.Refute("%w", err)
		return
	}
	v.Note("feasible: the blocks are a partition of the agents")
	v.CheckValue(r.Value, true)
	v.CheckBound(r.Bound)
	if !reflect.DeepEqual(x.Certificate, r.Certificate) || x.Proven != r.Proven {
		v.Refute("the certificate differs from that of the distribution, by which the blocks add up to %s", r.Certificate.Sum)
	}
	if r.Bound == "" {
		v.NoteUnchecked()
		return
	}
	v.BoundChecked = true
	v.Note("bound: prices of the agents, which no value in the range of the distribution exceeds")
}
