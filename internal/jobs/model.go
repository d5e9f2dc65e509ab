package jobs

import (
	"bytes"
	"context"
	"slices"

	"coalesce/solvers/model"
	"coalesce/solvers/option"
	"coalesce/solvers/qubo"
	"coalesce/solvers/solve"
)

// A modelRequest is a model as the array text: the bytes of a file in a format that docs/models.md describes.
type modelRequest struct {
	// begin with these values: pairs such as north=1 between blanks, or the JSON of an earlier result; the flag names a file of them
	Start string `option:"start" default:"none"`

	solver model.Options
}

func modelProblem() problem {
	return problem{"model", qubo.Subjects, func() request { return new(modelRequest) }}
}

func (q *modelRequest) options() option.List { return slices.Concat(q.Fields(), q.solver.Fields()) }

func (q *modelRequest) settings() *solve.Settings { return &q.solver.Settings }

func (q *modelRequest) run(ctx context.Context, a arrays) (any, error) {
	text, err := typedArray[byte](a, "text")
	if err != nil {
		return nil, err
	}
	m, err := model.ReadFrom(bytes.NewReader(text), "model", 0)
	if err != nil {
		return nil, err
	}
	if q.Start != "" {
		if q.solver.Start, err = m.ParseStart([]byte(q.Start), "start"); err != nil {
			return nil, solve.AsInputError(err)
		}
	}
	return resultOrNil(model.Solve(ctx, m, q.solver))
}
