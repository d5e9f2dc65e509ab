// Package main tunes a kernel of the 0/1 knapsack problem with Coalesce's compiler and tuner.
package main

import (
	"math/rand/v2"

	"coalesce/autotune/kernel"
	"coalesce/autotune/kernel/command"
	"coalesce/runtime/device"

	"example.org/knapsack/generated/knapsack"
)

//go:generate go tool gen

// An instance has items with weights and values, and the capacity of the knapsack.
type instance struct {
	capacity int
	weights  []uint64
	values   []int64
}

// passes is the family knapsack/passes.
var passes = &kernel.Family[*instance, *knapsack.PassesKernels]{
	Kernels: &knapsack.Passes,
	Load:    knapsack.LoadPasses,
	Unit:    "units of capacity",
	SizesOn: map[string][]int{device.CUDA: {1 << 20, 1 << 24}, device.Emulated: {2000, 20000}},
	Size:    func(x *instance) int { return x.capacity },
	Draw: func(_ kernel.Workload, capacity int, r *rand.Rand) *instance {
		x := &instance{capacity: capacity}
		for range 7 {
			x.weights, x.values = append(x.weights, 1+r.Uint64N(uint64(capacity))), append(x.values, r.Int64N(1000))
		}
		return x
	},
	Bind: func(b *kernel.Binder, k *knapsack.PassesKernels, x *instance) kernel.Launches {
		n, items := x.capacity+1, b.Int("items")
		weights, values := kernel.Input(b, "weights", x.weights), kernel.InputValues(b, "values", x.values)
		old, table := kernel.InputValues(b, "empty", make([]int64, n)), kernel.OutputValues(b, "table", n, kernel.Equal(x.reference))
		other := kernel.ScratchValues(b, "other", n)
		grid := kernel.Grid(n, b.Int("block")*b.Int("each"), b.Int("block"))
		rounds := (len(x.weights) + items - 1) / items
		return func(s device.Stream) error {
			from := old
			for round := range rounds {
				to := table
				if (rounds-round)%2 == 0 { // the last round writes the table
					to = other
				}
				if err := k.Pass(s, grid, from, to, weights, values, uint64(round*items), uint64(len(x.weights)), uint64(x.capacity)); err != nil {
					return err
				}
				from = to
			}
			return nil
		}
	},
}

// reference fills the table an item at a time.
func (x *instance) reference() []float64 {
	table := make([]float64, x.capacity+1)
	for k, weight := range x.weights {
		for c := x.capacity; c >= int(weight); c-- {
			table[c] = max(table[c], table[c-int(weight)]+float64(x.values[k]))
		}
	}
	return table
}

func main() { command.Main(passes) }
