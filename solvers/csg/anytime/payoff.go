package anytime

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"runtime"
	"slices"

	"coalesce/solvers/csg/internal/cliques"
	"coalesce/solvers/csg/internal/payoff"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// checkPayoff returns an error if a search does not divide values by a concept.
func (inst *Instance) checkPayoff(concept string) error {
	switch {
	case concept == "":
		return nil
	case concept != payoff.Shapley && concept != payoff.Banzhaf && concept != payoff.Core:
		return solve.InvalidInput("Payoff", "found %.40q of a search, expected %s, %s or %s; tables of all coalitions have the others", concept, payoff.Shapley, payoff.Banzhaf, payoff.Core)
	case inst.law != nil:
		return solve.InvalidInput("Payoff", "found %s of a distribution, expected a graph", concept)
	case concept == payoff.Core && (inst.N > coreAgents || !inst.exact):
		return solve.InvalidInput("Payoff", "found the core of a graph of %d agents, expected at most %d, and weights of fewer digits if sums of them are rounded", inst.N, coreAgents)
	}
	return nil
}

// coreAgents is the most agents of a graph's core: levels of prices bound searches of all coalitions.
const coreAgents = 64

// core is a payoff in the core of a structure, or a balanced collection worth more. Of a payoff, a search of all coalitions shows that none is worth more than its agents receive.
func (inst *Instance) core(ctx context.Context, label []int32, cores int) (*payoff.Payoff, error) {
	p, err := inst.payments(ctx, label, cores)
	if err != nil {
		return nil, err
	}
	var known []payoff.Coalition
	for i := range inst.N {
		known = append(known, inst.coalition([]int32{int32(i)}))
	}
	var met []payoff.Coalition
	for _, c := range p.Columns() {
		met = append(met, inst.coalition(c))
	}
	return payoff.CoreOf(ctx, inst.N, new(big.Rat), known, inst.worth(label), func(x []*big.Rat) ([]payoff.Coalition, error) {
		if worst := worstOf(met, x); len(worst) > 0 {
			return worst, nil
		}
		return inst.violated(ctx, p, x)
	})
}

// worstOf lists coalitions that are worth more than their agents receive, the largest difference first.
func worstOf(met []payoff.Coalition, x []*big.Rat) (worst []payoff.Coalition) {
	type lack struct {
		payoff.Coalition
		by float64
	}
	pay := make([]float64, len(x))
	for i, v := range x {
		pay[i], _ = v.Float64()
	}
	var lacks []lack
	for _, c := range met {
		by, _ := c.Value.Float64()
		size := math.Abs(by)
		for _, agent := range c.Agents {
			by -= pay[agent-1]
			size += math.Abs(pay[agent-1])
		}
		if by > 1e-9*size { // lesser lacks are left to an exact search
			lacks = append(lacks, lack{c, by})
		}
	}
	slices.SortFunc(lacks, func(a, b lack) int { return cmp.Compare(b.by, a.by) })
	for _, l := range lacks[:min(len(lacks), mostWorst)] {
		worst = append(worst, l.Coalition)
	}
	return worst
}

// mostWorst is the most coalitions that worstOf returns.
const mostWorst = 40

// payments find exact levels of prices.
func (inst *Instance) payments(ctx context.Context, label []int32, cores int) (*cliques.Payments, error) {
	p := cliques.NewPayments(inst.graph, label, cores, func() bool { return ctx.Err() != nil })
	if p == nil {
		return nil, context.Cause(ctx)
	}
	return p, nil
}

// violated lists coalitions that are worth more than their agents receive.
func (inst *Instance) violated(ctx context.Context, p *cliques.Payments, x []*big.Rat) (out []payoff.Coalition, err error) {
	pay, unit := make([]*big.Rat, inst.N), inst.unit.toRat(1)
	for i := range pay { // by edges alone, in units
		pay[i] = new(big.Rat).Quo(x[i], unit)
		pay[i].Sub(pay[i], new(big.Rat).SetInt64(inst.own[i]))
	}
	found, ok := p.Exceeding(pay, func() bool { return ctx.Err() != nil })
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case !ok:
		return nil, solve.InvalidInput("Payoff", "found payoffs of the core whose denominators need more than 60 bits, expected weights of fewer digits")
	}
	for _, c := range found {
		out = append(out, inst.coalition(c))
	}
	return out, nil
}

// coalition is agents from 0, and what they are worth.
func (inst *Instance) coalition(nodes []int32) payoff.Coalition {
	label := make([]int32, inst.N) // 1: a member
	c := payoff.Coalition{}
	for _, i := range nodes {
		label[i] = 1
		c.Agents = append(c.Agents, int(i)+1)
	}
	c.Value = inst.blockValues(label, 2)[1]
	return c
}

// worth is the value of a structure.
func (inst *Instance) worth(label []int32) *big.Rat {
	sum := new(big.Rat)
	for _, v := range inst.blockValues(label, int(slices.Max(append(label, -1)))+1) {
		sum.Add(sum, v)
	}
	return sum
}

// divide is the payoffs by a concept.
func (inst *Instance) divide(ctx context.Context, label []int32, concept string, cores int) (*payoff.Payoff, error) {
	if concept == payoff.Core {
		return inst.core(ctx, label, cores)
	}
	return payoff.New(concept, inst.shares(label)), nil
}

// checkPayoffs checks the payoffs of a structure, and returns a sentence about what holds.
func (inst *Instance) checkPayoffs(p *payoff.Payoff, label []int32) (shown string, err error) {
	if err := inst.checkPayoff(cmp.Or(p.Concept, "none")); err != nil {
		return "", err
	}
	if p.Concept != payoff.Core {
		if !reflect.DeepEqual(p, payoff.New(p.Concept, inst.shares(label))) {
			return "", fmt.Errorf("the payoffs are not the %.40s values of the blocks' games", p.Concept)
		}
		return p.Concept + " values, computed again", nil
	}
	if p.Exact == nil {
		return "the core is empty: coalitions whose weights add up to 1 for each agent are worth more", payoff.CheckBalanced(inst.N, p.Balanced, inst.worth(label), func(agents []int) *big.Rat {
			nodes := make([]int32, len(agents))
			for k, agent := range agents {
				nodes[k] = int32(agent - 1)
			}
			return inst.coalition(nodes).Value
		})
	}
	x, err := p.Read(inst.N)
	if err != nil {
		return "", err
	}
	paid := new(big.Rat)
	for _, v := range x {
		paid.Add(paid, v)
	}
	if paid.Cmp(inst.worth(label)) != 0 {
		return "", fmt.Errorf("payoffs add up to %s, the blocks to %s", paid.RatString(), inst.worth(label).RatString())
	}
	search, err := inst.payments(context.Background(), label, runtime.NumCPU())
	if err != nil {
		return "", err
	}
	found, err := inst.violated(context.Background(), search, x)
	if len(found) > 0 {
		err = fmt.Errorf("agents %v receive less than they are worth together", found[0].Agents)
	}
	return "payoffs are in the core: no coalition is worth more than its agents receive, by a search of all", err
}

// shares are what agents receive of a structure by the Shapley values of its blocks' games, exactly: what they are worth alone, and half of the edges to members of their blocks (Deng and
// Papadimitriou, 1994). Each edge is a game of two agents, so that the Banzhaf values are the same.
func (inst *Instance) shares(label []int32) []*big.Rat {
	n := inst.N
	out := make([]*big.Rat, n)
	for i := range n {
		col, weight := inst.graph.Row(i)
		if inst.exact {
			twice := 2 * inst.own[i]
			for k, j := range col {
				if label[j] == label[i] {
					twice += weight[k]
				}
			}
			out[i] = inst.unit.toRat(twice)
		} else {
			real, sum, term := inst.terms.Real, problem.NewExact(), problem.NewExact()
			sum.SetFloat64(real.Linear[i])
			sum.Add(sum, sum)
			for k := inst.terms.Start[i]; k < inst.terms.Start[i+1]; k++ {
				if label[inst.terms.Col[k]] == label[i] {
					sum.Add(sum, term.SetFloat64(real.Pair[k]))
				}
			}
			out[i], _ = sum.Rat(nil)
		}
		out[i].Quo(out[i], big.NewRat(2, 1))
	}
	return out
}
