package main

import (
	"fmt"
	"math/rand/v2"

	"coalesce/bench/experiment"
	quboproblem "coalesce/solvers/qubo/problem"
)

// A sparse instance is drawn: spins on a torus of side rows and columns with linear terms, or, where side is 0, n spins with degree pairs each on average.
// Coefficients are signs or normal.
type sparse struct {
	side, n, degree int
	normal          bool
}

func (s sparse) String() string {
	name := map[bool]string{true: "normal", false: "signs"}[s.normal]
	if s.side > 0 {
		return fmt.Sprintf("fields%d-%s", s.side, name)
	}
	return fmt.Sprintf("degree%d-%d-%s", s.degree, s.n, name)
}

// sparseInstances are those that are drawn.
var sparseInstances = []sparse{
	{side: 10}, {side: 15}, {side: 20}, {side: 25}, {side: 20, normal: true}, {side: 30, normal: true},
	{n: 200, degree: 3}, {n: 400, degree: 3}, {n: 300, degree: 3, normal: true},
	{n: 100, degree: 4}, {n: 150, degree: 4}, {n: 200, degree: 4}, {n: 200, degree: 4, normal: true},
	{n: 80, degree: 6}, {n: 120, degree: 6}, {n: 100, degree: 6, normal: true},
}

// draw draws an instance with a seed.
func (s sparse) draw(seed uint64) (*quboproblem.Instance, error) {
	r := rand.New(rand.NewPCG(seed, uint64(1000*s.n+10*s.side+s.degree)))
	n := s.n + s.side*s.side
	b := quboproblem.NewBuilder(n)
	b.Form(quboproblem.Ising)
	b.Minimize()
	coefficient := func() float64 {
		if s.normal {
			return r.NormFloat64()
		}
		return float64(2*r.IntN(2) - 1)
	}
	if s.side > 0 {
		for i := range s.side {
			for k := range s.side {
				b.Linear(i*s.side+k, coefficient())
				b.Pair(i*s.side+k, i*s.side+(k+1)%s.side, coefficient())
				b.Pair(i*s.side+k, (i+1)%s.side*s.side+k, coefficient())
			}
		}
		return b.Build()
	}
	met := map[[2]int]bool{}
	for len(met) < n*s.degree/2 {
		i, j := r.IntN(n), r.IntN(n)
		if e := [2]int{min(i, j), max(i, j)}; i != j && !met[e] {
			met[e] = true
			b.Pair(i, j, coefficient())
		}
	}
	return b.Build()
}

// solveSparse solves drawn sparse instances of every seed, within the limit. Seconds are wall-clock, and Runs has the processor's.
func (b *bench) solveSparse() error {
	b.ResumeRows()
	for _, s := range sparseInstances {
		for seed := uint64(1); seed <= uint64(b.settings.seeds) && b.isSelected(s.String()); seed++ {
			if b.OutOfTime() {
				return experiment.ErrLate
			}
			inst, err := s.draw(seed)
			if err != nil {
				return err
			}
			row := b.solveSurface(s.String(), 0, seed, inst)
			row.Name = "sparse"
			b.addRow(row)
		}
	}
	return nil
}
