package anytime

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"slices"

	"coalesce/solvers/solve"
)

// Verify checks a result, the JSON object that MarshalJSON writes, against an instance: that the blocks
// are a partition of its agents, that their values add up to the stated value, and that the proof gives
// the stated bound. For that it looks for conflicts again, proves prices again by Cholesky's method, adds up cuts, and searches the coalitions of all levels again.
// Errors are those of an object that cannot be read.
func Verify(inst *Instance, result []byte) (*solve.Verdict, error) {
	var x Result
	if err := json.Unmarshal(result, &x); err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	v, err := solve.NewVerdict("csg", &x.Report)
	if err != nil {
		return nil, err
	}
	if err := inst.check(); err != nil {
		return nil, err
	}
	if !v.SameSize(inst.sizeFields()) {
		return v, nil
	}
	solve.CheckEqual(v, "type", x.Type, inst.Type, "")
	if !slices.Equal(x.Names, inst.Names) {
		v.Refute("the result's agents are %.80q, the instance's %.80q", x.Names, inst.Names)
	}
	r := newResult(inst)
	r.Blocks = x.Blocks
	if inst.law != nil {
		verifyDrawn(v, inst, r, &x)
		return v, nil
	}
	p := proof{prices: x.Certificate.Prices}
	if p.prices != nil && !inst.graph.ProvesBound(p.prices) {
		v.Refute("the prices do not prove that no coalition's edges weigh more than its agents' prices")
		return v, nil
	}
	if !p.setCuts(inst.graph, x.Certificate.Cuts, x.Certificate.Shift) {
		v.Refute("the cuts are not those of the graph")
		return v, nil
	}
	if !p.setConic(inst.graph, x.Certificate.Conic) {
		v.Refute("the conic prices do not prove that no structure is worth more than they add up to")
		return v, nil
	}
	if p.levels = x.Certificate.Levels; p.levels != nil {
		label, err := labelsOf(x.Blocks, inst.N)
		if err != nil {
			v.Refute("%w", err)
			return v, nil
		}
		p.best = inst.graph.Value(label)
		if !p.levels.Proves(inst.graph, p.best, runtime.NumCPU()) {
			v.Refute("the levels do not prove the bound: coalitions exceed their prices, or a better structure exists")
			return v, nil
		}
	}
	if x.Certificate.Conflicts != "0" {
		p.losses = inst.graph.ConflictBound(boundWork, func() bool { return false })
	}
	if err := r.certify(inst, p); err != nil {
		v.Refute("%w", err)
		return v, nil
	}
	v.Note("feasible: the blocks are a partition of the agents")
	v.CheckValue(r.Value, true)
	v.CheckBound(r.Bound)
	if !reflect.DeepEqual(x.Certificate, r.Certificate) {
		v.Refute("the certificate differs from that of the instance, whose blocks add up to %s", r.Certificate.Sum)
	}
	if x.Proven != r.Proven {
		v.Refute("the result says %t of whether it is proven, its bound says %t", x.Proven, r.Proven)
	}
	if x.Payoff != nil {
		label, _ := labelsOf(x.Blocks, inst.N)
		shown, err := inst.checkPayoffs(x.Payoff, label)
		if err != nil {
			v.Refute("payoffs: %w", err)
			return v, nil
		}
		v.Note("payoffs: %s", shown)
	}
	v.BoundChecked = true
	c := &r.Certificate
	if p.levels != nil {
		v.Note("bound: %s of the agents themselves and prices of %d levels, which no coalition exceeds by searches made again", c.Own, len(p.levels.Prices))
	} else if p.conic != nil {
		v.Note("bound: %s of the agents themselves and prices of agents, pairs and %d cuts, that leave a matrix without negative eigenvalues", c.Own, len(p.conic.Cuts))
	} else if p.most != nil {
		v.Note("bound: %s of the agents themselves and what %d cuts allow the edges, times their prices", c.Own, len(p.cuts))
	} else if p.prices != nil {
		v.Note("bound: %s of the agents themselves and their prices, which no coalition's edges exceed", c.Own)
	} else {
		v.Note("bound: %s of the agents themselves and %s of positive edges, less %s that conflicts lose", c.Own, c.Positive, c.Conflicts)
	}
	return v, nil
}

// IsResult reports whether a result of coalition structures, a JSON object, is one of this
// package's algorithm.
func IsResult(result []byte) bool {
	var x struct {
		Algorithm string `json:"algorithm"`
	}
	return json.Unmarshal(result, &x) == nil && x.Algorithm == Algorithm
}
