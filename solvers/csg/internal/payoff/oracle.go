package payoff

import (
	"context"
	"fmt"
	"math/big"

	"coalesce/solvers/csg/problem"
)

// A Coalition is a list of agents, numbered from 1 and ascending, with its value.
type Coalition struct {
	Agents []int
	Value  *big.Rat
}

// CoreOf is the core's payoff of n agents, in which no coalition is worth more than its agents receive, or a balanced collection, that is worth more than the best structure. worth is what that is worth.
// Agents alone that are not known are worth alone. violated, which may be nil, lists coalitions that are worth more than their agents receive.
func CoreOf(ctx context.Context, n int, alone *big.Rat, known []Coalition, worth *big.Rat, violated func(x []*big.Rat) ([]Coalition, error)) (*Payoff, error) {
	x, collection, err := coreOf(ctx, n, alone, known, worth, violated)
	if err != nil {
		return nil, err
	}
	p := &Payoff{Concept: Core, Balanced: collection}
	p.set(x)
	return p, nil
}

func coreOf(ctx context.Context, n int, alone *big.Rat, known []Coalition, worth *big.Rat, violated func(x []*big.Rat) ([]Coalition, error)) ([]*big.Rat, []Weighted, error) {
	amount := make([]*big.Rat, n)
	for i := range amount {
		amount[i] = big.NewRat(1, 1)
	}
	p := newProgram(n, false, amount)
	for i := range n {
		p.columns[i].cost = alone
	}
	met := map[string]bool{}
	for begin := true; ; begin = false {
		for _, c := range known {
			if len(c.Agents) == 1 && begin {
				p.columns[c.Agents[0]-1].cost = c.Value
				continue
			}
			rows := make([]int, len(c.Agents))
			for k, agent := range c.Agents {
				rows[k] = agent - 1
			}
			key := fmt.Sprint(rows)
			if met[key] && !begin {
				return nil, nil, fmt.Errorf("%w: coalition %v is above its agents' prices in the best basis", problem.ErrCheck, c.Agents)
			}
			met[key] = true
			p.add(column{agents: rows, cost: c.Value})
		}
		if err := p.optimize(ctx, none); err != nil {
			return nil, nil, err
		}
		y := p.prices()
		if known = nil; violated != nil {
			var err error
			if known, err = violated(y); err != nil {
				return nil, nil, err
			}
		}
		if len(known) > 0 {
			continue
		}
		total := new(big.Rat)
		for _, v := range y {
			total.Add(total, v)
		}
		if total.Cmp(worth) == 0 {
			return y, nil, nil
		}
		var collection []Weighted
		for r, j := range p.basis {
			if p.x[r].Sign() > 0 {
				var agents []int
				for _, i := range p.columns[j].agents {
					agents = append(agents, i+1)
				}
				collection = append(collection, Weighted{Agents: agents, Weight: text(p.x[r])})
			}
		}
		return nil, collection, nil
	}
}

// CheckBalanced checks that weights of a balanced collection add up to 1 for each of n agents, and that its coalitions are worth more than a structure. value is nil of coalitions that are not allowed.
func CheckBalanced(n int, collection []Weighted, worth *big.Rat, value func(agents []int) *big.Rat) error {
	sum, total := make([]*big.Rat, n), new(big.Rat)
	for i := range sum {
		sum[i] = new(big.Rat)
	}
	for _, c := range collection {
		if len(c.Weight) > 1<<12 || len(c.Agents) == 0 {
			return fmt.Errorf("%w: found the weight %.40q", errWeights, c.Weight)
		}
		w, ok := new(big.Rat).SetString(c.Weight)
		if !ok || w.Sign() <= 0 {
			return fmt.Errorf("%w: found the weight %.40q", errWeights, c.Weight)
		}
		before := 0
		for _, agent := range c.Agents {
			if agent <= before || agent > n {
				return fmt.Errorf("%w: found agent %d", errWeights, agent)
			}
			before = agent
			sum[agent-1].Add(sum[agent-1], w)
		}
		v := value(c.Agents)
		if v == nil {
			return fmt.Errorf("%w: found a coalition that is not allowed", errWeights)
		}
		total.Add(total, w.Mul(w, v))
	}
	return balanced(sum, total, worth)
}

// Read is the exact payoffs of n agents. Its errors are those of numbers that are none, or that differ from Values.
func (p *Payoff) Read(n int) ([]*big.Rat, error) {
	x, err := p.read()
	if err == nil && len(x) != n {
		err = fmt.Errorf("found %d payoffs, expected one for each of %d agents", len(x), n)
	}
	return x, err
}
