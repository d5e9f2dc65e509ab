package planar

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"coalesce/solvers/qubo/internal/frustration"
	"coalesce/solvers/qubo/internal/matching"
)

// A branching looks for the lightest join that is of a solution. Weights are relative to that of the lightest join of all.
type branching struct {
	s     *Surface
	o     Options
	root  *matching.Join
	proof *frustration.Proof
	sets  map[int32][]int32 // of the root's nodes: their sets' numbers in the proof
	step  int64
	zero  int64 // the root's weight, modulo 2^64

	mu   sync.Mutex
	best int64 // weight of the best solution
	up   []bool
	over atomic.Bool // the solve was ended early
}

// unknown is a weight that none has.
const unknown = math.MaxInt64 / 4

func newBranching(s *Surface, root *matching.Join, o Options) *branching {
	b := &branching{s: s, o: o, root: root, best: unknown, step: s.step(), zero: root.Sum(), sets: map[int32][]int32{}}
	b.proof = &frustration.Proof{Exponent: s.exponent(), Sets: [][]int64{}}
	root.Sets(func(node int32, y int64, edges []int32, relative bool) {
		b.sets[node] = append(b.sets[node], int32(len(b.proof.Sets)))
		b.proof.Sets = append(b.proof.Sets, b.set(y, edges, relative))
	})
	return b
}

// set is a set of a proof.
func (b *branching) set(y int64, edges []int32, relative bool) []int64 {
	if relative {
		y = -y
	}
	list := append(make([]int64, 0, 1+len(edges)), y)
	for _, k := range edges {
		list = append(list, int64(b.s.edge[k]))
	}
	return list
}

// A box is a case: edges are fixed in a join, which is solved.
type box struct {
	join  *matching.Join
	extra int64   // weight of the edges fixed to be unsatisfied
	fixed []int32 // edges
	in    []bool  // edges that are unsatisfied: of the join, and fixed
	node  *frustration.Node

	state  []int8              // of edges: what is known of the case in which one has the other value
	leaves []*frustration.Node // of edges that are rigid
}

// States of edges in a box.
const (
	untested = iota
	rigid    // the case has no better solution
	loose    // it may have one
)

// divided is a box in a case of x. Edges that are rigid in x are so there: fewer solutions are left, and these have the same values.
func (x *box) divided(join *matching.Join, extra int64, fixed []int32) *box {
	y := &box{join: join, extra: extra, fixed: fixed, node: &frustration.Node{}, state: slices.Clone(x.state), leaves: slices.Clone(x.leaves)}
	for k, state := range y.state {
		if state == loose || state == rigid && x.leaves[k] == nil {
			y.state[k] = untested
		}
	}
	return y
}

func (b *branching) stopped() bool {
	if !b.over.Load() && b.o.Stop != nil && b.o.Stop() {
		b.over.Store(true)
	}
	return b.over.Load()
}

// weight of a box relative to the root's.
func (b *branching) weight(x *box) int64 { return x.join.Sum() - b.zero + x.extra }

// isClosed reports whether a box has no better solution.
func (b *branching) isClosed(x *box) bool { return b.weight(x) >= b.limit() }

// edges sets the unsatisfied edges of a box that is solved.
func (b *branching) edges(x *box, value map[int32]bool) {
	x.in = b.s.unsatisfiedOf(x.join)
	for k, v := range value {
		x.in[k] = v
	}
}

// offer takes unsatisfied edges as a solution, and reports whether they are one.
func (b *branching) offer(in []bool) (wrong []int32) {
	up, wrong := b.s.spins(in)
	if len(wrong) > 0 {
		return wrong
	}
	b.take(up, b.s.weight(in)-b.zero)
	return nil
}

// take takes a solution where it is better.
func (b *branching) take(up []bool, weight int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if weight < b.best {
		b.best, b.up = weight, up
		if b.o.Found != nil {
			b.o.Found(up)
		}
	}
}

// limit is the least weight at which a case has no better solution.
func (b *branching) limit() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.best - b.step + 1
}

// run reports whether the best solution is proven.
func (b *branching) run() bool {
	x := &box{join: b.root, node: &frustration.Node{}, state: make([]int8, len(b.s.edge)), leaves: make([]*frustration.Node, len(b.s.edge))}
	b.edges(x, nil)
	wrong := b.offer(x.in)
	if len(wrong) == 0 {
		return true
	}
	b.start(x.in)
	if b.pack(x.in) >= b.limit() {
		return true
	}
	if !b.branch(x, map[int32]bool{}) {
		return false
	}
	if len(x.node.Below) > 0 {
		b.proof.SetCases(x.node)
	}
	return true
}

// leaf is a case of a proof in which the duals reach the limit, or no join exists.
func (b *branching) leaf(j *matching.Join, fixed []int32, infeasible bool) *frustration.Node {
	n := &frustration.Node{}
	for _, k := range fixed {
		n.Uses = append(n.Uses, b.s.edge[k])
	}
	changed := j.Changed()
	for _, x := range changed {
		n.Without = append(n.Without, b.sets[x]...)
	}
	slices.Sort(n.Without)
	j.SetsOf(changed, func(_ int32, y int64, edges []int32, relative bool) {
		n.Sets = append(n.Sets, b.set(y, edges, relative))
	})
	if infeasible {
		n.Sets = append(n.Sets, b.set(unknown, j.Deadlock(), false))
	}
	return n
}

// branch looks for better solutions in a box whose join is not of a solution. It is false where it was ended early.
func (b *branching) branch(x *box, value map[int32]bool) bool {
	s := b.s
	state, leaves := x.state, x.leaves
	for k := range value {
		state[k], leaves[k] = rigid, nil
	}
	var loop []int32
	costs := [...]int32{untested: 2, rigid: 0, loose: 60}
	for {
		loop = s.loop(x.in, func(k int32) int32 { return costs[state[k]] })
		var open []int32
		for _, k := range loop {
			if state[k] == untested {
				open = append(open, k)
			}
		}
		if len(open) == 0 {
			break
		}
		var wait sync.WaitGroup
		var next atomic.Int32
		var mu sync.Mutex
		for range min(len(open), max(1, b.o.Workers)) {
			wait.Add(1)
			go func() {
				defer wait.Done()
				j := new(matching.Join)
				for !b.stopped() && !b.isClosed(x) {
					at := int(next.Add(1)) - 1
					if at >= len(open) {
						return
					}
					k := open[at]
					j.Become(x.join)
					extra := x.extra + b.s.fix(j, k, !x.in[k])
					limit := b.zero + b.limit() - extra
					status := j.Solve(&limit, b.stopped)
					switch status {
					case matching.Beyond, matching.Infeasible:
						n := b.leaf(j, append(slices.Clone(x.fixed), k), status == matching.Infeasible)
						mu.Lock()
						state[k], leaves[k] = rigid, n
						mu.Unlock()
					case matching.Solved:
						y := &box{join: j, in: s.unsatisfiedOf(j)}
						for e, v := range value {
							y.in[e] = v
						}
						y.in[k] = !x.in[k]
						if len(b.offer(y.in)) == 0 { // the best of the case is found
							n := b.leaf(j, append(slices.Clone(x.fixed), k), false)
							mu.Lock()
							state[k], leaves[k] = rigid, n
							mu.Unlock()
							continue
						}
						mu.Lock()
						for e := range y.in {
							if y.in[e] != x.in[e] && state[e] == untested {
								state[e] = loose
							}
						}
						mu.Unlock()
					default:
						b.over.Store(true)
					}
				}
			}()
		}
		wait.Wait()
		if b.stopped() {
			return false
		}
		if b.isClosed(x) {
			*x.node = *b.leaf(x.join, x.fixed, false)
			return true
		}
	}
	n := x.node
	child := func(k int32, c *frustration.Node) {
		n.Edges = append(n.Edges, s.edge[k])
		n.Values = append(n.Values, map[bool]int8{true: 1}[x.in[k]])
		n.Below = append(n.Below, c)
	}
	for _, k := range loop {
		n.Cycle = append(n.Cycle, s.edge[k])
	}
	before := x.join.Clone() // the edges so far have their values
	extra := x.extra
	fixed, values := slices.Clone(x.fixed), map[int32]bool{}
	for k, v := range value {
		values[k] = v
	}
	for _, k := range loop {
		if state[k] != loose {
			continue
		}
		j := before.Clone()
		y := x.divided(j, extra+b.s.fix(j, k, !x.in[k]), append(slices.Clone(fixed), k))
		child(k, y.node)
		limit := b.zero + b.limit() - y.extra
		switch status := j.Solve(&limit, b.stopped); status {
		case matching.Beyond, matching.Infeasible:
			*y.node = *b.leaf(j, y.fixed, status == matching.Infeasible)
		case matching.Solved:
			inner := map[int32]bool{k: !x.in[k]}
			for e, v := range values {
				inner[e] = v
			}
			b.edges(y, inner)
			if wrong := b.offer(y.in); len(wrong) == 0 { // the best of the case is found
				*y.node = *b.leaf(j, y.fixed, false)
			} else if b.isClosed(y) {
				*y.node = *b.leaf(j, y.fixed, false)
			} else if !b.branch(y, inner) {
				return false
			}
		default:
			b.over.Store(true)
			return false
		}
		extra += b.s.fix(before, k, x.in[k])
		if before.Solve(nil, b.stopped) != matching.Solved {
			return false
		}
		fixed, values[k] = append(fixed, k), x.in[k]
	}
	for _, k := range loop { // these may be fixed again in the cases before
		if leaves[k] != nil {
			child(k, leaves[k])
		}
	}
	return true
}

// rounds are how many times in a row a better solution is looked for without success.
const rounds = 6

// start finds a first solution, and improves it: along loops that leave a disk of the surface the solution stays, and the disk is
// solved exactly.
func (b *branching) start(in []bool) {
	up, _ := b.s.spins(in)
	now := b.s.unsatisfied(up)
	b.take(up, b.s.weight(now)-b.zero)
	random := rand.New(rand.NewPCG(1, 1))
	for idle := 0; idle < rounds && !b.stopped() && b.best >= b.step; idle++ {
		j := b.root.Clone()
		extra := int64(0)
		value := map[int32]bool{}
		for _, k := range b.s.loops(random.IntN(b.s.m.N)) {
			value[k] = now[k]
			extra += b.s.fix(j, k, now[k])
		}
		limit := b.zero + b.best - extra
		if j.Solve(&limit, b.stopped) != matching.Solved {
			continue
		}
		x := &box{join: j}
		b.edges(x, value)
		before := b.best
		if len(b.offer(x.in)) == 0 && b.best < before {
			now, idle = x.in, -1
		}
	}
}

// pack adds loops that are frustrated to the proof, as the room of edges allows, and returns their weight.
func (b *branching) pack(in []bool) (sum int64) {
	s := b.s
	room := slices.Clone(s.length)
	loads := b.proof.Loads(len(s.m.Ends))
	for k, e := range s.edge {
		room[k] -= loads[e]
	}
	sets := len(b.proof.Sets)
	for range mostLoops {
		loop := s.loop(in, func(k int32) int32 {
			if room[k] <= 0 {
				return closed
			}
			return 1
		})
		if loop == nil || b.stopped() {
			break
		}
		y := int64(unknown)
		for _, k := range loop {
			y = min(y, room[k])
		}
		for _, k := range loop {
			room[k] -= y
		}
		b.proof.Sets = append(b.proof.Sets, b.set(y, loop, false))
		sum += y
	}
	if sum < b.limit() { // branching has no use for them
		b.proof.Sets = b.proof.Sets[:sets]
	}
	return sum
}

// mostLoops is the most loops that are packed.
const mostLoops = 1000
