// Package frustration proves bounds by frustrated sets: sets of edges such that every solution leaves one edge of each unsatisfied.
//
// A binary quadratic program is a graph with signs. Vertices are spins, and edges want their ends to be the same, or to differ.
// The value of a solution is the top, which it would have with every edge satisfied, less twice the magnitudes of the edges that it
// leaves unsatisfied. Linear terms are edges to one more vertex, whose spin is +1.
package frustration

import (
	"math"
	"math/big"
	"slices"

	"coalesce/solvers/qubo/problem"
)

// A Model is an instance as a graph with signs. Magnitudes and weights are in quarters of the instance's units.
type Model struct {
	N    int     // vertices
	Free []int32 // the variables of vertices; the last vertex has none where Hub is set
	Hub  bool
	Ends [][2]int32 // of edges: pairs of free variables, row by row, then linear terms. The first end is the smaller
	Odd  []bool     // an edge wants its ends to differ
	Cap  []int64    // magnitudes times 2^Shift, rounded down

	Shift int
	Whole bool // magnitudes are integers, and Shift is 0

	inst  *problem.Instance
	given []int8
	top   *big.Float // in quarters, with the sign of a problem that maximises
	sense int
}

// capBits is the length of the largest capacity of real coefficients.
const capBits = 54

// precision holds sums of all float64 numbers without rounding.
const precision = 2400

// New is the model of an instance whose variables are fixed where given has 0 or 1; nil: none is. It is nil where coefficients are
// too large to be multiplied by 4.
func New(inst *problem.Instance, given []int8) *Model {
	m := &Model{inst: inst, given: given, sense: 1, top: new(big.Float).SetPrec(precision)}
	if inst.Sense == problem.Minimize {
		m.sense = -1
	}
	if inst.Int != nil {
		build(m, inst.Int, new(whole))
		return m
	}
	for _, list := range [][]float64{inst.Real.Linear, inst.Real.Pair, {inst.Real.Offset}} {
		for _, v := range list {
			if math.Abs(v) > math.MaxFloat64/8 {
				return nil
			}
		}
	}
	build(m, inst.Real, new(real))
	return m
}

// Sums of coefficients, without rounding.
type sum[T problem.Number] interface {
	add(v T)
	take() *big.Float              // the sum, which begins anew
	exponent(v T) int              // a magnitude is below 2 to this
	capacity(v T, shift int) int64 // a magnitude times 2^shift
}

type whole struct{ v int64 }

func (s *whole) add(v int64)                   { s.v += v }
func (s *whole) exponent(int64) int            { return capBits }
func (s *whole) capacity(v int64, _ int) int64 { return v }
func (s *whole) take() *big.Float {
	x := new(big.Float).SetPrec(precision).SetInt64(s.v)
	s.v = 0
	return x
}

type real struct{ s problem.Sum }

func (s *real) add(v float64) { s.s.Add(v) }
func (s *real) take() *big.Float {
	x := new(big.Float).SetPrec(precision).Set(s.s.Exact())
	s.s = problem.Sum{}
	return x
}

func (s *real) exponent(v float64) int {
	if v == 0 {
		return none
	}
	_, e := math.Frexp(v)
	return e
}

func (s *real) capacity(v float64, shift int) int64 { return int64(math.Ldexp(v, shift)) }

// none is the exponent of 0.
const none = math.MinInt32

// build makes the graph. The coefficient of a pair as spins is pair(w), in quarters; its share of linear terms alone(w).
func build[T problem.Number, S sum[T]](m *Model, t *problem.Terms[T], acc S) {
	inst, n := m.inst, m.inst.N
	pair, alone, once, linear := T(1), T(1), T(1), T(2) // of a QUBO; once: the constant of a pair
	switch inst.Form {
	case problem.Ising:
		pair, alone, once, linear = 4, 0, 0, 4
	case problem.MaxCut:
		pair, alone, once, linear = -2, 0, 2, 0
	}
	sense := T(m.sense)
	vertex := slices.Repeat([]int32{-1}, n)
	fixed := func(i int32) bool { return m.given != nil && m.given[i] >= 0 }
	spin := func(i int32) T { return T(2*m.given[i] - 1) }
	anyFixed := false
	for i := range int32(n) {
		if fixed(i) {
			anyFixed = true
			continue
		}
		vertex[i] = int32(len(m.Free))
		m.Free = append(m.Free, i)
	}
	m.N = len(m.Free)
	var mags []T
	var exact []*big.Float // of linear terms
	var hubs []int32
	absolute := func(v T) T { return max(v, -v) }
	add := acc.add
	add(4 * t.Offset)
	for i := range int32(n) {
		if linear == 2 {
			add(2 * t.Linear[i])
		}
		for k := inst.Start[i]; k < inst.Start[i+1]; k++ {
			j := inst.Col[k]
			if j > i {
				add(once * t.Pair[k])
				if fixed(i) && fixed(j) {
					add(pair * t.Pair[k] * spin(i) * spin(j))
				}
			}
		}
		if fixed(i) {
			add(linear * t.Linear[i] * spin(i))
			if alone != 0 {
				for k := inst.Start[i]; k < inst.Start[i+1]; k++ {
					add(alone * t.Pair[k] * spin(i))
				}
			}
		}
	}
	m.top.Add(m.top, acc.take())
	if m.sense < 0 {
		m.top.Neg(m.top)
	}
	for _, i := range m.Free {
		for k := inst.Start[i]; k < inst.Start[i+1]; k++ {
			if j := inst.Col[k]; j > i && !fixed(j) {
				c := sense * pair * t.Pair[k]
				m.Ends = append(m.Ends, [2]int32{vertex[i], vertex[j]})
				m.Odd = append(m.Odd, c < 0)
				mags = append(mags, absolute(c))
				add(absolute(c))
			}
		}
	}
	m.top.Add(m.top, acc.take())
	if linear != 0 || anyFixed {
		for _, i := range m.Free {
			if linear != 0 {
				add(sense * linear * t.Linear[i])
			}
			for k := inst.Start[i]; k < inst.Start[i+1]; k++ {
				add(sense * alone * t.Pair[k])
				if j := inst.Col[k]; fixed(j) {
					add(sense * pair * t.Pair[k] * spin(j))
				}
			}
			h := acc.take()
			s := h.Sign()
			if s == 0 {
				continue
			}
			h.Abs(h)
			m.top.Add(m.top, h)
			hubs, exact = append(hubs, vertex[i]), append(exact, h)
			m.Odd = append(m.Odd, s < 0)
		}
	}
	if m.Hub = len(hubs) > 0; m.Hub {
		for _, v := range hubs {
			m.Ends = append(m.Ends, [2]int32{v, int32(m.N)})
		}
		m.N++
	}
	top := none
	for _, v := range mags {
		top = max(top, acc.exponent(v))
	}
	if m.Whole = inst.Int != nil; !m.Whole {
		for _, x := range exact {
			top = max(top, x.MantExp(nil))
		}
		if top > none {
			m.Shift = capBits - top
		}
	}
	for _, v := range mags {
		m.Cap = append(m.Cap, acc.capacity(v, m.Shift))
	}
	for _, x := range exact {
		c, _ := x.SetMantExp(x, m.Shift).Int64()
		m.Cap = append(m.Cap, c)
	}
}

// Spins makes a solution of the instance of the vertices' spins: true is +1.
func (m *Model) Spins(up []bool) []uint64 {
	x := make([]uint64, problem.Words(m.inst.N))
	flip := m.Hub && !up[m.N-1]
	set := func(i int32) { x[i>>6] |= 1 << (i & 63) }
	for v, i := range m.Free {
		if up[v] != flip {
			set(i)
		}
	}
	for i, v := range m.given {
		if v == 1 {
			set(int32(i))
		}
	}
	return x
}

// Variables are those to be flipped where a set of vertices is: all others where the last vertex is in it and is no variable.
func (m *Model) Variables(vertices []int32) []int32 {
	in := make([]bool, m.N)
	for _, v := range vertices {
		in[v] = true
	}
	keep := m.Hub && in[m.N-1]
	var list []int32
	for v, i := range m.Free {
		if in[v] != keep {
			list = append(list, i)
		}
	}
	return list
}

// Step is a number that the sums of magnitudes of unsatisfied edges, of integers, are all congruent to, and the modulus: the
// greatest common divisor, and twice that where it divides what is at each vertex.
func (m *Model) Step() (rest, modulus int64) {
	g := int64(0)
	for _, c := range m.Cap {
		for a := c; a != 0; {
			g, a = a, g%a
		}
	}
	if g == 0 {
		return 0, 1
	}
	odd := make([]bool, m.N)
	for e, end := range m.Ends {
		if m.Cap[e]/g%2 == 1 {
			odd[end[0]], odd[end[1]] = !odd[end[0]], !odd[end[1]]
		}
	}
	if slices.Contains(odd, true) {
		return 0, g
	}
	for e, is := range m.Odd { // with all spins +1
		if is {
			rest = (rest + m.Cap[e]) % (2 * g)
		}
	}
	return rest, 2 * g
}

// Bound is a value that no solution beats where each leaves edges unsatisfied whose magnitudes are at least loss 2^-shift.
func (m *Model) Bound(loss *big.Int, shift int) problem.Amount {
	x := new(big.Float).SetPrec(precision).SetInt(loss)
	x.SetMantExp(x, 1-shift)
	x.Sub(m.top, x)
	x.SetMantExp(x, -2)
	if m.sense < 0 {
		x.Neg(x)
	}
	return m.inst.OutwardAmount(x)
}

// Loss is the sum of the capacities of the edges that a solution of the instance leaves unsatisfied.
func (m *Model) Loss(x []uint64) *big.Int {
	loss := new(big.Int)
	up := func(v int32) bool { return int(v) >= len(m.Free) || problem.Bit(x, int(m.Free[v])) == 1 }
	for e, end := range m.Ends {
		if (up(end[0]) != up(end[1])) != m.Odd[e] {
			loss.Add(loss, big.NewInt(m.Cap[e]))
		}
	}
	return loss
}
