package reference

import (
	"maps"
	"math/big"
	"slices"

	"coalesce/solvers/qubo/problem"
)

// CoreVariables is the most variables of a component that Eliminate leaves for branch and bound.
const CoreVariables = 20

// firstOrder is the most pairs of a variable for which its best value is looked for whatever its neighbours are.
const firstOrder = 64

// An Elimination is an exact objective, most of whose variables follow from at most two others.
type Elimination struct {
	rows  *problem.Rows
	gone  []bool
	steps []eliminated
	cores [][]int32 // components of the remaining variables
}

// A variable i that is gone is 1 where diag + Σ weight(k) x(other(k)) > 0.
type eliminated struct {
	i      int32
	diag   *big.Int
	other  []int32
	weight []*big.Int
}

// Eliminate applies the rules of package preprocess to an objective, in exact arithmetic, and takes it over. It is false where
// a component of more than CoreVariables is left.
func Eliminate(rows *problem.Rows) (*Elimination, bool) {
	n := len(rows.Diag)
	e := &Elimination{rows: rows, gone: make([]bool, n)}
	queue, queued := make([]int32, n), slices.Repeat([]bool{true}, n)
	for i := range queue {
		queue[i] = int32(n - 1 - i)
	}
	for len(queue) > 0 {
		i := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		queued[i] = false
		if e.gone[i] {
			continue
		}
		for _, j := range e.apply(i) {
			if !queued[j] {
				queued[j] = true
				queue = append(queue, j)
			}
		}
	}
	met := slices.Clone(e.gone)
	for i := range int32(n) {
		if met[i] {
			continue
		}
		met[i] = true
		core := []int32{i}
		for k := 0; k < len(core) && len(core) <= CoreVariables; k++ {
			for j := range rows.Weight[core[k]] {
				if !met[j] {
					met[j] = true
					core = append(core, j)
				}
			}
		}
		if len(core) > CoreVariables {
			return nil, false
		}
		slices.Sort(core)
		e.cores = append(e.cores, core)
	}
	return e, true
}

// apply tries the rules on variable i, and returns its neighbours where one did.
func (e *Elimination) apply(i int32) []int32 {
	row, diag := e.rows.Weight[i], e.rows.Diag[i]
	if len(row) > firstOrder {
		return nil
	}
	low, high := new(big.Int).Set(diag), new(big.Int).Set(diag) // of what i may add
	for _, w := range row {
		if w.Sign() < 0 {
			low.Add(low, w)
		} else {
			high.Add(high, w)
		}
	}
	near := slices.Sorted(maps.Keys(row))
	switch one := low.Sign() >= 0; {
	case one || high.Sign() <= 0:
		s := eliminated{i: i, diag: new(big.Int)}
		if one {
			s.diag.SetInt64(1)
			for _, j := range near {
				e.rows.Diag[j].Add(e.rows.Diag[j], row[j])
			}
		}
		e.steps = append(e.steps, s)
	case len(near) <= 2:
		s := eliminated{i: i, diag: diag, other: near}
		best := func(w ...*big.Int) *big.Int { // of i, where others with these weights are 1
			sum := new(big.Int).Set(diag)
			for _, v := range w {
				sum.Add(sum, v)
			}
			if sum.Sign() < 0 {
				sum.SetInt64(0)
			}
			return sum
		}
		both := best()
		for _, j := range near {
			s.weight = append(s.weight, row[j])
			gain := best(row[j])
			gain.Sub(gain, best())
			e.rows.Diag[j].Add(e.rows.Diag[j], gain)
			both.Add(both, gain)
		}
		if len(near) == 2 {
			e.join(near[0], near[1], new(big.Int).Sub(best(s.weight...), both))
		}
		e.steps = append(e.steps, s)
	default:
		return nil
	}
	e.gone[i] = true
	for _, j := range near {
		delete(e.rows.Weight[j], i)
	}
	return near
}

// join adds w to the pair of i and j.
func (e *Elimination) join(i, j int32, w *big.Int) {
	if old := e.rows.Weight[i][j]; old != nil {
		w.Add(w, old)
	}
	if w.Sign() == 0 {
		delete(e.rows.Weight[i], j)
		delete(e.rows.Weight[j], i)
		return
	}
	e.rows.Weight[i][j], e.rows.Weight[j][i] = w, w
}

// Solve is a best solution; complete is false where stop ended the search for one.
func (e *Elimination) Solve(stop func() bool) (x []uint64, complete bool) {
	x = make([]uint64, problem.Words(len(e.gone)))
	complete = true
	for _, core := range e.cores {
		list, all := BestSolutions(e.rows.SmallProblem(core), 1, nil, stop)
		complete = complete && all
		for k, i := range core {
			if len(list) > 0 {
				x[i>>6] |= list[0] >> k & 1 << (i & 63)
			}
		}
	}
	for _, s := range slices.Backward(e.steps) {
		gain := new(big.Int).Set(s.diag)
		for k, j := range s.other {
			if problem.Bit(x, int(j)) == 1 {
				gain.Add(gain, s.weight[k])
			}
		}
		if gain.Sign() > 0 {
			x[s.i>>6] |= 1 << (s.i & 63)
		}
	}
	return x, complete
}
