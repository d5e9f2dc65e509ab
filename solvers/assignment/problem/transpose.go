package problem

import "coalesce/solvers/cores"

// Transpose is the instance with rows and columns exchanged, in memory of its
// own (points are shared).
func (inst *Instance) Transpose() *Instance {
	out := *inst
	out.Rows, out.Cols, out.Unmap = inst.Cols, inst.Rows, nil
	out.Supply, out.Capacity = inst.Capacity, inst.Supply
	if q := inst.Points; q != nil {
		p := *q
		p.Row, p.Col = q.Col, q.Row
		out.Points = &p
		return &out
	}
	var from []int64
	if inst.Sparse != nil {
		out.Sparse, from = inst.Sparse.transpose(inst.Cols)
	}
	switch inst.Type {
	case Int32:
		out.I32 = transposeCosts(inst, inst.I32, from)
	case Int64:
		out.I64 = transposeCosts(inst, inst.I64, from)
	case Float32:
		out.F32 = transposeCosts(inst, inst.F32, from)
	default:
		out.F64 = transposeCosts(inst, inst.F64, from)
	}
	return &out
}

// transpose exchanges rows and columns; pair k of the result is pair from[k].
func (s *Sparse) transpose(cols int) (t *Sparse, from []int64) {
	t = &Sparse{Start: make([]int64, cols+1), Col: make([]int32, len(s.Col))}
	from = make([]int64, len(s.Col))
	for _, j := range s.Col {
		t.Start[j+1]++
	}
	for j := range cols {
		t.Start[j+1] += t.Start[j]
	}
	next := append([]int64(nil), t.Start[:cols]...)
	for i := range len(s.Start) - 1 {
		for k := s.Start[i]; k < s.Start[i+1]; k++ {
			j := s.Col[k]
			t.Col[next[j]], from[next[j]] = int32(i), k
			next[j]++
		}
	}
	return t, from
}

func transposeCosts[T Number](inst *Instance, costs []T, from []int64) []T {
	out := make([]T, len(costs))
	if inst.Sparse != nil {
		for k := range out {
			out[k] = costs[from[k]]
		}
		return out
	}
	const tile = 64 // entries a side: both tiles stay in the first cache
	rows, cols := inst.Rows, inst.Cols
	cores.Split((rows+tile-1)/tile, 1, func(low, high int) {
		for i0 := low * tile; i0 < min(rows, high*tile); i0 += tile {
			for j0 := 0; j0 < cols; j0 += tile {
				for i := i0; i < min(rows, i0+tile); i++ {
					for j := j0; j < min(cols, j0+tile); j++ {
						out[j*rows+i] = costs[i*cols+j]
					}
				}
			}
		}
	})
	return out
}
