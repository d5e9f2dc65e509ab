package csg

import (
	"fmt"
	"math/big"
	"time"

	"coalesce/solvers/csg/internal/plan"
	"coalesce/solvers/csg/internal/reference"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// A Method is which splittings are evaluated. All methods find the optimum.
type Method = reference.Method

// The methods, which package reference describes.
const (
	DP    = reference.DP
	IDP   = reference.IDP
	Apart = reference.Apart
)

// ByPrices is the algorithm that evaluates no splittings: prices of a linear program
// leave few coalitions, among which it searches (package price).
const ByPrices = plan.ByPrices

// Methods are the methods, in the order of their introduction.
func Methods() []Method { return reference.Methods() }

// Splittings is how many splittings a method evaluates for n agents.
func Splittings(m Method, n int) (*big.Int, error) { return reference.Splittings(m, n) }

// Reference solves an instance on one core, one splitting after the other. Tests and --verify
// compare every other solver with it.
func Reference(inst *problem.Instance, m Method) (*Result, error) {
	inst, err := inMemory(inst)
	if err != nil {
		return nil, fmt.Errorf("reference: %w", err)
	}
	if err := reference.CheckMethod(m); err != nil {
		return nil, fmt.Errorf("reference: %w", solve.AsInputError(err))
	}
	if inst.Blocks() != (problem.Counts{}) {
		return nil, fmt.Errorf("reference: %w", solve.InvalidInput("instance", "found a number of blocks, expected none: the reference counts no blocks"))
	}
	start := time.Now()
	s, exact, count := reference.Solve(inst, m)
	r := NewResult(inst)
	r.Structure, r.Splittings = s, float64(count)
	r.Device, r.Variant, r.Algorithm = "reference", string(m), string(m)
	r.Reason = "one core, one splitting after the other"
	r.Seconds.Solve = time.Since(start).Seconds()
	if err := r.Certify(inst, exact); err != nil {
		return r, fmt.Errorf("reference: %w", err)
	}
	return r, nil
}

// Table is the table f that a method ends with, and the number of splittings it
// evaluated: f[S] is the best value found of a partition of S. With DP that is the optimum
// for every S; with IDP and Apart it is for the grand coalition, and a lower bound for
// others (no less than v).
func Table[T problem.Number](v []T, m Method) (f []T, splittings uint64) {
	return reference.Table(v, m)
}

// StructureOf rebuilds an optimal structure from f (Algorithm 2 of GPU-CSG): a
// coalition no splitting of which attains f is a block. Where a coalition is
// worth as much whole as split, it stays whole when v is given; v may be nil.
func StructureOf[T problem.Number](v, f []T) problem.Structure {
	return reference.Restore(v, f, uint64(len(f)-1))
}
