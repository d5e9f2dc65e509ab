package payoff

import (
	"context"
	"fmt"
	"math/big"
	"math/bits"

	"coalesce/solvers/csg/problem"
)

// A column is a variable of a program: its entries are 1 in the rows of agents, from 0, and tail in the last row of programs that have one.
type column struct {
	agents []int
	mask   uint64 // of up to 64 agents, who are its bits where agents are not set
	tail   bool
	free   bool // of either sign
	cost   *big.Rat
}

// A program is a linear program in exact numbers, by the primal simplex method: the most that columns cost in all, where the entries of each row add up
// to the row's amount. Columns are at least 0, unless they are free. The basis begins with a unit column for each row.
type program struct {
	agents  int // rows, without that of the tails
	rows    int
	columns []column
	place   []int // row of a column in the basis, -1: outside
	basis   []int
	inverse [][]*big.Rat
	x       []*big.Rat // of the basis
}

func newProgram(agents int, tail bool, amount []*big.Rat) *program {
	p := &program{agents: agents, rows: agents, x: amount}
	for i := range agents {
		p.columns = append(p.columns, column{agents: []int{i}, mask: 1 << i, cost: new(big.Rat)})
	}
	if tail {
		p.rows++
		p.columns = append(p.columns, column{tail: true, cost: new(big.Rat)})
	}
	for i := range p.rows {
		p.basis, p.place = append(p.basis, i), append(p.place, i)
		line := make([]*big.Rat, p.rows)
		for j := range line {
			line[j] = new(big.Rat)
		}
		line[i].SetInt64(1)
		p.inverse = append(p.inverse, line)
	}
	return p
}

// add adds a column outside the basis.
func (p *program) add(c column) int {
	for m := c.mask; m != 0; m &= m - 1 {
		c.agents = append(c.agents, bits.TrailingZeros64(m))
	}
	p.columns, p.place = append(p.columns, c), append(p.place, -1)
	return len(p.columns) - 1
}

// dot is a column times the prices of rows, or a row of the inverse.
func (p *program) dot(c *column, y []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for _, i := range c.agents {
		if v := y[i]; v.Sign() != 0 {
			sum.Add(sum, v)
		}
	}
	if c.tail {
		sum.Add(sum, y[p.rows-1])
	}
	return sum
}

// prices are those of the rows.
func (p *program) prices() []*big.Rat {
	y, t := make([]*big.Rat, p.rows), new(big.Rat)
	for i := range y {
		y[i] = new(big.Rat)
	}
	for r, j := range p.basis {
		c := p.columns[j].cost
		if c.Sign() == 0 {
			continue
		}
		for i, v := range p.inverse[r] {
			if v.Sign() != 0 {
				y[i].Add(y[i], t.Mul(c, v))
			}
		}
	}
	return y
}

// pivot takes column j into the basis in place of that of row r, whose entry in j's column of the tableau is not 0.
func (p *program) pivot(r, j int, entries []*big.Rat) {
	turn, t := new(big.Rat).Inv(entries[r]), new(big.Rat)
	for _, v := range p.inverse[r] {
		v.Mul(v, turn)
	}
	p.x[r].Mul(p.x[r], turn)
	for k, f := range entries {
		if k == r || f.Sign() == 0 {
			continue
		}
		for i, v := range p.inverse[r] {
			if v.Sign() != 0 {
				p.inverse[k][i].Sub(p.inverse[k][i], t.Mul(f, v))
			}
		}
		p.x[k].Sub(p.x[k], t.Mul(f, p.x[r]))
	}
	p.place[p.basis[r]], p.place[j], p.basis[r] = -1, r, j
}

// entries are the column of the tableau.
func (p *program) entries(j int) []*big.Rat {
	out := make([]*big.Rat, p.rows)
	for r := range out {
		out[r] = p.dot(&p.columns[j], p.inverse[r])
	}
	return out
}

// exchange takes column j into the basis in place of one that open allows and that is 0, and reports whether there is one.
func (p *program) exchange(j int, open func(column int) bool) bool {
	e := p.entries(j)
	for r, k := range p.basis {
		if open(k) && e[r].Sign() != 0 && p.x[r].Sign() == 0 {
			p.pivot(r, j, e)
			return true
		}
	}
	return false
}

// patience is how many steps of 0 are made before columns enter and leave by their numbers, which cannot go round in circles (Bland's rule).
const patience = 60

// optimize pivots until no column improves the program, from the one of the largest gain on. Columns of barred do not enter.
func (p *program) optimize(ctx context.Context, barred func(column int) bool) error {
	for still := 0; ; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		y := p.prices()
		enter, gain := -1, new(big.Rat)
		for j := range p.columns {
			c := &p.columns[j]
			if p.place[j] >= 0 || barred(j) {
				continue
			}
			d := p.dot(c, y)
			d.Sub(c.cost, d)
			if d.Cmp(gain) > 0 {
				if enter, gain = j, d; still > patience {
					break
				}
			}
		}
		if enter < 0 {
			return nil
		}
		e := p.entries(enter)
		leave, step := -1, new(big.Rat)
		for r, k := range p.basis {
			if e[r].Sign() <= 0 || p.columns[k].free {
				continue
			}
			t := new(big.Rat).Quo(p.x[r], e[r])
			if leave < 0 || t.Cmp(step) < 0 || t.Cmp(step) == 0 && k < p.basis[leave] {
				leave, step = r, t
			}
		}
		if leave < 0 {
			return errUnbounded
		}
		still++
		if step.Sign() > 0 {
			still = 0
		}
		p.pivot(leave, enter, e)
	}
}

// grow optimizes, and adds coalitions above the prices, until there are none. cost is the value of a coalition; skip leaves some out.
func (p *program) grow(ctx context.Context, g *game, barred func(column int) bool, skip []bool) (y []*big.Rat, err error) {
	known := map[uint64]bool{}
	for {
		if err := p.optimize(ctx, barred); err != nil {
			return nil, err
		}
		y = p.prices()
		level, tail := new(big.Rat), p.rows > p.agents
		if tail {
			level = y[p.agents]
		}
		found, err := g.scan(ctx, y[:p.agents], level, skip)
		if err != nil || len(found) == 0 {
			return y, err
		}
		if known[found[0]] {
			return nil, fmt.Errorf("%w: coalition %s is above its agents' prices in the best basis", problem.ErrCheck, g.inst.Coalition(found[0]))
		}
		for _, mask := range found {
			known[mask] = true
			p.add(column{mask: mask, tail: tail, cost: g.rat(mask)})
		}
	}
}
