package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"coalesce/bench/experiment"
	"coalesce/bench/result"
	"coalesce/runtime/device"
	solver "coalesce/solvers/qubo"
	quboproblem "coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// A surface is a drawn lattice of spins: a square grid, closed in both directions where torus is set, of couplings that are signs or normal.
type surface struct {
	side   int
	torus  bool
	normal bool
}

func (s surface) String() string {
	return fmt.Sprintf("%s%d%s", map[bool]string{true: "torus", false: "grid"}[s.torus], s.side, map[bool]string{true: "-normal", false: "-signs"}[s.normal])
}

// surfaces are those that are drawn. The tori of the G-set come before.
var surfaces = []surface{
	{60, true, false}, {100, true, false}, {150, true, false}, {60, true, true}, {100, true, true},
	{300, false, false}, {300, false, true}, {1000, false, false}, {1000, false, true},
}

// tori are those of the G-set.
var tori = []string{"G11", "G12", "G13", "G32", "G33", "G34", "G48", "G49", "G50", "G57", "G62", "G65", "G66", "G67", "G72", "G77", "G81"}

// draw draws a lattice with a seed.
func (s surface) draw(seed uint64) (*quboproblem.Instance, error) {
	r := rand.New(rand.NewPCG(seed, uint64(s.side)))
	b := quboproblem.NewBuilder(s.side * s.side)
	b.Form(quboproblem.Ising)
	b.Minimize()
	couple := func(v, w int) {
		if s.normal {
			b.Pair(v, w, r.NormFloat64())
		} else {
			b.PairInt(v, w, 2*r.Int64N(2)-1)
		}
	}
	for i := range s.side {
		for k := range s.side {
			if s.torus || k+1 < s.side {
				couple(i*s.side+k, i*s.side+(k+1)%s.side)
			}
			if s.torus || i+1 < s.side {
				couple(i*s.side+k, (i+1)%s.side*s.side+k)
			}
		}
	}
	return b.Build()
}

// solveSurfaces solves the tori of the G-set, and drawn grids and tori of every seed, within the limit. Seconds are wall-clock, and Runs
// has the processor's.
func (b *bench) solveSurfaces() error {
	b.ResumeRows()
	known := slices.DeleteFunc(cutProblems(), func(p problem) bool { return !slices.Contains(tori, p.name) })
	err := b.eachProblem(known, "surfaces", func(p problem, inst *quboproblem.Instance) error {
		b.addRow(b.solveSurface(p.name, p.known, 1, inst))
		return nil
	})
	if err != nil {
		return err
	}
	for _, s := range surfaces {
		for seed := uint64(1); seed <= uint64(b.settings.seeds) && b.isSelected(s.String()); seed++ {
			if b.OutOfTime() {
				return experiment.ErrLate
			}
			inst, err := s.draw(seed)
			if err != nil {
				return err
			}
			b.addRow(b.solveSurface(s.String(), 0, seed, inst))
		}
	}
	return nil
}

// solveSurface is the row of a solve.
func (b *bench) solveSurface(name string, known float64, seed uint64, inst *quboproblem.Instance) result.Binary {
	limit := b.settings.limitFor(inst.N)
	row := result.Binary{Name: "planar", Instance: name, N: inst.N, Seed: seed, Known: known, Attempt: result.Attempt{Limit: limit.Seconds()}, Timed: result.Timed{What: "bounds"}}
	began, before := time.Now(), experiment.ProcessorSeconds()
	r, err := solver.Solve(b.Ctx, inst, solver.Options{Settings: solve.Settings{Devices: append([]device.Device{b.Dev}, b.Others...), TimeLimit: limit, Seed: 1}})
	row.Seconds, row.Runs = time.Since(began).Seconds(), []float64{experiment.ProcessorSeconds() - before}
	if err != nil {
		row.Failed = err.Error()
		return row
	}
	row.Value, row.Variant = r.Value.Float(), r.Variant
	row.Bounded = result.Bounded{Bound: r.Bound.Float(), BoundKind: string(r.BoundKind), Proven: r.Proven}
	return row
}
