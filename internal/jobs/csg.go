package jobs

import (
	"bytes"
	"cmp"
	"context"
	"math/bits"
	"slices"

	"coalesce/solvers/csg"
	"coalesce/solvers/csg/listed"
	csgproblem "coalesce/solvers/csg/problem"
	"coalesce/solvers/option"
	"coalesce/solvers/solve"
)

// A CSGRequest is a game as the array values: those of all coalitions, 2^n numbers of int32, int64, float32 or float64,
// agent i (from 1) being bit i-1 of a coalition's number. Or it is the array text, the bytes of a CSV or JSON file that docs/csg.md describes,
// whose coalitions are listed: those without a value are forbidden, unless Missing is set.
type CSGRequest struct {
	// value of coalitions that a text lacks: -inf or 0
	Missing string `option:"missing" default:"-inf"`
	// members that a block may have, such as 1-3,5 or 2-
	Sizes csgproblem.Sizes `option:"sizes" default:"any number"`
	// begin with this structure: the agents of a block a line, numbers from 1, a JSON list of such lists, or the JSON of an earlier result; the
	// flag names a file of it
	Start string `option:"start" default:"none"`

	constraints listed.Constraints
	solver      csg.Options
}

func csgProblem() problem {
	return problem{"csg", csg.Subjects, func() request { return new(CSGRequest) }}
}

func (q *CSGRequest) options() option.List {
	arrays := slices.DeleteFunc(q.constraints.Fields(), func(o option.Option) bool { return o.Name == "connected" }) // is for graphs
	return slices.Concat(q.Fields(), arrays, q.solver.Fields())
}

func (q *CSGRequest) settings() *solve.Settings { return &q.solver.Settings }

func (q *CSGRequest) run(ctx context.Context, a arrays) (any, error) {
	if a["text"] != nil {
		text, err := typedArray[byte](a, "text")
		if err != nil {
			return nil, err
		}
		_, inst, err := listed.ReadFrom(bytes.NewReader(text), int64(len(text)), source, csg.ReadOptions{Missing: cmp.Or(q.Missing, "-inf")}, true)
		if err != nil {
			return nil, solve.AsInputError(err)
		}
		return q.runListed(ctx, inst)
	}
	inst, err := q.instance(a)
	if err != nil {
		return nil, err
	}
	q.constraints.Sizes = q.Sizes
	if err := inst.Constrain(q.constraints); err != nil {
		return nil, solve.AsInputError(err)
	}
	if q.Start != "" {
		if q.solver.Start, err = csg.ParseBlocks([]byte(q.Start), "start", inst.N, nil); err != nil {
			return nil, solve.AsInputError(err)
		}
	}
	return resultOrNil(csg.Solve(ctx, inst, q.solver))
}

// runListed solves a game whose coalitions are listed.
func (q *CSGRequest) runListed(ctx context.Context, inst *listed.Instance) (any, error) {
	o := listed.Options{Settings: q.solver.Settings, Constraints: q.constraints, Payoff: q.solver.Payoff}
	o.Sizes = q.Sizes
	if q.Start != "" {
		blocks, err := csg.ParseBlocks([]byte(q.Start), "start", inst.N, inst.Names)
		if err != nil {
			return nil, solve.AsInputError(err)
		}
		o.Start = blocks
	}
	return resultOrNil(listed.Solve(ctx, inst, o))
}

// source is what messages call an instance that a program gave.
const source = "memory"

// instance copies the values: an instance may change its own.
func (q *CSGRequest) instance(a arrays) (*csgproblem.Instance, error) {
	switch v := a["values"].(type) {
	case []int32:
		return newGame(v)
	case []int64:
		return newGame(v)
	case []float32:
		return newGame(v)
	case []float64:
		return newGame(v)
	default:
		return nil, unknownType("values", v, "int32, int64, float32 and float64")
	}
}

func newGame[T int32 | int64 | float32 | float64](values []T) (*csgproblem.Instance, error) {
	if n := uint64(len(values)); n < 2 || bits.OnesCount64(n) != 1 || n > 1<<csgproblem.MaxAgents {
		return nil, solve.InvalidInput("values", "found %d numbers, expected 2 to the power of the agents, of whom there are at most %d", n, csgproblem.MaxAgents)
	}
	return csgproblem.NewInstance(slices.Clone(values), source)
}
