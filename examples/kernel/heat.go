// Package main tunes a kernel of its own, a step of the heat equation, with Coalesce's compiler and tuner.
package main

import (
	"math/rand/v2"

	"coalesce/autotune/kernel"
	"coalesce/autotune/kernel/command"
	"coalesce/runtime/device"

	"example.org/heat/generated/heat"
)

//go:generate go tool gen

// A plate has side x side cells with a temperature each, in whole degrees at first.
type plate struct {
	side  int
	cells []int64
}

// stepsOf is how many steps a run computes.
const stepsOf = 4

// heated is the family heat/step.
var heated = &kernel.Family[*plate, *heat.StepKernels]{
	Kernels: &heat.Step,
	Load:    heat.LoadStep,
	Unit:    "cells a side",
	Most:    1 << 15,
	SizesOn: map[string][]int{device.CUDA: {1000, 4000, 16000}, device.Emulated: {60, 150}},
	Size:    func(p *plate) int { return p.side },
	Draw: func(_ kernel.Workload, side int, r *rand.Rand) *plate {
		side = min(side, 1<<15)
		p := &plate{side, make([]int64, side*side)}
		for k := range p.cells {
			p.cells[k] = r.Int64N(200) - 100
		}
		return p
	},
	CaseSizes: []int{1, 2, 3, 8, 9, 63, 64, 65, 129, 257},
	Bind: func(b *kernel.Binder, k *heat.StepKernels, p *plate) kernel.Launches {
		n, rows := p.side, b.Int("rows")
		from := kernel.InputValues(b, "first", p.cells)
		one := kernel.ScratchValues(b, "one", n*n)
		last := kernel.OutputValues(b, "last", n*n, kernel.AllClose(1e-5, p.reference))
		strips := (n + b.Int("block") - 1) / b.Int("block")
		grid := kernel.Grid(strips*((n+rows-1)/rows), 1, b.Int("block"))
		return func(s device.Stream) error {
			old := from
			for k2 := range stepsOf {
				next := one
				if k2%2 == 1 {
					next = last
				}
				if err := k.Step(s, grid, old, next, uint64(n)); err != nil {
					return err
				}
				old = next
			}
			return nil
		}
	},
	Bytes: func(v kernel.Variant, p *plate) float64 { // each step reads and writes all cells
		return stepsOf * 2 * float64(len(p.cells)) * float64(v.Number().Size())
	},
	Operations: func(p *plate) float64 { return stepsOf * 4 * float64(len(p.cells)) }, // three additions and a multiplication a cell
	Arithmetic: kernel.Number,
}

// reference is the plainest way to the temperatures after all steps.
func (p *plate) reference() []float64 {
	n := p.side
	old := make([]float64, n*n)
	for k, x := range p.cells {
		old[k] = float64(x)
	}
	for range stepsOf {
		next := append([]float64(nil), old...)
		for y := 1; y < n-1; y++ {
			for x := 1; x < n-1; x++ {
				at := y*n + x
				next[at] = (old[at-1] + old[at+1] + old[at-n] + old[at+n]) / 4
			}
		}
		old = next
	}
	return old
}

func main() { command.Main(heated) }
