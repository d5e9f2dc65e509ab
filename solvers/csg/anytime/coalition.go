package anytime

import (
	"context"
	"time"

	"coalesce/solvers/csg/internal/cliques"
	"coalesce/solvers/qubo"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// The search for single coalitions takes at most a fifth of one core's time, and for each coalition at
// most a twentieth of the time since the start.
const (
	coalitionShare = 5
	coalitionTime  = 20
	leastTime      = 10 * time.Millisecond
	mostTime       = 2 * time.Second
)

// findCoalitions looks for the coalition of the best reduced cost against the best structure, and improves the
// structure that has this coalition as a block. It does nothing if it found no such coalition for the
// same structure before, if its share of the time is spent, or if weights are too large for package
// qubo.
func (r *graphRun) findCoalitions(ctx context.Context, s *cliques.Search, w *cliques.Worker) error {
	value, label, _ := s.Best()
	so := time.Since(r.start)
	if r.over.Load() || r.inst.N < 3 || r.inst.heavy || value == r.tried || r.spent > so/coalitionShare {
		return nil
	}
	begin := time.Now()
	defer func() { r.spent += time.Since(begin) }()
	limit := min(max(so/coalitionTime, leastTime), mostTime)
	o := qubo.Options{Settings: solve.Settings{Devices: r.o.Devices, TimeLimit: limit, Seed: r.o.Seed}, Threads: 1}
	found, err := qubo.Solve(ctx, coalitionProgram(r.inst, label), o)
	if err != nil {
		return err
	}
	if found.Value.Float() <= 0 {
		r.tried = value
		return nil
	}
	r.coalitions++
	var members []int
	block := int32(0) // a number that no block has
	for i, c := range label {
		block = max(block, c+1)
		if found.Solution.At(i) == 1 {
			members = append(members, i)
		}
	}
	if int(block) == r.inst.N { // every agent is alone
		block = label[members[0]]
	}
	for _, i := range members {
		label[i] = block
	}
	w.Improve(label, r.over.Load)
	return nil
}

// coalitionProgram is the binary quadratic program of a coalition's reduced cost: the structure's gain when
// the coalition becomes a block and its agents leave their blocks. With x(i) = 1 for the members, the
// gain is Σ w(i,j) x(i) x(j) over all edges, minus Σ w(i,j) (x(i) + x(j) - x(i) x(j)) over the edges
// inside blocks, each of which is lost if one or both of its agents are members.
func coalitionProgram(inst *Instance, label []int32) *problem.Instance {
	g := inst.graph
	terms := &problem.Terms[int64]{Linear: make([]int64, g.N), Pair: make([]int64, len(g.Weight))}
	for i := range g.N {
		for k := g.Start[i]; k < g.Start[i+1]; k++ {
			if terms.Pair[k] = g.Weight[k]; label[i] == label[g.Col[k]] {
				terms.Pair[k] *= 2
				terms.Linear[i] -= g.Weight[k]
			}
		}
	}
	return &problem.Instance{N: g.N, Form: problem.QUBO, Sense: problem.Maximize, Start: g.Start, Col: g.Col, Int: terms}
}
