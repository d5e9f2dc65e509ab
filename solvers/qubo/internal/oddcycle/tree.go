package oddcycle

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"slices"

	"coalesce/solvers/qubo/internal/frustration"
)

// Options of a proof.
type Options struct {
	Best  func() *big.Int                // loss of the best solution that is known, in capacities of the model; nil: none
	Found func(up []bool)                // is told of solutions that are better than all that were found before
	Bound func(proof *frustration.Proof) // is told of the proof of each better bound
}

// Prove looks for bounds until one meets the best solution, or ctx ends, whose Err is called every millisecond or so. It reports whether one does.
func Prove(ctx context.Context, m *frustration.Model, o Options) bool {
	r := newRelaxation(m)
	if r == nil {
		return false
	}
	t := &tree{relaxation: r, o: o, ctx: ctx, spins: newSpins(r)}
	root := t.prove(nil)
	if root == nil {
		return false
	}
	proof := &frustration.Proof{Exponent: r.exponent(), Sets: t.sets}
	if len(root.Below) > 0 {
		proof.SetCases(root)
	}
	o.Bound(proof)
	return true
}

// Limits of models. The time of a pivot is that of the rows' square, and rows are about as many as edges.
const (
	mostEdges   = 3000
	mostDegree  = 16      // on average
	mostNumbers = 1 << 25 // of a proof
)

// MayFit reports whether odd cycles are for instances of so many variables and pairs.
func MayFit(n int, pairs int64) bool { return pairs <= mostPacked && 2*pairs <= mostDegree*int64(n) }

// IsProvable reports whether branch and cut is for a model, in so many bytes of memory. Others are for Pack.
func IsProvable(m *frustration.Model, memory int64) bool {
	rows := int64(len(m.Ends))
	return rows <= mostEdges && 3*8*rows*rows <= memory
}

type tree struct {
	*relaxation
	o     Options
	ctx   context.Context
	spins *spins
	sets  [][]int64 // of the root, where it is not divided
	shown *big.Int  // the best bound so far
	size  int       // numbers of the proof
}

// best is the loss at which a case is closed, over 2^exponent: that of the best solution; nil: none is known.
func (t *tree) best() *big.Int {
	loss := t.spins.least
	if other := t.o.Best(); loss == nil || other != nil && other.Cmp(loss) < 0 {
		loss = other
	}
	if loss == nil {
		return nil
	}
	loss = new(big.Int).Lsh(loss, uint(t.shift))
	if !t.m.Whole {
		most, _ := big.NewFloat(math.Ldexp(math.Abs(t.m.Bound(loss, t.exponent()).Float()), t.exponent()-realGap)).Int(nil)
		loss.Sub(loss, most)
	}
	return loss
}

// realGap is the binary exponent of the gap of a real value, as a share of it, that counts as none: a quarter of the instance's unit is one of a loss, and a loss
// counts twice.
const realGap = 51 - 1

// goal is a loss of the relaxation that closes a case.
func (t *tree) goal(best *big.Int) float64 {
	if best == nil {
		return math.Inf(1)
	}
	value := new(big.Float).SetInt(best)
	if t.m.Whole {
		_, modulus := t.m.Step()
		step := new(big.Float).SetInt64(modulus)
		step.SetMantExp(step, t.exponent())
		value.Sub(value, step.Mul(step, big.NewFloat(0.98)))
	}
	x, _ := value.Float64()
	return x/t.scale + 1e-7
}

// evaluate solves the relaxation of the case of the edges that are fixed, until its bound meets the best solution, no odd cycle is violated, or it gains little. packing
// is that of the bound.
func (t *tree) evaluate(isRoot bool) (weight []int64, closed bool) {
	t.begin()
	before, slow := 0.0, 0
	for round := 0; t.ctx.Err() == nil; round++ {
		best := t.best()
		t.solve(t.ctx, t.goal(best))
		var total *big.Int
		check := func() bool {
			weight, total = t.packing()
			return best != nil && t.m.RoundUp(total, t.exponent()).Cmp(best) >= 0
		}
		loss := t.loss()
		if isRoot || loss >= t.goal(best) {
			if closed = check(); closed {
				return weight, true
			}
			if loss >= t.goal(best) {
				t.solve(t.ctx, math.Inf(1))
				loss = t.loss()
			}
		}
		if isRoot {
			t.show(weight, total)
		}
		if t.spins.round(t.relaxation) {
			t.o.Found(t.spins.up)
			continue
		}
		t.clean()
		if loss-before < 1e-4*(math.Abs(t.goal(best)-loss)) {
			slow++
		} else {
			slow = 0
		}
		before = loss
		if !isRoot && slow > 3 || slow > 20 || !t.cut(t.ctx) {
			closed = check()
			return weight, closed
		}
	}
	return nil, false
}

// show tells of a better bound of all solutions.
func (t *tree) show(weight []int64, total *big.Int) {
	if t.shown != nil && total.Cmp(t.shown) <= 0 {
		return
	}
	t.shown = total
	t.o.Bound(&frustration.Proof{Exponent: t.exponent(), Sets: t.relaxation.sets(weight)})
}

// prove is the proof of a case, of the edges that are fixed; nil: the work has ended before.
func (t *tree) prove(fixed []int32) *frustration.Node {
	isRoot := fixed == nil
	weight, closed := t.evaluate(isRoot)
	switch {
	case closed && isRoot:
		t.sets = t.relaxation.sets(weight)
		return &frustration.Node{}
	case closed:
		return t.leaf(weight, fixed)
	case t.ctx.Err() != nil || t.size > mostNumbers:
		return nil
	}
	e := t.choose()
	if e < 0 {
		return nil
	}
	value := int8(0)
	if t.unsatisfied(int(e)) > 0.5 {
		value = 1
	}
	node := &frustration.Node{Case: frustration.Case{Edges: []int32{t.edges[e]}, Values: []int8{1 - value}}}
	for _, v := range []int8{value, 1 - value} {
		child := t.proveWith(fixed, e, v)
		if child == nil {
			return nil
		}
		node.Below = append(node.Below, child)
	}
	return node
}

// proveWith is the proof of a case where one more edge is fixed, and those that follow from it.
func (t *tree) proveWith(fixed []int32, e int32, value int8) *frustration.Node {
	fixed = append(slices.Clone(fixed), e)
	t.fix(e, value)
	list, cycles := t.follow()
	values := make([]int8, len(list))
	for k, f := range list {
		odd := t.isOdd(f)
		for _, g := range cycles[k] {
			odd = odd != t.isOdd(g)
		}
		if odd {
			values[k] = 1
		}
	}
	for k, f := range list {
		t.fix(f, values[k])
	}
	fixed = append(fixed, list...)
	node := t.prove(fixed)
	for _, f := range list {
		t.fix(f, -1)
	}
	t.fix(e, -1)
	if node == nil {
		return nil
	}
	for k := len(list) - 1; k >= 0; k-- {
		cycle := []int32{t.edges[list[k]]}
		for _, g := range cycles[k] {
			cycle = append(cycle, t.edges[g])
		}
		node = &frustration.Node{Case: frustration.Case{Cycle: cycle, Edges: cycle[:1], Values: []int8{1 - values[k]}}, Below: []*frustration.Node{node}}
		t.size += len(cycle) + 3
	}
	return node
}

// leaf is a case that a packing closes.
func (t *tree) leaf(weight []int64, fixed []int32) *frustration.Node {
	node := &frustration.Node{}
	for _, k := range fixed {
		node.Uses = append(node.Uses, t.edges[k])
	}
	node.Sets = t.relaxation.sets(weight)
	t.size += len(fixed)
	for _, set := range node.Sets {
		t.size += len(set)
	}
	return node
}

// follow lists edges that are not fixed and whose ends are joined by edges that are, and the paths that join them.
func (t *tree) follow() (list []int32, paths [][]int32) {
	into := make([]int32, t.m.N) // the edge by which a forest reaches a vertex
	depth := make([]int32, t.m.N)
	component := slices.Repeat([]int32{-1}, t.m.N)
	var queue []int32
	for root := range int32(t.m.N) {
		if component[root] >= 0 {
			continue
		}
		component[root], into[root] = root, -1
		for queue = append(queue[:0], root); len(queue) > 0; queue = queue[1:] {
			v := queue[0]
			for _, h := range t.find.at[v] {
				if w := t.ends[h>>1][h&1^1]; t.fixed[h>>1] >= 0 && component[w] < 0 {
					component[w], into[w], depth[w] = root, h>>1, depth[v]+1
					queue = append(queue, w)
				}
			}
		}
	}
	for k, end := range t.ends {
		if t.fixed[k] >= 0 || component[end[0]] != component[end[1]] {
			continue
		}
		var path []int32
		for a, b := end[0], end[1]; a != b; {
			if depth[a] < depth[b] {
				a, b = b, a
			}
			e := into[a]
			path = append(path, e)
			a += t.ends[e][0] + t.ends[e][1] - 2*a
		}
		list, paths = append(list, int32(k)), append(paths, path)
	}
	return list, paths
}

// Candidates that are tried before a case is divided, and the pivots that each takes.
const (
	triedEdges  = 10
	triedPivots = 40
)

// choose chooses the edge that divides a case: of those between 0 and 1, the one whose lesser gain is most. -1: all are fixed.
func (t *tree) choose() int32 {
	type candidate struct {
		edge  int32
		score float64
	}
	var list []candidate
	loose := candidate{-1, -1}
	for k, v := range t.fixed {
		if v >= 0 {
			continue
		}
		u := t.unsatisfied(k)
		if share := min(u, 1-u); share > 1e-6 {
			list = append(list, candidate{int32(k), share * t.price[k]})
		} else if t.price[k] > loose.score {
			loose = candidate{int32(k), t.price[k]}
		}
	}
	if len(list) == 0 {
		return loose.edge
	}
	slices.SortFunc(list, func(a, b candidate) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.edge, b.edge)) })
	if len(list) == 1 {
		return list[0].edge
	}
	base := t.loss()
	at := candidate{-1, -1}
	t.solver.Save(&t.state)
	for _, c := range list[:min(len(list), triedEdges)] {
		var gain [2]float64
		for v := range int8(2) {
			t.fix(c.edge, v)
			t.begin()
			t.solver.Solve(t.ctx, math.Inf(-1), triedPivots)
			gain[v] = max(t.loss()-base, 1e-6)
			t.fix(c.edge, -1)
			t.solver.Load(&t.state)
		}
		if score := gain[0] * gain[1]; score > at.score {
			at = candidate{c.edge, score}
		}
	}
	t.begin()
	return at.edge
}
