package payoff

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/bits"

	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// errUnbounded is of programs that cannot be: agents alone bound those of cores and nucleoli.
var errUnbounded = fmt.Errorf("%w: found payoffs without a bound", problem.ErrCheck)

// none bars no column.
func none(int) bool { return false }

// worth is the value of a structure.
func (g *game) worth(s problem.Structure) *big.Rat {
	sum := new(big.Rat)
	for _, b := range s {
		sum.Add(sum, g.rat(b))
	}
	return sum
}

// core is a payoff in the core of a structure, or a balanced collection worth more: the payoffs of the least sum that give each coalition its value are
// the prices of the program whose solution is the collection. Forbidden agents alone are worth less than any payoff of a basis.
func (g *game) core(ctx context.Context, s problem.Structure) ([]*big.Rat, []Weighted, error) {
	n := g.inst.N
	amount := make([]*big.Rat, n)
	for i := range amount {
		amount[i] = big.NewRat(1, 1)
	}
	p := newProgram(n, false, amount)
	lowest := new(big.Rat).SetFloat64(-g.most - 1)
	lowest.Mul(lowest, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 120)))
	for i := range n {
		if p.columns[i].cost = lowest; g.allowed(1 << i) {
			p.columns[i].cost = g.rat(1 << i)
		}
	}
	for _, b := range s {
		if bits.OnesCount64(b) > 1 {
			p.add(column{mask: b, cost: g.rat(b)})
		}
	}
	y, err := p.grow(ctx, g, none, nil)
	if err != nil {
		return nil, nil, err
	}
	total := new(big.Rat)
	for _, v := range y {
		total.Add(total, v)
	}
	if total.Cmp(g.worth(s)) == 0 {
		return y, nil, nil
	}
	var collection []Weighted
	for r, j := range p.basis {
		if p.x[r].Sign() > 0 {
			collection = append(collection, Weighted{Coalition: p.columns[j].mask, Weight: text(p.x[r])})
		}
	}
	return nil, collection, g.checkBalanced(s, collection)
}

// errWeights is of weights that prove nothing.
var errWeights = errors.New("weights of coalitions do not prove what they should")

// checkBalanced checks that weights add up to 1 for each agent, and that the coalitions are worth more than a structure.
func (g *game) checkBalanced(s problem.Structure, collection []Weighted) error {
	sum, total := make([]*big.Rat, g.inst.N), new(big.Rat)
	for i := range sum {
		sum[i] = new(big.Rat)
	}
	for _, c := range collection {
		w, err := g.weight(&c)
		if err != nil {
			return err
		}
		for m := c.Coalition; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m)
			sum[i].Add(sum[i], w)
		}
		total.Add(total, w.Mul(w, g.rat(c.Coalition)))
	}
	return balanced(sum, total, g.worth(s))
}

// balanced returns an error unless weights add up to 1 for each agent, and the coalitions to more than a structure is worth.
func balanced(sum []*big.Rat, total, worth *big.Rat) error {
	for _, v := range sum {
		if v.Cmp(big.NewRat(1, 1)) != 0 {
			return fmt.Errorf("%w: they do not add up to 1 for each agent", errWeights)
		}
	}
	if total.Cmp(worth) <= 0 {
		return fmt.Errorf("%w: the coalitions are not worth more than the structure", errWeights)
	}
	return nil
}

// weight reads a positive weight of an allowed coalition.
func (g *game) weight(c *Weighted) (*big.Rat, error) {
	if c.Coalition == 0 || c.Coalition > g.inst.GrandCoalition() || !g.allowed(c.Coalition) || len(c.Weight) > 1<<12 {
		return nil, fmt.Errorf("%w: found coalition %d", errWeights, c.Coalition)
	}
	w, ok := new(big.Rat).SetString(c.Weight)
	if !ok || w.Sign() <= 0 {
		return nil, fmt.Errorf("%w: found the weight %.40q", errWeights, c.Weight)
	}
	return w, nil
}

// nucleolus is the nucleolus of a structure, and its levels.
func (g *game) nucleolus(ctx context.Context, s problem.Structure) ([]*big.Rat, []Level, error) {
	n := g.inst.N
	for i := range n {
		if !g.allowed(1 << i) {
			return nil, nil, solve.InvalidInput("Payoff", "found the forbidden coalition %s, expected values of agents alone for the nucleolus", g.inst.Coalition(1<<i))
		}
	}
	f := newFixed(n)
	for _, b := range s {
		alone := new(big.Rat)
		for _, agent := range problem.Agents(b) {
			alone.Add(alone, g.rat(1<<(agent-1)))
		}
		v := g.rat(b)
		if alone.Cmp(v) > 0 {
			return nil, nil, solve.InvalidInput("Payoff", "found block %s, worth less than its agents alone, expected a structure of the largest value", g.inst.Coalition(b))
		}
		f.fix(b, v)
	}
	var levels []Level
	for f.rank() < n {
		level, err := g.nextLevel(ctx, f)
		if err != nil {
			return nil, nil, err
		}
		levels = append(levels, *level)
	}
	return f.payoffs(), levels, nil
}

// nextLevel minimises the largest excess of the coalitions whose payoffs are not fixed yet. It returns that excess and the coalitions that it fixes.
func (g *game) nextLevel(ctx context.Context, f *fixed) (*Level, error) {
	n := g.inst.N
	amount := make([]*big.Rat, n+1)
	for i := range amount {
		amount[i] = new(big.Rat)
	}
	amount[n].SetInt64(1)
	p := newProgram(n, true, amount)
	units := len(p.columns)
	unit := func(j int) bool { return j < units }
	agents := func(j int) bool { return j < n }
	skip := f.spans()
	for k, mask := range f.masks {
		j := p.add(column{mask: mask, free: true, cost: f.paid[k]})
		p.exchange(j, agents) // fixed payoffs are independent
	}
	var alone []int // of coalitions of one agent each, whose excess counts
	for i := range n {
		if skip[1<<i] {
			continue
		}
		v := g.rat(1 << i)
		p.exchange(p.add(column{mask: 1 << i, cost: v}), agents)
		alone = append(alone, p.add(column{mask: 1 << i, tail: true, cost: v}))
	}
	// The program begins with the last row's unit column at 1, which leaves.
	costs := make([]*big.Rat, len(p.columns))
	for j := range costs {
		costs[j], p.columns[j].cost = p.columns[j].cost, new(big.Rat)
	}
	p.columns[n].cost = big.NewRat(-1, 1)
	if err := p.optimize(ctx, unit); err != nil {
		return nil, err
	}
	for _, j := range alone {
		if p.place[n] >= 0 && p.place[j] < 0 {
			p.exchange(j, func(k int) bool { return k == n })
		}
	}
	for j := range costs {
		p.columns[j].cost = costs[j]
	}
	y, err := p.grow(ctx, g, unit, skip)
	if err != nil {
		return nil, err
	}
	level := &Level{Excess: text(y[n])}
	for r, j := range p.basis {
		c := &p.columns[j]
		if c.free || p.x[r].Sign() == 0 {
			continue
		}
		w := Weighted{Coalition: c.mask, Weight: text(p.x[r])}
		if c.tail {
			level.Coalitions = append(level.Coalitions, w)
		} else {
			level.Alone = append(level.Alone, w)
		}
	}
	return level, g.fixLevel(f, level)
}

// fixLevel checks the weights of a level against the payoffs that earlier levels fixed, and fixes the level's coalitions.
func (g *game) fixLevel(f *fixed, level *Level) error {
	e, ok := new(big.Rat).SetString(level.Excess)
	if !ok || len(level.Excess) > 1<<12 {
		return fmt.Errorf("%w: found the excess %.40q", errWeights, level.Excess)
	}
	skip, total, sum := f.spans(), new(big.Rat), make([]*big.Rat, g.inst.N)
	for i := range sum {
		sum[i] = new(big.Rat)
	}
	for k, list := range [][]Weighted{level.Coalitions, level.Alone} {
		for _, c := range list {
			w, err := g.weight(&c)
			switch {
			case err != nil:
				return err
			case skip[c.Coalition] || k == 1 && c.Coalition&(c.Coalition-1) != 0:
				return fmt.Errorf("%w: found coalition %s of a level of the nucleolus", errWeights, g.inst.Coalition(c.Coalition))
			}
			for m := c.Coalition; m != 0; m &= m - 1 {
				i := bits.TrailingZeros64(m)
				sum[i].Add(sum[i], w)
			}
			if k == 0 {
				total.Add(total, w)
			}
		}
	}
	if total.Cmp(big.NewRat(1, 1)) != 0 || !f.spanned(sum) {
		return fmt.Errorf("%w: those of a level of the nucleolus do not add up", errWeights)
	}
	for _, c := range level.Coalitions {
		paid := g.rat(c.Coalition)
		f.fix(c.Coalition, paid.Sub(paid, e))
	}
	for _, c := range level.Alone {
		f.fix(c.Coalition, g.rat(c.Coalition))
	}
	return nil
}

// checkLevels checks that levels prove payoffs, which give blocks and agents alone what they should, the nucleolus: what they fix has these payoffs, and
// no other coalition has a larger excess.
func (g *game) checkLevels(ctx context.Context, s problem.Structure, x []*big.Rat, levels []Level) error {
	f := newFixed(g.inst.N)
	for i := range x {
		if !g.allowed(1<<i) || g.excess(1<<i, x).Sign() > 0 {
			return fmt.Errorf("agent %s receives less than it is worth alone", g.inst.Name(i+1))
		}
	}
	for _, b := range s {
		f.fix(b, g.rat(b))
	}
	for k := range levels {
		skip := f.spans()
		if err := g.fixLevel(f, &levels[k]); err != nil {
			return err
		}
		e, _ := new(big.Rat).SetString(levels[k].Excess)
		found, err := g.scan(ctx, x, e, skip)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			return fmt.Errorf("coalition %s has a larger excess than level %d of the nucleolus", g.inst.Coalition(found[0]), k+1)
		}
	}
	if f.rank() < g.inst.N {
		return fmt.Errorf("%w: levels of the nucleolus leave payoffs open", errWeights)
	}
	for i, a := range f.payoffs() {
		if a.Cmp(x[i]) != 0 {
			return fmt.Errorf("agent %s receives %s, by the levels of the nucleolus %s", g.inst.Name(i+1), text(x[i]), text(a))
		}
	}
	return nil
}
