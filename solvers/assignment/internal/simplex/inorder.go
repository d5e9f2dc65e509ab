package simplex

import (
	"context"

	"coalesce/solvers/assignment/internal/order"
	"coalesce/solvers/assignment/problem"
)

const (
	orderPivots = 32 // of a row, in the mean, at most
	mostPrice   = problem.Infinity / 16
)

// inOrder solves a problem whose costs are nearly a Monge array, from the flow of an order on; nil where they are none, or where pivots do not end soon.
func (s *solve) inOrder(ctx context.Context, supply, demand []int64) (*Solution, error) {
	p := s.p
	if p.Instance.Sparse != nil || p.Source != nil {
		return nil, nil
	}
	f, err := order.Find(order.OfInstance(p), p, supply, demand, mostPrice)
	if f == nil || err != nil {
		return nil, err
	}
	s.network = newNetwork(p.Rows, p.Cols, 0)
	s.path(f.Shipments)
	return s.improve(ctx, orderPivots*int64(p.Rows))
}

// path makes the arcs of an order's flow the basis: a path that ends below the root. Arcs without flow lead upwards, but those to columns
// that want nothing: pivots might cycle there, until their limit.
func (s *solve) path(list []order.Shipment) {
	t := s.network
	for _, x := range list {
		t.add(x.Row, x.Col, s.p.Cost(int(x.Row), int(x.Col)))
	}
	last := t.to[len(list)-1]
	t.link(last, t.root)
	t.away[last], t.toRoot = true, make([]int64, t.root)
	for k := len(list) - 1; k >= 0; k-- {
		x, y, away := t.from[k], t.to[k], true
		if k+1 < len(list) && t.from[k+1] == x {
			x, y, away = y, x, false
		}
		t.link(x, y)
		t.arc[x], t.away[x], t.flow[x] = int32(k), away, list[k].Amount
	}
	t.reprice()
}
