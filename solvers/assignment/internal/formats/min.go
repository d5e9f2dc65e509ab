package formats

import (
	"context"
	"math"

	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/lines"
	"coalesce/solvers/formats/text"
)

// readMin reads a minimum-cost flow problem of the first DIMACS challenge (1991) whose arcs all lead from
// nodes of supply to others: "p min NODES ARCS", a line "n ID FLOW" for each node that has a supply, or
// a demand, which is negative, and "a SOURCE TARGET LOW CAPACITY COST" for each arc. Nodes of supply
// are rows and the other nodes columns, both in the order of their numbers. Arcs have no lower bound,
// and carry what their ends have.
func readMin(in source, o ReadOptions) (*problem.Instance, error) {
	f, err := in.openText("c", o)
	if err != nil {
		return nil, err
	}
	head, err := lines.ReadHead(f.File, lines.Kind{Key: "p min", Fields: []lines.Field{
		lines.Int("number of nodes", 0, problem.MaxSide-1), lines.Int("number of arcs", 0, math.MaxInt64),
	}})
	if err != nil {
		return nil, err
	}
	nodes, arcs := head.Int(0), head.Int(1)
	if err := f.budget.Reserve(nodes * 24); err != nil {
		return nil, f.Errorf("%d nodes take %w", nodes, err)
	}
	type supply struct{ node, flow int64 }
	type block struct {
		*lines.Entries
		capacity []int64
		supplies []supply
	}
	p, flow := f.newPairs(), make([]int64, nodes)
	if err := p.reserve(arcs); err != nil {
		return nil, f.Errorf("%w", err)
	}
	var capacity []int64 // of arcs
	if _, err = lines.Read(context.Background(), f.File, lines.Body[*block]{
		Noun: "arc", Count: arcs,
		Kinds: []lines.Kind{
			{Key: "a", Fields: []lines.Field{lines.Index("source", 1, nodes), lines.Index("target", 1, nodes), lines.Int("lower bound", 0, 0),
				lines.Int("capacity", 0, math.MaxInt64), lines.Word("cost")}},
			{Key: "n", Fields: []lines.Field{lines.Index("node", 1, nodes), lines.Int("flow", -problem.MaxTotal, problem.MaxTotal)}},
		},
		Take: func(part *block, r *lines.Record) error {
			if r.Kind == 1 {
				part.supplies = append(part.supplies, supply{r.Int(0), r.Int(1)})
				return nil
			}
			part.capacity = append(part.capacity, r.Int(3))
			return o.addPair(part.Entries, r.Line, int32(r.Int(0)), int32(r.Int(1)), r.Words[4])
		},
		New: func() *block { return &block{Entries: p.newPart()} },
		Reset: func(part *block) {
			part.Entries.Reset()
			part.capacity, part.supplies = part.capacity[:0], part.supplies[:0]
		},
		Keep: func(b *text.Block, part *block) error {
			for _, s := range part.supplies {
				flow[s.node] = s.flow
			}
			if capacity, err = formats.Grow(f.budget, capacity, len(part.capacity)); err != nil {
				return err
			}
			capacity = append(capacity, part.capacity...)
			return p.addPart(b, part.Entries)
		},
	}); err != nil {
		return nil, err
	}
	return p.shipping(flow, capacity)
}

// shipping makes an instance of arcs between nodes with supplies and, negative, demands.
func (p *pairs) shipping(flow, capacity []int64) (*problem.Instance, error) {
	var supply, demand []int64
	source, sums := make([]bool, len(flow)), [2]uint64{}
	for v, x := range flow {
		if source[v] = x > 0; source[v] {
			supply = append(supply, x)
			sums[0] += uint64(x)
		} else {
			demand = append(demand, -x)
			sums[1] += uint64(-x)
		}
		if max(sums[0], sums[1]) > problem.MaxTotal {
			return nil, formats.Errorf(p.file.Name(), 0, "found flows that add up to more than 2^61")
		}
	}
	if sums[0] != sums[1] {
		return nil, formats.Errorf(p.file.Name(), 0, "found supplies of %d and demands of %d in sum, expected as much of both", sums[0], sums[1])
	}
	for k, have := range capacity {
		if want := min(flow[p.Row[k]], -flow[p.Column[k]]); have < want {
			return nil, formats.Errorf(p.file.Name(), p.Lines.Line(k), "found an arc of capacity %d, expected at least %d, what its ends have: bounds of arcs are not supported", have, want)
		}
	}
	inst, err := p.bipartite(source, "one from a node of supply to another kind of node: flows through nodes are not supported")
	if err != nil {
		return nil, err
	}
	inst.Supply, inst.Capacity = supply, demand
	if supply == nil {
		inst.Supply = []int64{}
	}
	if demand == nil {
		inst.Capacity = []int64{}
	}
	return inst, nil
}
