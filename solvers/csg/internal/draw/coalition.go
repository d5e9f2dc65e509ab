package draw

import (
	"fmt"

	"coalesce/solvers/csg/problem"
)

// Mix is the finaliser of splitmix64.
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// ByCoalition makes an instance of n agents of a type from a function of the coalition.
func ByCoalition(value problem.Value, n int, draw func(mask uint64) float64) (*problem.Instance, error) {
	if n < 0 || n > problem.MaxAgents {
		return nil, fmt.Errorf("%d agents: expected 0 to %d", n, problem.MaxAgents)
	}
	var inst *problem.Instance
	var err error
	switch value {
	case problem.Int16:
		inst, err = problem.NewInstance(valuesOf[int16](n, draw), "drawn")
	case problem.Int32:
		inst, err = problem.NewInstance(valuesOf[int32](n, draw), "drawn")
	case problem.Int64:
		inst, err = problem.NewInstance(valuesOf[int64](n, draw), "drawn")
	case problem.Float32:
		inst, err = problem.NewInstance(valuesOf[float32](n, draw), "drawn")
	case problem.Float64:
		inst, err = problem.NewInstance(valuesOf[float64](n, draw), "drawn")
	default:
		err = fmt.Errorf("value type %q: expected int16, int32, int64, float32 or float64", value)
	}
	if err == nil && inst.Type != value {
		err = fmt.Errorf("drawn values of %s became %s", value, inst.Type)
	}
	return inst, err
}

func valuesOf[T problem.Number](n int, draw func(mask uint64) float64) []T {
	v := make([]T, uint64(1)<<n)
	problem.InParallel(uint64(len(v)), func(_ int, from, to uint64) {
		for mask := max(1, from); mask < to; mask++ {
			v[mask] = T(draw(mask))
		}
	})
	return v
}
