// Package model solves models of binary variables, spins and bounded integers: an objective of products of any degree, and linear
// constraints. A model is read from a file (Read) or built (problem.New). Solve keeps one-hot groups and cardinalities by its moves, finds
// weights for other constraints itself, and proves small models by visiting all solutions. Models of degree two without constraints
// are binary quadratic programs, which solvers/qubo solves on all devices; those of degree three and four without constraints are searched
// by a family of kernels of this problem.
package model

import (
	"io"

	"coalesce/autotune/subject"
	"coalesce/solvers/model/internal/formats"
	"coalesce/solvers/model/internal/polynomial"
	"coalesce/solvers/model/problem"
	"coalesce/solvers/solve"
)

// Formats are the names of the formats that are read.
func Formats() []string { return formats.Names() }

// DescribeFormat describes a format in one sentence.
func DescribeFormat(format string) string { return formats.Describe(format) }

// Read reads a model from a file in one of Formats, plain or compressed. It may take memory bytes, 0: no limit. Errors begin with the
// file and the line.
func Read(path string, memory int64) (*problem.Model, error) {
	m, err := formats.Read(path, memory)
	return m, solve.AsInputError(err)
}

// ReadFrom is Read on an open stream; errors call it name.
func ReadFrom(r io.Reader, name string, memory int64) (*problem.Model, error) {
	m, err := formats.ReadFrom(r, name, memory)
	return m, solve.AsInputError(err)
}

// Subjects are the families of this problem that the tuner covers.
func Subjects() []subject.Subject { return polynomial.Subjects() }
