package jobs

import (
	"context"
	"math/bits"
	"slices"

	"coalesce/solvers/csg"
	"coalesce/solvers/option"
	"coalesce/solvers/solve"
)

// A CSGRequest is a game as the array values: those of all coalitions, 2^n numbers of int32, int64, float32 or float64,
// agent i (from 1) being bit i-1 of a coalition's number.
type CSGRequest struct {
	// members that a block may have, such as 1-3,5 or 2-
	Sizes csg.Sizes `option:"sizes" default:"any number"`
	// begin with this structure: the agents of a block a line, numbers from 1, a JSON list of such lists, or the JSON of an earlier result; the
	// flag names a file of it
	Start string `option:"start" default:"none"`

	solver csg.Options
}

func csgProblem() problem {
	return problem{"csg", csg.Subjects, func() request { return new(CSGRequest) }}
}

func (q *CSGRequest) options() option.List { return slices.Concat(q.Fields(), q.solver.Fields()) }

func (q *CSGRequest) settings() *solve.Settings { return &q.solver.Settings }

func (q *CSGRequest) run(ctx context.Context, a arrays) (any, error) {
	inst, err := q.instance(a)
	if err != nil {
		return nil, err
	}
	if q.Sizes != 0 {
		if err := inst.Restrict(q.Sizes); err != nil {
			return nil, solve.AsInputError(err)
		}
	}
	if q.Start != "" {
		if q.solver.Start, err = csg.ParseBlocks([]byte(q.Start), "start", inst.N, nil); err != nil {
			return nil, solve.AsInputError(err)
		}
	}
	return resultOrNil(csg.Solve(ctx, inst, q.solver))
}

// source is what messages call an instance that a program gave.
const source = "memory"

// instance copies the values: an instance may change its own.
func (q *CSGRequest) instance(a arrays) (*csg.Instance, error) {
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

func newGame[T int32 | int64 | float32 | float64](values []T) (*csg.Instance, error) {
	if n := uint64(len(values)); n < 2 || bits.OnesCount64(n) != 1 || n > 1<<csg.MaxAgents {
		return nil, solve.InvalidInput("values", "found %d numbers, expected 2 to the power of the agents, of whom there are at most %d", n, csg.MaxAgents)
	}
	return csg.NewInstance(slices.Clone(values), source)
}
