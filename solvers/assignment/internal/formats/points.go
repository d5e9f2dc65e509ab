package formats

import (
	"errors"
	"fmt"

	"coalesce/solvers/assignment/problem"
)

// ReadPoints reads the points of rows and of columns from two files of any
// dense format that Read knows, a point a row.
func ReadPoints(rows, cols string, metric problem.Metric, floor bool, o ReadOptions) (*problem.Instance, error) {
	o.Maximize = false
	p := problem.Points{Metric: metric, Floor: floor}
	var dims [2]int
	o.Memory = o.costMemory()
	for k, path := range []string{rows, cols} {
		inst, err := Read(path, o)
		if err != nil {
			return nil, err
		}
		copied := 8 * int64(inst.Len())
		if copied >= o.Memory {
			err := fmt.Errorf("%s: %d coordinates take %d bytes, more than the %d left of the limit", path, inst.Len(), copied, o.Memory)
			return nil, errors.Join(err, inst.Close())
		}
		o.Memory -= copied
		list, err := coordinates(inst)
		if err := errors.Join(err, inst.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		dims[k] = inst.Cols
		if k == 0 {
			p.Row = list
		} else {
			p.Col = list
		}
	}
	if dims[0] != dims[1] {
		return nil, fmt.Errorf("found points of %d coordinates in %s and of %d in %s, expected as many", dims[0], rows, dims[1], cols)
	}
	p.Dim = dims[0]
	return problem.NewPoints(p, rows+", "+cols)
}

// coordinates are the entries of a matrix as float64, in memory of their own.
func coordinates(inst *problem.Instance) ([]float64, error) {
	if !inst.Dense() {
		return nil, errors.New("found a sparse matrix, expected a point a row")
	}
	if inst.Type.Integer() && countForbidden(inst) > 0 {
		return nil, errors.New("found coordinates that are infinite, or the largest of their type, expected smaller ones")
	}
	list := make([]float64, inst.Len())
	for k := range list {
		switch inst.Type {
		case problem.Int32:
			list[k] = float64(inst.I32[k])
		case problem.Int64:
			if list[k] = float64(inst.I64[k]); inst.Unsigned {
				list[k] = float64(uint64(inst.I64[k]) ^ 1<<63)
			}
		case problem.Float32:
			list[k] = float64(inst.F32[k])
		default:
			list[k] = inst.F64[k]
		}
	}
	return list, nil
}
