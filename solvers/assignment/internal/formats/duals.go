package formats

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/formats"
)

// ReadDuals reads duals in an instance's costs from a JSON file: a result that
// was printed with its duals, or an object of u and v. They may be of the
// instance before its costs changed, but not of another size.
func ReadDuals(path string, inst *problem.Instance) (*problem.Duals, error) {
	text, err := formats.ReadFile(path, MaxDuals(inst))
	if err != nil {
		return nil, fmt.Errorf("read duals: %w", err)
	}
	file, err := parseLists(text, path, inst)
	if err != nil {
		return nil, err
	}
	d := &problem.Duals{Scale: 1}
	if inst.Maximize {
		d.Scale = -1
	}
	if !inst.Type.Integer() {
		largest := 0.0
		for _, list := range [][]json.Number{file.U, file.V} {
			for _, x := range list {
				f, err := x.Float64()
				if err != nil {
					return nil, fmt.Errorf("%s: found the dual %q, expected a number", path, x)
				}
				largest = max(largest, math.Abs(f))
			}
		}
		_, e := math.Frexp(largest)
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

// MaxDuals is the largest file of duals of an instance, in bytes: a result has about
// 40 a row and column; names may be longer.
func MaxDuals(inst *problem.Instance) int64 { return 1<<20 + 256*int64(inst.Rows+inst.Cols) }

// ParseDuals reads the text of such a file as a proof, not to begin from: each dual
// is a whole number of units of 1/scale. Errors of duals that are none, or beyond
// problem.MaxDual, wrap problem.ErrCheck.
func ParseDuals(text []byte, name string, inst *problem.Instance, scale float64) (*problem.Duals, error) {
	file, err := parseLists(text, name, inst)
	if err != nil {
		return nil, err
	}
	d := &problem.Duals{Scale: scale}
	if d.U, err = exactly(file.U, scale); err == nil {
		d.V, err = exactly(file.V, scale)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return d, nil
}

// lists are the duals of rows and columns.
type lists struct {
	U []json.Number `json:"u"`
	V []json.Number `json:"v"`
}

func parseLists(text []byte, name string, inst *problem.Instance) (lists, error) {
	var file struct {
		Duals *lists `json:"duals"`
		lists
	}
	if err := formats.UnmarshalJSON(text, name, &file); err != nil {
		return lists{}, err
	}
	if file.Duals != nil {
		file.lists = *file.Duals
	}
	if len(file.U) != inst.Rows || len(file.V) != inst.Cols {
		return lists{}, fmt.Errorf("%s: found %s of rows and %d of columns, expected %d and %d", name, formats.Count(len(file.U), "dual"), len(file.V), inst.Rows, inst.Cols)
	}
	return file.lists, nil
}

// exactly are duals in units, as problem.Duals writes them: below 2^53 units each is a
// float64, beyond it has 20 digits, which are off by less than a 10^19th.
func exactly(list []json.Number, scale float64) ([]int64, error) {
	out := make([]int64, len(list))
	unit := big.NewFloat(scale)
	for k, x := range list {
		f, err := x.Float64()
		if f *= scale; err != nil || !(math.Abs(f) <= problem.MaxDual) {
			return nil, fmt.Errorf("%w: found the dual %.40q, expected a number of at most 2^61 units in magnitude", problem.ErrCheck, x)
		}
		whole, rest := math.Modf(f)
		if out[k] = int64(whole); math.Abs(f) >= 1<<53 {
			exact, _, err := big.ParseFloat(string(x), 10, 128, big.ToNearestEven)
			if err != nil {
				return nil, fmt.Errorf("%w: found the dual %.40q, expected a number", problem.ErrCheck, x)
			}
			exact.Mul(exact, unit)
			half := big.NewFloat(math.Copysign(0.5, f))
			out[k], _ = new(big.Float).Add(exact, half).Int64()
			rest, _ = exact.Sub(exact, new(big.Float).SetInt64(out[k])).Float64()
		}
		if math.Abs(rest) > math.Abs(f)*1e-19 {
			return nil, fmt.Errorf("%w: found the dual %.40s, expected a multiple of the unit %v", problem.ErrCheck, x, 1/scale)
		}
	}
	return out, nil
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
