package problem

import (
	"runtime"
	"slices"
	"sync/atomic"

	"coalesce/solvers/cores"
)

// A triangle is the upper triangle of a matrix, row by row, columns ascending, each
// entry once: pairs i < j, and linear terms i == j.
type triangle[T Number] struct {
	i, j []int32
	v    []T
}

// termsOf arranges entries of values as the terms of an instance, whose pairs it
// sets too. Entries of the same variables are added up where sum says so, else a
// RepeatedError; pairs of 0 are left out.
func termsOf[T Number](e *Entries, inst *Instance, values []T, sum bool) (*Terms[T], error) {
	t := triangle[T]{e.i, e.j, values}
	switch {
	case ascending(e.i, e.j):
	case ascending(e.j, e.i):
		t.i, t.j = e.j, e.i
	default:
		var err error
		if t, err = sorted(e, inst.N, values, sum); err != nil {
			return nil, err
		}
	}
	factor := T(1)
	if e.Twice {
		factor = 2
	}
	return t.terms(inst, factor), nil
}

// ascending reports whether entries of rows i and columns j are a triangle as they
// stand.
func ascending(i, j []int32) bool {
	var wrong atomic.Bool
	cores.Split(len(i), 1<<16, func(from, to int) {
		for k := from; k < to && !wrong.Load(); k++ {
			if i[k] > j[k] || k > 0 && (i[k-1] > i[k] || i[k-1] == i[k] && j[k-1] >= j[k]) {
				wrong.Store(true)
			}
		}
	})
	return !wrong.Load()
}

// sorted sorts entries into a triangle, by counting: by column, then, stably, by row.
func sorted[T Number](e *Entries, n int, values []T, sum bool) (t triangle[T], err error) {
	order := counted(n, len(e.i), func(at int) int32 { return int32(at) }, func(k int32) int32 { return max(e.i[k], e.j[k]) })
	order = counted(n, len(e.i), func(at int) int32 { return order[at] }, func(k int32) int32 { return min(e.i[k], e.j[k]) })
	t = triangle[T]{make([]int32, 0, len(order)), make([]int32, 0, len(order)), make([]T, 0, len(order))}
	for at, k := range order {
		i, j := min(e.i[k], e.j[k]), max(e.i[k], e.j[k])
		last := len(t.i) - 1
		switch {
		case last < 0 || t.i[last] != i || t.j[last] != j:
			t.i, t.j, t.v = append(t.i, i), append(t.j, j), append(t.v, values[k])
		case sum:
			t.v[last] += values[k]
		default:
			return t, &RepeatedError{int(order[at-1]), int(k)}
		}
	}
	return t, nil
}

// counted sorts the entries 0 to count-1, which come in an order, by their keys, which are below
// n. Entries of the same key keep their order.
func counted(n, count int, entry func(at int) int32, key func(k int32) int32) []int32 {
	at := make([]int32, n+1)
	for k := range int32(count) {
		at[key(k)+1]++
	}
	for i := range n {
		at[i+1] += at[i]
	}
	order := make([]int32, count)
	for k := range count {
		k := entry(k)
		to := &at[key(k)]
		order[*to] = k
		*to++
	}
	return order
}

// piece is how many rows a core works on at once.
const piece = 256

// terms are those of the entries, pairs times a factor. It sets the instance's
// pairs: in row i those of i and less stand first, then those of i and more.
func (t triangle[T]) terms(inst *Instance, factor T) *Terms[T] {
	n := inst.N
	out := &Terms[T]{Linear: make([]T, n)}
	row := make([]int, n+1) // where the entries of rows begin
	for _, i := range t.i {
		row[i+1]++
	}
	for i := range n {
		row[i+1] += row[i]
	}
	at := make([]int64, n) // pairs of i and less
	t.byColumns(row, func(_, j int32, v T) {
		at[j]++
	})
	inst.Start = make([]int64, n+1)
	cores.Pieces((n+piece-1)/piece, func(p int) {
		for i := p * piece; i < min(n, (p+1)*piece); i++ {
			inst.Start[i+1] = at[i]
			for k := row[i]; k < row[i+1]; k++ {
				switch {
				case int(t.j[k]) == i:
					out.Linear[i] = t.v[k]
				case t.v[k] != 0:
					inst.Start[i+1]++
				}
			}
		}
	})
	for i := range n {
		inst.Start[i+1] += inst.Start[i]
	}
	inst.Col, out.Pair = make([]int32, inst.Start[n]), make([]T, inst.Start[n])
	cores.Pieces((n+piece-1)/piece, func(p int) {
		for i := p * piece; i < min(n, (p+1)*piece); i++ {
			to := inst.Start[i] + at[i]
			at[i] = inst.Start[i]
			for k := row[i]; k < row[i+1]; k++ {
				if int(t.j[k]) != i && t.v[k] != 0 {
					inst.Col[to], out.Pair[to] = t.j[k], factor*t.v[k]
					to++
				}
			}
		}
	})
	t.byColumns(row, func(i, j int32, v T) {
		inst.Col[at[j]], out.Pair[at[j]] = i, factor*v
		at[j]++
	})
	return out
}

// oneCore is how many entries one core lists by columns quicker than several.
const oneCore = 1 << 14

// byColumns calls back every pair i < j that is not 0, on all cores: those of one
// column on one core, rows ascending. Every core passes over all rows, for some of
// the columns; where rows are long, for so few that what each writes stays in its
// cache. Entries of row i begin at row[i].
func (t triangle[T]) byColumns(row []int, each func(i, j int32, v T)) {
	n := len(row) - 1
	blocks := 1
	if len(t.i) > oneCore {
		blocks = max(runtime.GOMAXPROCS(0), min(n/piece, len(t.i)/n))
	}
	cores.Pieces(blocks, func(b int) {
		low, high := int32(n*b/blocks), int32(n*(b+1)/blocks)
		for i := range high {
			js := t.j[row[i]:row[i+1]]
			from, _ := slices.BinarySearch(js, max(low, i+1))
			for k := from; k < len(js) && js[k] < high; k++ {
				if v := t.v[row[i]+k]; v != 0 {
					each(i, js[k], v)
				}
			}
		}
	})
}
