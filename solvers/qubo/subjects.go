package qubo

import (
	"slices"

	"coalesce/autotune/subject"
	"coalesce/solvers/qubo/internal/host"
	"coalesce/solvers/qubo/internal/multistart"
	"coalesce/solvers/qubo/internal/stableset"
	"coalesce/solvers/qubo/internal/tabu"
	"coalesce/solvers/qubo/internal/tempering"
)

// Subjects are the families of this problem that the tuner covers.
func Subjects() []subject.Subject {
	return slices.Concat([]subject.Subject{tabu.Subject{}, tempering.Subject{}, stableset.Subject{}, deviceAlgorithmsSubject()}, multistart.Subjects(), host.Subjects())
}
