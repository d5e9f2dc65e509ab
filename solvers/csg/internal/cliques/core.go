package cliques

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
)

// A Payments finds the coalitions of a graph that are worth more than their nodes receive. Levels of prices bound its searches.
type Payments struct {
	g       *Graph
	order   []int32
	shift   uint
	levels  [][]int64
	columns []column
	cores   int
}

// NewPayments finds exact levels of a graph, beginning with a known partition; nil if stop ended that. The graph has MostPriced nodes at most.
func NewPayments(g *Graph, label []int32, cores int, stop func() bool) *Payments {
	x := NewLeveler(g, cores, 1)
	x.Add(label)
	for !x.Exact() {
		if !x.Pass(stop) {
			return nil
		}
	}
	return &Payments{g, x.Levels.Order, x.Levels.Shift, x.levels, x.columns, cores}
}

// Columns are the coalitions of two nodes and more that finding the levels has met, ascending.
func (p *Payments) Columns() (coalitions [][]int32) {
	for _, c := range p.columns {
		coalitions = append(coalitions, p.nodes(c.set))
	}
	return coalitions
}

func (p *Payments) nodes(s set) (nodes []int32) {
	for at, node := range p.order {
		if s.has(at) {
			nodes = append(nodes, node)
		}
	}
	slices.Sort(nodes)
	return nodes
}

// mostTold is the most coalitions that Exceeding lists.
const mostTold = 100

// Exceeding lists coalitions, up to 100, whose weights exceed what their nodes receive, by node in units; none of all. It reports false if stop ended it, or if payments have too large denominators.
func (p *Payments) Exceeding(pay []*big.Rat, stop func() bool) (coalitions [][]int32, ok bool) {
	n, common, gcd := p.g.N, big.NewInt(1), new(big.Int)
	for _, x := range pay {
		common.Mul(common, new(big.Int).Div(x.Denom(), gcd.GCD(nil, nil, common, x.Denom())))
	}
	total := 1.0
	for _, w := range p.g.Weight {
		total += math.Abs(float64(w))
	}
	for _, x := range pay {
		f, _ := x.Float64()
		total += math.Abs(f)
	}
	times := common.Int64()
	if !common.IsInt64() || total*float64(times) >= 1<<60 {
		return nil, false
	}
	scaled := &Graph{N: n, Start: p.g.Start, Col: p.g.Col, Weight: slices.Clone(p.g.Weight)}
	for k := range scaled.Weight {
		scaled.Weight[k] *= times
	}
	s := newCoalitions(scaled, p.order, 0, p.cores)
	s.stop = stop
	for _, level := range p.levels {
		raised := make([]int64, len(level))
		for i, y := range level { // rounded up
			high, low := bits.Mul64(uint64(y), uint64(times))
			low, carry := bits.Add64(low, 1<<p.shift-1, 0)
			high += carry
			if raised[i] = int64(low>>p.shift | high<<(64-p.shift)); high>>p.shift != 0 || raised[i] < 0 || raised[i] > 1<<60 {
				return nil, false
			}
		}
		s.levels = append(s.levels, raised)
	}
	prices := make([]int64, n)
	for at, node := range p.order {
		x := new(big.Rat).SetInt64(times)
		prices[at] = x.Mul(x, pay[node]).Num().Int64()
	}
	found, all := s.exceed(prices, 1, mostTold, math.MaxInt64)
	for _, c := range found {
		coalitions = append(coalitions, p.nodes(c))
	}
	return coalitions, all || len(found) > 0
}
