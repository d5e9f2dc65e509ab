package payoff

import (
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"

	"coalesce/solvers/csg/problem"
)

// Sums of blocks of more agents than a tile has are those of all values one by one, of every type, of integers and floats of several limbs too.
func TestSums(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 7))
	const n = 13
	values := make([]float64, 1<<n)
	fill := func(draw func() float64) []float64 {
		for k := 1; k < len(values); k++ {
			values[k] = draw()
		}
		return values
	}
	instances := map[string]*problem.Instance{}
	set := func(name string, as func(inst *problem.Instance)) {
		inst := &problem.Instance{N: n, Source: name}
		as(inst)
		instances[name] = inst
	}
	set("int16", func(inst *problem.Instance) {
		problem.SetValues(inst, problem.Convert[float64, int16](fill(func() float64 { return float64(r.IntN(1<<16) - 1<<15) })))
	})
	set("int32", func(inst *problem.Instance) {
		problem.SetValues(inst, problem.Convert[float64, int32](fill(func() float64 { return float64(r.IntN(1<<32) - 1<<31) })))
	})
	set("int64", func(inst *problem.Instance) {
		whole := make([]int64, 1<<n)
		for k := range whole[1:] {
			whole[k+1] = int64(r.Uint64()) >> 4
		}
		problem.SetValues(inst, whole)
	})
	set("float32", func(inst *problem.Instance) {
		problem.SetValues(inst, problem.Convert[float64, float32](fill(r.NormFloat64)))
	})
	set("float64", func(inst *problem.Instance) {
		problem.SetValues(inst, append([]float64{}, fill(func() float64 { return math.Ldexp(r.NormFloat64(), r.IntN(60)-700) })...))
	})
	set("decimals", func(inst *problem.Instance) {
		problem.SetValues(inst, append([]float64{}, fill(func() float64 { return float64(r.IntN(1<<40)-1<<39) / 1000 })...))
	})
	for name, inst := range instances {
		g, err := newGame(inst, Shapley)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, block := range []uint64{1<<n - 1, 1<<n - 1 ^ 1<<4, 0b101101} {
			got, err := g.sums(t.Context(), block)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			agents := problem.Agents(block)
			all, with := bigs(len(agents)+1), make([][]*big.Int, len(agents))
			for k := range with {
				with[k] = bigs(len(agents) + 1)
			}
			for part := block; part != 0; part = (part - 1) & block {
				exact := problem.ExactValue(inst, part)
				unit := problem.NewExact().SetRat(g.unit)
				units, _ := exact.Quo(exact, unit).Int(nil)
				if g.factor > 1 {
					x := inst.Value64(part)
					units = big.NewInt(int64(math.RoundToEven(x * g.factor)))
				}
				size := bits.OnesCount64(part)
				all[size].Add(all[size], units)
				for k, agent := range agents {
					if part>>(agent-1)&1 == 1 {
						with[k][size].Add(with[k][size], units)
					}
				}
			}
			for size := range all {
				if got.all[size].Cmp(all[size]) != 0 {
					t.Fatalf("%s, block %b: %d agents add up to %v, expected %v", name, block, size, got.all[size], all[size])
				}
				for k := range with {
					if got.with[k][size].Cmp(with[k][size]) != 0 {
						t.Fatalf("%s, block %b: %d agents with %d add up to %v, expected %v", name, block, size, agents[k], got.with[k][size], with[k][size])
					}
				}
			}
		}
	}
}

// Payoffs of one block of all agents.
func BenchmarkShapley(b *testing.B) {
	r := rand.New(rand.NewPCG(62, 7))
	const n = 22
	whole, floats := make([]int32, 1<<n), make([]float64, 1<<n)
	for k := range whole[1:] {
		whole[k+1], floats[k+1] = int32(r.IntN(1000)), r.NormFloat64()
	}
	for _, of := range []string{"int32", "float64"} {
		inst := &problem.Instance{N: n}
		if problem.SetValues(inst, whole); of == "float64" {
			problem.SetValues(inst, floats)
		}
		b.Run(of, func(b *testing.B) {
			b.SetBytes(int64(inst.Type.Size()) << n)
			for b.Loop() {
				if _, err := Divide(b.Context(), inst, problem.Structure{inst.GrandCoalition()}, Shapley); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
