package problem

import (
	"math"
	"math/big"
)

// FewVariables is the most variables whose best solutions are found in exact arithmetic.
const FewVariables = 25

// BranchedVariables is the most variables whose best solutions are looked for in exact arithmetic, for a share of the time.
const BranchedVariables = 32

// SmallProblem is the objective of a few variables, the others of its instance being given: maximise
//
//	Σ Diag(i) x(i) + Σ{i<j} Weight(i,j) x(i) x(j)
//
// It is Normal without rounding, in integers of any length.
type SmallProblem struct {
	N      int
	Diag   []*big.Int
	Weight [][]*big.Int // symmetric; nil where there is no pair
}

// Value is the objective of x, bit i for variable i.
func (f *SmallProblem) Value(x uint64) *big.Int {
	sum := new(big.Int)
	for i := range f.N {
		if x>>i&1 == 0 {
			continue
		}
		sum.Add(sum, f.Diag[i])
		for j, w := range f.Weight[i][:i] {
			if w != nil && x>>j&1 == 1 {
				sum.Add(sum, w)
			}
		}
	}
	return sum
}

// SmallProblem is the objective of a problem of few variables.
func (p *Normal) SmallProblem() *SmallProblem {
	f := &SmallProblem{N: p.N, Diag: make([]*big.Int, p.N), Weight: make([][]*big.Int, p.N)}
	for i := range p.N {
		f.Diag[i], f.Weight[i] = big.NewInt(p.Diag[i]), make([]*big.Int, p.N)
		col, weight := p.Row(i)
		for k, j := range col {
			f.Weight[i][j] = big.NewInt(weight[k])
		}
	}
	return f
}

// Rows is a SmallProblem in rows of the pairs that there are, for any number of variables.
type Rows struct {
	Diag   []*big.Int
	Weight []map[int32]*big.Int // symmetric
}

// SmallProblem is the objective of the variables in list alone, with no pair to others.
func (r *Rows) SmallProblem(list []int32) *SmallProblem {
	f := &SmallProblem{N: len(list), Diag: make([]*big.Int, len(list)), Weight: make([][]*big.Int, len(list))}
	for k, i := range list {
		f.Diag[k], f.Weight[k] = r.Diag[i], make([]*big.Int, len(list))
		for l, j := range list {
			f.Weight[k][l] = r.Weight[i][j]
		}
	}
	return f
}

// SmallProblem is the exact objective of the variables in list, as Rows has it.
func (inst *Instance) SmallProblem(list []int32, x []uint64) *SmallProblem {
	r := inst.Rows(list, x)
	all := make([]int32, len(r.Diag))
	for i := range all {
		all[i] = int32(i)
	}
	return r.SmallProblem(all)
}

// Rows is the exact objective of the variables in list, ascending, nil for all, where the others
// are as in x. It is scaled so that all coefficients are integers.
func (inst *Instance) Rows(list []int32, x []uint64) *Rows {
	if list == nil {
		list = make([]int32, inst.N)
		for i := range list {
			list[i] = int32(i)
		}
	}
	place := make(map[int32]int32, len(list))
	for k, i := range list {
		place[i] = int32(k)
	}
	number := inst.numbers(list)
	r := &Rows{make([]*big.Int, len(list)), make([]map[int32]*big.Int, len(list))}
	// Of a pair with coefficient w: what it adds to the diagonal of both ends, and to the weight.
	alone, both := int64(0), int64(1)
	switch inst.Form {
	case Ising: // h s = 2h x - h, J s s' = 4J x x' - 2J x - 2J x' + J
		alone, both = -2, 4
	case MaxCut: // w [x ≠ x'] = w x + w x' - 2w x x'
		alone, both = 1, -2
	}
	if inst.Sense == Minimize {
		alone, both = -alone, -both
	}
	for k, i := range list {
		r.Diag[k], r.Weight[k] = new(big.Int), map[int32]*big.Int{}
		switch linear := number(i, -1); {
		case inst.Form == Ising:
			r.Diag[k].Mul(linear, big.NewInt(-alone))
		case inst.Sense == Minimize:
			r.Diag[k].Neg(linear)
		default:
			r.Diag[k].Set(linear)
		}
		for at := inst.Start[i]; at < inst.Start[i+1]; at++ {
			w, j := number(i, at), inst.Col[at]
			r.Diag[k].Add(r.Diag[k], new(big.Int).Mul(w, big.NewInt(alone)))
			switch l, ok := place[j]; {
			case ok:
				r.Weight[k][l] = new(big.Int).Mul(w, big.NewInt(both))
			case Bit(x, int(j)) == 1:
				r.Diag[k].Add(r.Diag[k], new(big.Int).Mul(w, big.NewInt(both)))
			}
		}
	}
	return r
}

// numbers returns a function of a variable in list, and of one of its pairs: the coefficient of the
// pair, or of the variable alone if the pair is -1, in units of a power of two that divides all of
// them.
func (inst *Instance) numbers(list []int32) func(i int32, at int64) *big.Int {
	if t := inst.Int; t != nil {
		return func(i int32, at int64) *big.Int {
			if at < 0 {
				return big.NewInt(t.Linear[i])
			}
			return big.NewInt(t.Pair[at])
		}
	}
	t := inst.Real
	rows := &Terms[float64]{}
	for _, i := range list {
		rows.Linear = append(rows.Linear, t.Linear[i])
		rows.Pair = append(rows.Pair, t.Pair[inst.Start[i]:inst.Start[i+1]]...)
	}
	grain := takeCensus(rows).grain
	return func(i int32, at int64) *big.Int {
		v := t.Linear[i]
		if at >= 0 {
			v = t.Pair[at]
		}
		if v == 0 {
			return new(big.Int)
		}
		fraction, e := math.Frexp(v)
		m := big.NewInt(int64(math.Ldexp(fraction, 53)))
		if e -= 53 + grain; e < 0 {
			return m.Rsh(m, uint(-e)) // of zeros
		}
		return m.Lsh(m, uint(e))
	}
}
