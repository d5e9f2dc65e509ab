package variants

import (
	"cmp"
	"fmt"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/hosttiles"
	"coalesce/solvers/csg/internal/price"
	"coalesce/solvers/csg/internal/splits"
	"coalesce/solvers/csg/internal/tiles"
	"coalesce/solvers/csg/problem"
)

// Memory is the least memory in bytes that a variant takes on each of so many devices for n agents.
func Memory(f *device.Family, v *device.Variant, n, devices int) int64 {
	switch {
	case f == &gencsg.Tiles:
		return tiles.Memory(v, n)
	case f == &gencsg.Price:
		return price.Memory(v, n, devices)
	case f.Target == device.Host:
		return hosttiles.Memory(v, n)
	}
	return splits.Memory(v, n)
}

// CheckFeasible returns an error where a variant cannot solve n agents on some devices, the
// weakest of which has these facts.
func CheckFeasible(f *device.Family, v *device.Variant, facts device.Facts, n, devices int) error {
	if f == &gencsg.Splits && n > splits.MaxAgents {
		return fmt.Errorf("%s: %d agents, at most %d", f.Name, n, splits.MaxAgents)
	}
	if f == &gencsg.Price && n < price.TileBits(v) {
		return fmt.Errorf("%s: %d agents, at least %d", f.Name, n, price.TileBits(v))
	}
	need := Memory(f, v, n, devices)
	if f == &gencsg.Tiles && devices > 1 {
		need = tiles.CutFor(v, n, devices, facts.Free).Bytes(int64(problem.Value(f.Value(v, "value")).Size()), devices)
	}
	if facts.Free > 0 && need > facts.Free {
		return fmt.Errorf("%d agents take %s: %w", n, facts.MemoryShortage(float64(need)), device.ErrMemory)
	}
	if f.Target == device.Host {
		return nil
	}
	shared := int64(0)
	if f == &gencsg.Tiles {
		shared = int64(tiles.SharedMemory(v))
	}
	return facts.BlockFits(f.Int(v, "block"), shared)
}

// CheckSize says why no kernel solves n agents with values of a type on some devices, the weakest
// of which has these facts, before anything is read or drawn; nil where one may. A host holds
// the instance in the same memory that the kernels work in.
func CheckSize(facts device.Facts, n int, value problem.Value, devices int) error {
	if facts.Kind == device.Host {
		need := 2 * problem.Footprint(n, value)
		if value == problem.Int16 { // solved in int32
			need = problem.Footprint(n, problem.Int16) + 2*problem.Footprint(n, problem.Int32)
		}
		if facts.Free > 0 && n <= problem.MaxAgents && need > facts.Free {
			return fmt.Errorf("the %s values and the table of %d agents take %s: %w", value, n, facts.MemoryShortage(float64(need)), device.ErrMemory)
		}
		return nil
	}
	var refused error
	for _, f := range append(Families(facts.Kind), &gencsg.Price) {
		for k := range f.Variants {
			v := &f.Variants[k]
			if f.Value(v, "value") != string(value) {
				continue
			}
			err := CheckFeasible(f, v, facts, n, devices)
			if err == nil {
				return nil
			}
			refused = cmp.Or(refused, err)
		}
	}
	return refused
}
