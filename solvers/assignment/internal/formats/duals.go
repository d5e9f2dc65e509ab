package formats

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/formats"
)

// ReadDuals reads duals in an instance's costs from a JSON file: a result that
// was printed with its duals, or an object of u and v. They may be of the
// instance before its costs changed, but not of another size.
func ReadDuals(path string, inst *problem.Instance) (*problem.Duals, error) {
	// A result has about 40 bytes a row and column; names may be longer.
	text, err := formats.ReadFile(path, 1<<20+256*int64(inst.Rows+inst.Cols))
	if err != nil {
		return nil, fmt.Errorf("read duals: %w", err)
	}
	type lists struct {
		U []json.Number `json:"u"`
		V []json.Number `json:"v"`
	}
	var file struct {
		Duals *lists `json:"duals"`
		lists
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if file.Duals != nil {
		file.lists = *file.Duals
	}
	if len(file.U) != inst.Rows || len(file.V) != inst.Cols {
		return nil, fmt.Errorf("%s: found %d duals of rows and %d of columns, expected %d and %d", path, len(file.U), len(file.V), inst.Rows, inst.Cols)
	}
	d := &problem.Duals{Scale: 1}
	if inst.Maximize {
		d.Scale = -1
	}
	if !inst.Type.Integer() {
		most := 0.0
		for _, list := range [][]json.Number{file.U, file.V} {
			for _, x := range list {
				f, err := x.Float64()
				if err != nil {
					return nil, fmt.Errorf("%s: found the dual %q, expected a number", path, x)
				}
				most = max(most, math.Abs(f))
			}
		}
		_, e := math.Frexp(most)
		d.Scale = math.Ldexp(d.Scale, min(60-e, 1000))
	}
	if d.U, err = inUnits(file.U, d.Scale); err == nil {
		d.V, err = inUnits(file.V, d.Scale)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

// inUnits are duals times a scale, exactly where that is 1 or -1.
func inUnits(list []json.Number, scale float64) ([]int64, error) {
	out := make([]int64, len(list))
	for k, x := range list {
		if i, err := strconv.ParseInt(string(x), 10, 64); err == nil && math.Abs(scale) == 1 {
			out[k] = int64(scale) * i
			continue
		}
		f, err := x.Float64()
		if f = math.RoundToEven(f * scale); err != nil || math.Abs(f) > problem.MaxDual {
			return nil, fmt.Errorf("found the dual %q, expected a number of at most 2^61 in magnitude", x)
		}
		out[k] = int64(f)
	}
	return out, nil
}
