package payoff

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// DivideListed is Divide for coalitions that are listed. If others are worth 0 (Zeros), they count as such; else they are forbidden: they bind nothing in the core, and Shapley and Banzhaf values
// need all coalitions within blocks. Blocks have agents from 1, ascending.
func DivideListed(ctx context.Context, l *problem.Listing, blocks [][]int, concept string) (*Payoff, error) {
	p := &Payoff{Concept: concept}
	var x []*big.Rat
	var err error
	switch concept {
	case Shapley, Banzhaf:
		x, err = listedValues(l, blocks, concept)
	case Core:
		x, p.Balanced, err = listedCore(ctx, l, blocks)
	default:
		var table *problem.Instance
		if table, err = tableOf(l); err == nil {
			return Divide(ctx, table, structure(blocks), concept)
		}
	}
	if err != nil {
		return nil, err
	}
	p.set(x)
	return p, nil
}

// CheckListed is Check for coalitions that are listed.
func (p *Payoff) CheckListed(ctx context.Context, l *problem.Listing, blocks [][]int) (shown string, err error) {
	if !slices.Contains(Concepts(), p.Concept) {
		return "", fmt.Errorf("found the payoffs' concept %.20q", p.Concept)
	}
	if p.Concept == Nucleolus {
		table, err := tableOf(l)
		if err != nil {
			return "", err
		}
		return p.Check(ctx, table, structure(blocks))
	}
	x, err := p.read()
	if err != nil {
		return "", err
	}
	if p.Concept == Core && x == nil && p.Balanced != nil {
		return coreIsEmpty, checkListedBalanced(l, blocks, p.Balanced)
	}
	if len(x) != l.N {
		return "", fmt.Errorf("found %d payoffs, expected one for each of %d agents", len(x), l.N)
	}
	if p.Concept == Core {
		for _, b := range blocks {
			if excess(unit(l), value(l, b), b, x).Sign() != 0 {
				return "", fmt.Errorf("the payoffs of block %s do not add up to its value", l.CoalitionText(b))
			}
		}
		for k := range l.Coalitions {
			if c := &l.Coalitions[k]; excess(unit(l), c.Value, c.Agents, x).Sign() > 0 {
				return "", fmt.Errorf("coalition %s is worth more than its agents receive", l.CoalitionText(c.Agents))
			}
		}
		return inCore, nil
	}
	again, err := listedValues(l, blocks, p.Concept)
	for i := range again {
		if err == nil && again[i].Cmp(x[i]) != 0 {
			return "", fmt.Errorf("agent %s receives %s, by the instance %s", l.Name(i+1), text(x[i]), text(again[i]))
		}
	}
	return "payoffs are the " + p.Concept + " values of the blocks' games", err
}

// unit is 10^-Scale.
func unit(l *problem.Listing) *big.Rat {
	return new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(l.Scale)), nil))
}

// value is that of a listed coalition, in units; 0 of another.
func value(l *problem.Listing, agents []int) int64 {
	at := slices.IndexFunc(l.Coalitions, func(c problem.Listed) bool { return slices.Equal(c.Agents, agents) })
	if at < 0 {
		return 0
	}
	return l.Coalitions[at].Value
}

// excess is a value in units, less what agents receive.
func excess(unit *big.Rat, units int64, agents []int, x []*big.Rat) *big.Rat {
	e := new(big.Rat).SetInt64(units)
	e.Mul(e, unit)
	for _, agent := range agents {
		e.Sub(e, x[agent-1])
	}
	return e
}

func structure(blocks [][]int) (s problem.Structure) {
	for _, b := range blocks {
		mask := uint64(0)
		for _, agent := range b {
			mask |= 1 << (agent - 1)
		}
		s = append(s, mask)
	}
	return s
}

// tableOf is the table of a listing of few agents, for the nucleolus.
func tableOf(l *problem.Listing) (*problem.Instance, error) {
	if err := CheckAgents(l.N, Nucleolus); err != nil {
		return nil, err
	}
	values := make([]float64, 1<<l.N)
	for mask := 1; mask < len(values) && !l.Zeros; mask++ {
		values[mask] = math.Inf(-1)
	}
	for _, c := range l.Coalitions {
		if c.Value >= 1e15 || c.Value <= -1e15 {
			return nil, solve.InvalidInput("Payoff", "found the value %s for the nucleolus, expected 15 digits at most", l.Decimal(big.NewInt(c.Value)))
		}
		values[structure([][]int{c.Agents})[0]] = float64(c.Value) / math.Pow10(l.Scale)
	}
	inst, err := problem.NewInstance(values, l.Source)
	if err == nil {
		inst.Names = l.Names
	}
	return inst, err
}

// listedValues are Shapley or Banzhaf values: of each listed coalition within a block, its value is shared out by the weights of the coalitions that its members join, and that others do.
func listedValues(l *problem.Listing, blocks [][]int, concept string) ([]*big.Rat, error) {
	x, home, within := make([]*big.Rat, l.N), make([]int, l.N+1), make([]int, len(blocks))
	for b, block := range blocks {
		for _, agent := range block {
			home[agent] = b
			x[agent-1] = new(big.Rat)
		}
	}
	in := make([]bool, l.N+1)
	for _, c := range l.Coalitions {
		b := home[c.Agents[0]]
		if slices.ContainsFunc(c.Agents, func(agent int) bool { return home[agent] != b }) {
			continue
		}
		within[b]++
		size, s := int64(len(blocks[b])), int64(len(c.Agents))
		joins := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), uint(size-1))) // weight of the coalition that a member joins, and of this one, which another joins
		leaves := joins
		if concept == Shapley {
			w := new(big.Int).Binomial(size-1, s-1)
			joins = new(big.Rat).SetFrac(big.NewInt(1), w.Mul(w, big.NewInt(size)))
			if s < size {
				w = new(big.Int).Binomial(size-1, s)
				leaves = new(big.Rat).SetFrac(big.NewInt(1), w.Mul(w, big.NewInt(size)))
			}
		}
		v := new(big.Rat).SetInt64(c.Value)
		gain, loss := new(big.Rat).Mul(v, joins), new(big.Rat).Mul(v, leaves)
		for _, agent := range c.Agents {
			in[agent] = true
		}
		for _, agent := range blocks[b] {
			if in[agent] {
				x[agent-1].Add(x[agent-1], gain)
			} else {
				x[agent-1].Sub(x[agent-1], loss)
			}
		}
		for _, agent := range c.Agents {
			in[agent] = false
		}
	}
	for b, block := range blocks {
		if !l.Zeros && (len(block) > 30 || within[b] < 1<<len(block)-1) {
			return nil, solve.InvalidInput("Payoff", "found forbidden coalitions of the block %s, expected values of all coalitions within blocks, or missing ones worth 0", l.CoalitionText(block))
		}
	}
	u := unit(l)
	for _, a := range x {
		a.Mul(a, u)
	}
	return x, nil
}

// listedCore is a payoff in the core of a structure, or a balanced collection worth more, as of tables.
func listedCore(ctx context.Context, l *problem.Listing, blocks [][]int) ([]*big.Rat, []Weighted, error) {
	u, most := unit(l), big.NewInt(1)
	known := make([]Coalition, len(l.Coalitions))
	for k, c := range l.Coalitions {
		most.Add(most, new(big.Int).Abs(big.NewInt(c.Value)))
		known[k] = Coalition{c.Agents, new(big.Rat).SetInt64(c.Value)}
		known[k].Value.Mul(known[k].Value, u)
	}
	lowest := new(big.Rat).SetInt(most.Neg(most).Lsh(most, 120)) // of agents alone that are not listed
	x, collection, err := coreOf(ctx, l.N, lowest.Mul(lowest, u), known, listedWorth(l, blocks), nil)
	if collection != nil && err == nil {
		err = checkListedBalanced(l, blocks, collection)
	}
	return x, collection, err
}

// listedWorth is the value of a structure.
func listedWorth(l *problem.Listing, blocks [][]int) *big.Rat {
	sum := new(big.Rat)
	for _, b := range blocks {
		sum.Add(sum, new(big.Rat).SetInt64(value(l, b)))
	}
	return sum.Mul(sum, unit(l))
}

// checkListedBalanced is checkBalanced of listed coalitions.
func checkListedBalanced(l *problem.Listing, blocks [][]int, collection []Weighted) error {
	u := unit(l)
	return CheckBalanced(l.N, collection, listedWorth(l, blocks), func(agents []int) *big.Rat {
		at := slices.IndexFunc(l.Coalitions, func(k problem.Listed) bool { return slices.Equal(k.Agents, agents) })
		if at < 0 {
			return nil
		}
		v := new(big.Rat).SetInt64(l.Coalitions[at].Value)
		return v.Mul(v, u)
	})
}
