package reference

import (
	"cmp"
	"math/big"
	"slices"

	"coalesce/solvers/qubo/problem"
)

// A branching finds the best solutions of a few variables by branch and bound, in exact
// arithmetic.
type branching struct {
	few   *problem.SmallProblem
	order []int // of variables: those with large coefficients first
	stop  func() bool
	fits  func(x uint64) bool // nil: every solution counts
	limit int                 // solutions wanted
	best  []leaf              // the best first

	field [][]*big.Int // by depth: what a variable adds, given those before it
	value []*big.Int   // by depth, of the variables before it
	later [][]*big.Int // by depth: the sum of the weights to variables from it on
	pairs []*big.Int   // by depth: the sum of w + |w| over pairs from it on
	high  []*big.Int   // of a variable: the sum of the positive weights to those after it
	nodes int
	ended bool

	sum, fields, term big.Int // of hopeless
}

type leaf struct {
	value *big.Int
	x     uint64
}

// NodesPerCheck is how many nodes BestSolutions visits between two calls of stop.
const NodesPerCheck = 1 << 10

// BestSolutions returns the best limit solutions of a few variables, the best first, bit i for variable i.
// Where fits is not nil those alone count for which it is true. complete is false where stop ended
// the visit: solutions that are better may be missing then.
func BestSolutions(f *problem.SmallProblem, limit int, fits func(x uint64) bool, stop func() bool) (list []uint64, complete bool) {
	b := &branching{few: f, limit: limit, fits: fits, stop: stop}
	b.prepare()
	b.visit(0, 0)
	for _, l := range b.best {
		list = append(list, l.x)
	}
	return list, !b.ended
}

func (b *branching) prepare() {
	f, n := b.few, b.few.N
	sizes := make([]*big.Int, n)
	for i := range n {
		sizes[i] = new(big.Int).Abs(f.Diag[i])
		for _, w := range f.Weight[i] {
			if w != nil {
				sizes[i].Add(sizes[i], new(big.Int).Abs(w))
			}
		}
		b.order = append(b.order, i)
	}
	slices.SortStableFunc(b.order, func(i, j int) int { return sizes[j].Cmp(sizes[i]) })
	row := func() []*big.Int {
		list := make([]*big.Int, n)
		for k := range list {
			list[k] = new(big.Int)
		}
		return list
	}
	b.high = row()
	for range n + 1 {
		b.field, b.later = append(b.field, row()), append(b.later, row())
		b.value, b.pairs = append(b.value, new(big.Int)), append(b.pairs, new(big.Int))
	}
	for k, i := range b.order {
		b.field[0][k].Set(f.Diag[i])
	}
	for d := n - 1; d >= 0; d-- {
		b.pairs[d].Set(b.pairs[d+1])
		for k := d + 1; k < n; k++ {
			b.later[d][k].Set(b.later[d+1][k])
			w := f.Weight[b.order[d]][b.order[k]]
			if w == nil {
				continue
			}
			b.later[d][k].Add(b.later[d][k], w)
			b.later[d][d].Add(b.later[d][d], w)
			if w.Sign() > 0 {
				b.high[d].Add(b.high[d], w)
				b.pairs[d].Add(b.pairs[d], new(big.Int).Lsh(w, 1))
			}
		}
	}
}

// visit visits the solutions whose first d variables are as in x.
func (b *branching) visit(d int, x uint64) {
	if b.nodes++; b.nodes%NodesPerCheck == 0 && b.stop() {
		b.ended = true
	}
	switch {
	case b.ended || len(b.best) == b.limit && b.hopeless(d):
		return
	case d == b.few.N:
		b.leaf(x)
		return
	}
	first := b.field[d][d].Sign() > 0 // 1 before 0
	for _, one := range []bool{first, !first} {
		next := b.field[d+1]
		if !one {
			for k := d + 1; k < b.few.N; k++ {
				next[k].Set(b.field[d][k])
			}
			b.value[d+1].Set(b.value[d])
			b.visit(d+1, x)
			continue
		}
		i := b.order[d]
		for k := d + 1; k < b.few.N; k++ {
			if w := b.few.Weight[i][b.order[k]]; w != nil {
				next[k].Add(b.field[d][k], w)
			} else {
				next[k].Set(b.field[d][k])
			}
		}
		b.value[d+1].Add(b.value[d], b.field[d][d])
		b.visit(d+1, x|1<<i)
	}
}

// hopeless reports that no solution whose first d variables are given is better than the last of
// the best, by the two bounds of problem.RowSums.
func (b *branching) hopeless(d int) bool {
	sum, fields, t := &b.sum, &b.fields, &b.term
	sum.SetInt64(0)
	fields.Set(b.pairs[d])
	for k := d; k < b.few.N; k++ {
		field := b.field[d][k]
		if t.Add(field, b.high[k]); t.Sign() > 0 {
			sum.Add(sum, t)
		}
		t.Lsh(field, 1)
		fields.Add(fields, t)
		t.Add(t, b.later[d][k])
		fields.Add(fields, t.Abs(t))
	}
	missing := t.Sub(b.best[b.limit-1].value, b.value[d])
	if sum.Cmp(missing) <= 0 {
		return true
	}
	return fields.Cmp(missing.Lsh(missing, 2)) <= 0
}

func (b *branching) leaf(x uint64) {
	if b.fits != nil && !b.fits(x) {
		return
	}
	value := new(big.Int).Set(b.value[b.few.N])
	at, _ := slices.BinarySearchFunc(b.best, value, func(l leaf, v *big.Int) int {
		return cmp.Or(v.Cmp(l.value), -1)
	})
	if b.best = slices.Insert(b.best, at, leaf{value, x}); len(b.best) > b.limit {
		b.best = b.best[:b.limit]
	}
}
