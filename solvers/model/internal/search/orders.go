package search

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"coalesce/solvers/model/problem"
)

// Orders are the orders of the one-hot groups of a model whose other rows have no negative coefficient: jobs
// with start times, items with bins. An order makes a solution, as in serial schedule generation (Kolisch, "Serial and parallel
// resource-constrained project scheduling methods revisited", European J. of Operational Research 90, 1996): each group in turn takes
// the first of its cheapest bits for which the rows have room. Where the costs of a group's bits grow with their numbers, as with
// due dates, one of the orders makes an optimum. Orders are searched by insertions and swaps with late acceptance (Burke and Bykov, "The late
// acceptance hill-climbing heuristic", European J. of Operational Research 258, 2017).
type orders struct {
	*Layout
	choices [][]int32 // of each group, its bits from the cheapest on; -1 stands for none, where the group allows that
	rows    []problem.Row
	uses    [][]link // of each bit, its rows
	partial bool     // the objective has products: orders only look for a solution that holds
}

// orders are those of the model, nil where it is of another kind.
func (l *Layout) orders() *orders {
	f := l.form
	if len(l.keeps) < 2 || l.exchange != nil || slices.Contains(l.group, -1) {
		return nil
	}
	o := &orders{Layout: l, partial: len(f.Pairs)+len(f.Products) > 0, rows: slices.Concat(l.rows, l.seats.rows), uses: make([][]link, f.N)}
	if len(o.rows) == 0 {
		return nil
	}
	for r := range o.rows {
		if row := &o.rows[r]; row.High < 0 || slices.ContainsFunc(row.Coefficients, func(a int64) bool { return a < 0 }) {
			return nil
		}
		o.uses = addRow(o.uses, &o.rows[r], r)
	}
	for g := range l.keeps {
		row := &l.keeps[g]
		if row.High != 1 {
			return nil
		}
		list := slices.Clone(row.Bits)
		if row.Low < 1 {
			list = append(list, -1)
		}
		slices.SortStableFunc(list, func(a, b int32) int { return cmp.Compare(o.cost(a), o.cost(b)) })
		o.choices = append(o.choices, list)
	}
	return o
}

// cost is the linear term of a bit, 0 of none.
func (o *orders) cost(b int32) int64 {
	if b < 0 {
		return 0
	}
	return o.form.Linear[b]
}

// A plan is what an order makes. lack is the number of groups without a bit, what the first of their bits add to rows, and what sums of rows are below
// their bounds.
type plan struct {
	lack, cost int64
	on         []int32 // of each group
}

func (p *plan) compare(other *plan) int {
	return cmp.Or(cmp.Compare(p.lack, other.lack), cmp.Compare(p.cost, other.cost))
}

// decode makes the plan of an order; sums is scratch, a number a row.
func (o *orders) decode(order []int32, p *plan, sums []int64) {
	clear(sums)
	p.lack, p.cost = 0, o.form.Offset
	for _, g := range order {
		p.on[g] = -1
		at := slices.IndexFunc(o.choices[g], func(b int32) bool {
			return b < 0 || !slices.ContainsFunc(o.uses[b], func(u link) bool { return sums[u.at]+u.coefficient > o.rows[u.at].High })
		})
		if at < 0 {
			for _, u := range o.uses[o.choices[g][0]] {
				p.lack += u.coefficient
			}
			p.lack++
			continue
		}
		b := o.choices[g][at]
		if p.on[g] = b; b < 0 {
			continue
		}
		p.cost += o.cost(b)
		for _, u := range o.uses[b] {
			sums[u.at] += u.coefficient
		}
	}
	for r := range o.rows {
		p.lack += max(0, o.rows[r].Low-sums[r])
	}
}

// lateness is the number of orders, for each group, after which one that is no better than then is refused.
const lateness = 20

// A sequence is one search over orders of the groups. It holds the present order with its plan, the next one, and the plans of earlier orders.
type sequence struct {
	*orders
	random      *rand.Rand
	order, next []int32
	now, then   plan
	top         plan // the best since the order was drawn
	late        []plan
	tried       int64
	sums        []int64
}

func (o *orders) begin(random *rand.Rand) *sequence {
	n := len(o.choices)
	s := &sequence{orders: o, random: random, order: make([]int32, n), next: make([]int32, n), sums: make([]int64, len(o.rows)), late: make([]plan, lateness*n)}
	for _, p := range []*plan{&s.now, &s.then, &s.top} {
		p.on = make([]int32, n)
	}
	for k := range s.order {
		s.order[k] = int32(k)
	}
	s.draw()
	return s
}

// draw begins anew.
func (s *sequence) draw() {
	s.random.Shuffle(len(s.order), func(i, j int) { s.order[i], s.order[j] = s.order[j], s.order[i] })
	s.decode(s.order, &s.now, s.sums)
	for k := range s.late {
		s.late[k] = plan{lack: s.now.lack, cost: s.now.cost}
	}
	s.top.lack = s.now.lack + 1
}

// search tries so many orders, and returns the best bits since it began, nil where none holds. Where the last were all no better it begins
// anew.
func (s *sequence) search(ctx context.Context, tries int64, limit *atomic.Int64, found func(value int64, x []uint8)) (x []uint8, value int64) {
	better := false
	for range tries {
		if s.now.compare(&s.top) < 0 {
			better, s.top.lack, s.top.cost = true, s.now.lack, s.now.cost
			copy(s.top.on, s.now.on)
			if s.partial && s.top.lack == 0 {
				break
			}
			if s.top.lack == 0 && s.top.cost < limit.Load() {
				found(s.top.cost, s.bits(&s.top))
			}
		}
		if s.tried++; s.tried&63 == 0 && ctx.Err() != nil {
			break
		}
		copy(s.next, s.order)
		i, j := s.random.IntN(len(s.next)), s.random.IntN(len(s.next))
		if g := s.next[i]; s.random.IntN(2) == 0 {
			s.next[i], s.next[j] = s.next[j], g
		} else {
			s.next = slices.Insert(slices.Delete(s.next, i, i+1), j, g)
		}
		s.decode(s.next, &s.then, s.sums)
		late := &s.late[s.tried%int64(len(s.late))]
		if s.then.compare(&s.now) <= 0 || s.then.compare(late) <= 0 {
			s.order, s.next = s.next, s.order
			s.now, s.then = s.then, s.now
		}
		if s.now.compare(late) < 0 {
			late.lack, late.cost = s.now.lack, s.now.cost
		}
	}
	if s.top.lack == 0 {
		x, value = s.bits(&s.top), s.top.cost
	}
	if x != nil && s.partial {
		if value = s.form.Value(x); value < limit.Load() {
			found(value, x)
		}
	}
	if !better || s.partial && x != nil {
		s.draw()
	}
	return x, value
}

// bits are those of a plan.
func (o *orders) bits(p *plan) []uint8 {
	x := make([]uint8, o.form.N)
	for _, b := range p.on {
		if b >= 0 {
			x[b] = 1
		}
	}
	return x
}
