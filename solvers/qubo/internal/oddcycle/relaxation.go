// Package oddcycle bounds binary quadratic programs by odd cycles, and proves optima by branch and cut.
//
// The relaxation has a number u(e) from 0 to 1 for each edge, 1 where it is unsatisfied. On each cycle with an odd number of edges that want their ends
// to differ the numbers add up to at least 1. Prices of these cycles are a packing of frustrated sets, which proves the bound
// (package frustration). Edges that are fixed to be unsatisfied want the other thing.
package oddcycle

import (
	"context"
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"

	"coalesce/solvers/lp"
	"coalesce/solvers/qubo/internal/frustration"
)

// A relaxation is the linear program of a case. Its columns are satisfied: 1 - u. A cycle of k edges, of which f are fixed to be
// unsatisfied, is a row: at most k - f - 1 of them are satisfied.
type relaxation struct {
	m     *frustration.Model
	edges []int32 // of the model, those with a magnitude; columns have their numbers
	ends  [][2]int32
	price []float64 // magnitudes, the largest is 1
	sum   float64   // of these
	fixed []int8    // -1: not fixed

	solver *lp.Solver
	rows   [][]int32 // edges of each row's cycle
	state  lp.State
	known  map[string]bool
	idle   []int // solves since a row was tight
	find   *separator
	length []float64
	odd    []bool

	shift int     // weights of the packing are magnitudes times 2^shift
	scale float64 // a price of 1 as a weight
	room  []int64 // weight that an edge has left
	most  []int64 // magnitudes as weights

	refinements int // of packings
}

// Bits of the largest magnitude as a weight.
const (
	wholeBits = 44 // of integers
	realBits  = 54
)

func newRelaxation(m *frustration.Model) *relaxation {
	r := &relaxation{m: m, known: map[string]bool{}}
	top := int64(0)
	for e, c := range m.Cap {
		if c > 0 {
			r.edges, r.ends = append(r.edges, int32(e)), append(r.ends, m.Ends[e])
			top = max(top, c)
		}
	}
	if top == 0 {
		return nil
	}
	length := bits.Len64(uint64(top))
	if r.shift, r.refinements = max(0, realBits-length), refinements; m.Whole {
		r.shift, r.refinements = max(0, wholeBits-length), 0
	}
	n := len(r.edges)
	r.price, r.fixed, r.length, r.odd = make([]float64, n), make([]int8, n), make([]float64, n), make([]bool, n)
	r.room, r.most = make([]int64, n), make([]int64, n)
	r.scale = math.Ldexp(float64(top), r.shift)
	for k, e := range r.edges {
		r.price[k] = float64(m.Cap[e]) / float64(top)
		r.sum += r.price[k]
		r.fixed[k] = -1
		r.most[k] = m.Cap[e] << r.shift
	}
	r.find = newSeparator(m.N, r.ends)
	r.solver = lp.New(&lp.Matrix{Columns: make([][]int32, n)}, r.price)
	r.solver.Lasting = lasting
	return r
}

// fix fixes an edge, to be unsatisfied (1) or not (0), or frees it (-1).
func (r *relaxation) fix(k int32, value int8) {
	r.fixed[k] = value
	switch value {
	case 0:
		r.solver.Bound(int(k), 1, 1)
	case 1:
		r.solver.Bound(int(k), 0, 0)
	default:
		r.solver.Bound(int(k), 0, 1)
	}
}

// isOdd reports whether an edge wants its ends to differ, or, where it is fixed to be unsatisfied, to be the same.
func (r *relaxation) isOdd(k int32) bool { return r.m.Odd[r.edges[k]] != (r.fixed[k] == 1) }

// allows is the most that the edges of a cycle may be satisfied: less than all where it is odd.
func (r *relaxation) allows(cycle []int32) (most float64, odd bool) {
	most = float64(len(cycle))
	for _, k := range cycle {
		odd = odd != r.isOdd(k)
		if r.fixed[k] == 1 {
			most--
		}
	}
	if !odd {
		return float64(len(cycle)), false
	}
	return most - 1, true
}

// begin makes the rows those of the edges that are fixed.
func (r *relaxation) begin() {
	for i, cycle := range r.rows {
		most, _ := r.allows(cycle)
		r.solver.Allow(i, most)
	}
}

// unsatisfied is u of an edge.
func (r *relaxation) unsatisfied(k int) float64 { return min(1, max(0, 1-r.solver.Value(k))) }

// loss is the relaxation's value: the sum of magnitudes of unsatisfied edges, where the largest is 1.
func (r *relaxation) loss() float64 { return r.sum - r.solver.Objective() }

// solve solves the program with the rows that it has, or until the loss is at least goal.
func (r *relaxation) solve(ctx context.Context, goal float64) {
	r.solver.Solve(ctx, r.sum-goal, 0)
}

// cut adds rows that the solution violates, and reports whether there are any.
func (r *relaxation) cut(ctx context.Context) bool {
	for k := range r.edges {
		r.odd[k] = r.isOdd(int32(k))
		switch r.length[k] = r.unsatisfied(k); r.fixed[k] {
		case 0, 1:
			r.length[k] = 0
		}
	}
	return r.add(r.find.find(ctx, r.length, r.odd))
}

// add makes cycles rows, and reports whether there are any that are not rows yet.
func (r *relaxation) add(cycles [][]int32) bool {
	var rows [][]int32
	var most []float64
	for _, cycle := range cycles {
		name := nameOf(cycle)
		if r.known[name] {
			continue
		}
		r.known[name] = true
		allowed, _ := r.allows(cycle)
		rows, most = append(rows, cycle), append(most, allowed)
	}
	if len(rows) == 0 {
		return false
	}
	r.solver.AddRows(rows, most)
	r.rows, r.idle = append(r.rows, rows...), append(r.idle, make([]int, len(rows))...)
	return true
}

// nameOf is the key of a cycle.
func nameOf(cycle []int32) string {
	name := make([]byte, 0, 3*len(cycle))
	for _, k := range cycle {
		name = binary.AppendUvarint(name, uint64(k))
	}
	return string(name)
}

// lasting is how many pivots an inverse lasts: cycles are checked, and proofs do not depend on rounding.
const lasting = 1000

// mostIdle is for how many solves a row stays that is not tight.
const mostIdle = 3

// clean removes rows that have not been tight for long.
func (r *relaxation) clean() {
	old := 0
	for i := range r.rows {
		if r.idle[i]++; !r.solver.SlackIsBasic(i) {
			r.idle[i] = 0
		}
		if r.idle[i] > mostIdle {
			old++
		}
	}
	if old < 20 && old < len(r.rows)/8 {
		return
	}
	kept := r.solver.RemoveRows(func(i int) bool { return r.idle[i] > mostIdle })
	next := 0
	for c, i := range kept {
		for ; next < i; next++ {
			delete(r.known, nameOf(r.rows[next]))
		}
		next++
		r.rows[c], r.idle[c] = r.rows[i], r.idle[i]
	}
	for ; next < len(r.rows); next++ {
		delete(r.known, nameOf(r.rows[next]))
	}
	r.rows, r.idle = r.rows[:len(kept)], r.idle[:len(kept)]
}

// refinements is how often a packing of real numbers is corrected, to the last bits.
const refinements = 2

// packing rounds the prices of odd cycles to weights that all edges can carry. total is the bound that they prove, over 2^exponent.
func (r *relaxation) packing() (weight []int64, total *big.Int) {
	weight = make([]int64, len(r.rows))
	copy(r.room, r.most)
	var tight []int
	add := func(i int, w int64) {
		weight[i] += w
		for _, k := range r.rows[i] {
			r.room[k] -= w
		}
	}
	for i, cycle := range r.rows {
		p := r.solver.Price(i)
		if p <= 0 {
			continue
		}
		if _, odd := r.allows(cycle); !odd {
			continue
		}
		tight = append(tight, i)
		add(i, int64(min(p, 4)*r.scale))
	}
	for range r.refinements { // of edges that are in the basis all is used, but for rounding
		price := r.solver.PricesOf(func(k int) float64 {
			if r.fixed[k] >= 0 {
				return 0
			}
			return float64(r.room[k])
		})
		for _, i := range tight {
			add(i, max(int64(price[i]), -weight[i]))
		}
	}
	for _, i := range tight { // less where an edge carries too much, and then more where all have room
		over := int64(0)
		for _, k := range r.rows[i] {
			if r.fixed[k] < 0 {
				over = max(over, -r.room[k])
			}
		}
		if over > 0 {
			add(i, -min(over, weight[i]))
		}
	}
	for i, cycle := range r.rows {
		if _, odd := r.allows(cycle); !odd {
			continue
		}
		room := int64(math.MaxInt64)
		for _, k := range cycle {
			if r.fixed[k] < 0 {
				room = min(room, r.room[k])
			}
		}
		if room > 0 && room < math.MaxInt64 {
			add(i, room)
		}
	}
	total = new(big.Int)
	for _, w := range weight {
		total.Add(total, big.NewInt(w))
	}
	for k, value := range r.fixed {
		if value == 1 {
			total.Add(total, big.NewInt(r.most[k]))
		}
	}
	return weight, total
}

// exponent is that of the weights.
func (r *relaxation) exponent() int { return r.m.Shift + r.shift }

// sets are a packing's sets in the form of a proof.
func (r *relaxation) sets(weight []int64) (sets [][]int64) {
	for i, w := range weight {
		if w > 0 {
			set := append(make([]int64, 0, 1+len(r.rows[i])), w)
			for _, k := range r.rows[i] {
				set = append(set, int64(r.edges[k]))
			}
			sets = append(sets, set)
		}
	}
	return sets
}
