package qubo

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"coalesce/solvers/npy"
)

// fromPairs makes an instance of a matrix of n x n, pair by pair: at(i, j) is
// what the product of i and j > i has, and at(i, i) is linear. at is called from
// several goroutines, for squares of both triangles one after the other: what it
// reads of a matrix and of its transpose stays in the cache.
func fromPairs[T Number](n int, at func(i, j int) T) *Instance {
	inst := &Instance{N: n, Form: QUBO, Sense: Maximize, Start: make([]int64, n+1)}
	t := &Terms[T]{Linear: make([]T, n)}
	const side = 8
	rows := func(each func(i, j int, v T)) {
		parallel(n, func(from, to int) {
			for top := from; top < to; top += side {
				for left := 0; left < n; left += side {
					for i := top; i < min(top+side, to); i++ {
						for j := left; j < min(left+side, n); j++ {
							if v := at(min(i, j), max(i, j)); v != 0 && j != i {
								each(i, j, v)
							}
						}
					}
				}
			}
		})
	}
	for i := range n {
		t.Linear[i] = at(i, i)
	}
	rows(func(i, _ int, _ T) { inst.Start[i+1]++ })
	for i := range n {
		inst.Start[i+1] += inst.Start[i]
	}
	inst.Col, t.Pair = make([]int32, inst.Start[n]), make([]T, inst.Start[n])
	next := slices.Clone(inst.Start[:n])
	rows(func(i, j int, v T) {
		k := next[i]
		inst.Col[k], t.Pair[k] = int32(j), v
		next[i]++
	})
	inst.setTerms(t)
	return inst
}

// setTerms sets Int or Real to t, which is one of the two.
func (inst *Instance) setTerms(t any) {
	inst.Int, _ = t.(*Terms[int64])
	inst.Real, _ = t.(*Terms[float64])
}

// squareShape wants a matrix of n x n, n as many variables as there may be.
func squareShape(rows, cols uint64) error {
	if rows != cols {
		return fmt.Errorf("found a matrix of %d x %d, expected a square", rows, cols)
	}
	if rows > MaxVariables {
		return fmt.Errorf("found %d variables, expected at most %d", rows, MaxVariables)
	}
	return nil
}

// readNPY reads a square matrix from a file of size bytes, unknown when negative.
func readNPY(r io.Reader, size int64, name string, o ReadOptions) (*Instance, error) {
	h, err := npy.ReadHeader(r)
	if err != nil {
		return nil, fmt.Errorf("%s: npy header: %w", name, err)
	}
	if len(h.Shape) != 2 {
		return nil, fmt.Errorf("%s: found an array of %d dimensions, expected two", name, len(h.Shape))
	}
	n := h.Shape[0]
	if err := squareShape(n, h.Shape[1]); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	kind, err := h.Kind()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if need := float64(n) * float64(n) * float64(kind.Held+12); need > float64(o.memory()) {
		return nil, fmt.Errorf("%s: %d x %d coefficients take up to %.0f bytes, more than the limit of %d", name, n, n, need, o.memory())
	}
	if err := h.Fill(size, kind, n*n, fmt.Sprintf("%d x %d coefficients", n, n)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	values, err := kind.Read(r, n*n, size >= 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %d x %d coefficients: %w", name, n, n, err)
	}
	var more [1]byte
	if k, err := io.ReadFull(r, more[:]); k > 0 {
		return nil, fmt.Errorf("%s: found bytes after the last of %d x %d coefficients, expected the end of the file", name, n, n)
	} else if err != io.EOF {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var inst *Instance
	switch v := values.(type) {
	case []int32:
		inst, err = fromMatrix[int32, int64](int(n), v, o.Form)
	case []int64:
		inst, err = fromMatrix[int64, int64](int(n), v, o.Form)
	case []float32:
		inst, err = fromMatrix[float32, float64](int(n), v, o.Form)
	case []float64:
		inst, err = fromMatrix[float64, float64](int(n), v, o.Form)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return inst, nil
}

// fromMatrix makes an instance of n x n values, row by row.
func fromMatrix[S int32 | int64 | float32 | float64, T Number](n int, q []S, form Form) (*Instance, error) {
	sum, err := checkMatrix(n, q, form)
	if err != nil {
		return nil, err
	}
	var zero T
	if _, whole := any(zero).(int64); whole && sum > most/16 {
		return nil, fmt.Errorf("%w: absolute values add up to %.3g, expected at most 2^58", ErrCoefficient, sum)
	}
	if sum > math.MaxFloat64/16 {
		return nil, fmt.Errorf("%w: absolute values add up to more than float64 holds", ErrCoefficient)
	}
	inst := fromPairs(n, func(i, j int) T {
		if i == j || form == MaxCut {
			return T(q[i*n+j])
		}
		return T(q[i*n+j]) + T(q[j*n+i])
	})
	if inst.Real != nil {
		inst.whole()
	}
	if form != "" {
		inst.Form = form
	}
	return inst, nil
}

// checkMatrix adds up absolute values, and wants numbers: of a graph the same ones
// on both sides of a diagonal of zeros. An error is that of the first entry.
func checkMatrix[S int32 | int64 | float32 | float64](n int, q []S, form Form) (sum float64, err error) {
	var mu sync.Mutex
	first := n
	parallel(n, func(from, to int) {
		part, at, wrong := 0.0, n, error(nil)
	rows:
		for i := from; i < to; i++ {
			for j, v := range q[i*n : (i+1)*n] {
				f := math.Abs(float64(v))
				part += f
				switch {
				case !(f <= math.MaxFloat64):
					wrong = fmt.Errorf("%w: row %d, column %d: found %v, expected a number", ErrCoefficient, i, j, v)
				case form == MaxCut && (i == j && v != 0 || q[j*n+i] != v):
					wrong = fmt.Errorf("row %d, column %d: found %v, expected a symmetric matrix without a diagonal for %s", i, j, v, MaxCut)
				default:
					continue
				}
				at = i
				break rows
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if sum += part; at < first {
			first, err = at, wrong
		}
	})
	return sum, err
}

// whole makes real coefficients that are all whole numbers integers.
func (inst *Instance) whole() {
	t := inst.Real
	if grain(t.Pair) < 0 || grain(t.Linear) < 0 || magnitude(t)+math.Abs(t.Offset) > 1<<53 || t.Offset != math.Trunc(t.Offset) {
		return
	}
	u := &Terms[int64]{Offset: int64(t.Offset), Pair: make([]int64, len(t.Pair)), Linear: make([]int64, len(t.Linear))}
	for k, v := range t.Pair {
		u.Pair[k] = int64(v)
	}
	for i, v := range t.Linear {
		u.Linear[i] = int64(v)
	}
	inst.Int, inst.Real = u, nil
}

// readMarket reads coordinates in Matrix Market's exchange format (Boisvert,
// Pozo and Remington, NISTIR 5935, 1996): real, integer or pattern (all 1);
// general or symmetric. Entries of a symmetric file stand for two where they
// are off the diagonal; repeated entries are added up.
func readMarket(in *lines, o ReadOptions) (*Instance, error) {
	first, err := in.next()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	head := strings.Fields(strings.ToLower(string(first)))
	if len(head) != 5 || head[0] != "%%matrixmarket" || head[1] != "matrix" || head[2] != "coordinate" {
		return nil, in.errorf("found %q, expected %%%%MatrixMarket matrix coordinate and two words", brief(first))
	}
	pattern := head[3] == "pattern"
	switch head[3] {
	case "real", "integer", "double", "pattern":
	default:
		return nil, in.errorf("found %s entries, expected real or integer ones", head[3])
	}
	if head[4] != "general" && head[4] != "symmetric" {
		return nil, in.errorf("found a %s matrix, expected a general or symmetric one", head[4])
	}
	in.comment = "%"
	f, err := in.want(3, "rows, columns and entries")
	if err != nil {
		return nil, err
	}
	n, m, err := in.size([][]byte{f[0], f[2]})
	if err != nil {
		return nil, err
	}
	if string(f[0]) != string(f[1]) {
		return nil, in.errorf("found a matrix of %s x %s, expected a square", brief(f[0]), brief(f[1]))
	}
	d := newDraft(o)
	d.twice = head[4] == "symmetric" && o.Form != MaxCut
	if err := d.expect(m); err != nil {
		return nil, in.errorf("%w", err)
	}
	upper := head[4] == "symmetric" || o.Form != MaxCut
	for range m {
		count := 3
		if pattern {
			count = 2
		}
		f, err := in.want(count, "row, column and coefficient")
		if err != nil {
			return nil, err
		}
		if pattern {
			f = append(f, []byte("1"))
		}
		if err := in.entry(d, f, n, list{from: 1, loops: o.Form != MaxCut}); err != nil {
			return nil, err
		}
	}
	if !upper { // a general adjacency matrix lists each edge from both ends
		if err := d.halve(); err != nil {
			return nil, fmt.Errorf("%s: %w", in.name, err)
		}
	}
	inst, err := d.instance(n, true)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.name, err)
	}
	if o.Form != "" {
		inst.Form = o.Form
	}
	return inst, in.end("the last entry")
}

// halve keeps the entries above the diagonal, and wants those below to be the
// same.
func (d *draft) halve() error {
	type pair struct{ i, j int32 }
	value := func(k int) float64 {
		if d.real != nil {
			return d.real[k]
		}
		return float64(d.whole[k])
	}
	sum := map[pair]float64{}
	for k, i := range d.i {
		if j := d.j[k]; i < j {
			sum[pair{i, j}] += value(k)
		} else {
			sum[pair{j, i}] -= value(k)
		}
	}
	for at, v := range sum {
		if v != 0 {
			return fmt.Errorf("nodes %d and %d: found two different coefficients, expected a symmetric matrix for %s", at.i+1, at.j+1, MaxCut)
		}
	}
	kept := &draft{most: d.most, twice: d.twice}
	for k, i := range d.i {
		if i > d.j[k] {
			continue
		}
		var err error
		if d.real != nil {
			err = kept.addReal(int(i), int(d.j[k]), d.real[k])
		} else {
			err = kept.add(int(i), int(d.j[k]), d.whole[k])
		}
		if err != nil {
			return err
		}
	}
	*d = *kept
	return nil
}
