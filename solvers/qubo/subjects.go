package qubo

import (
	"coalesce/autotune/subject"
	"coalesce/solvers/qubo/internal/multistart"
	"coalesce/solvers/qubo/internal/tabu"
	"coalesce/solvers/qubo/internal/tempering"
)

// Subjects are the families of this problem that the tuner covers.
func Subjects() []subject.Subject {
	return append([]subject.Subject{tabu.Subject{}, tempering.Subject{}, waysSubject()}, multistart.Subjects()...)
}
