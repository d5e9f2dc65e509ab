package jobs

import (
	"context"
	"slices"

	"coalesce/autotune/subject"
	"coalesce/solvers/assignment"
	assignmentproblem "coalesce/solvers/assignment/problem"
	"coalesce/solvers/option"
	"coalesce/solvers/solve"
)

// A TransportRequest is an assignment with amounts as arrays: costs, row by row, of int32, int64, float32 or float64, and of int64
// supply, one a row, and capacity, one a column. With a metric row_points and col_points, float64, point by point, take the place of costs.
type TransportRequest struct {
	// number of rows; the costs say how many columns there are
	Rows int `option:"rows" flag:"-" min:"0" default:"0"`
	// find the flow that is worth the most
	Maximize bool `option:"maximize" flag:"-"`
	// distance of points that costs are: euclidean, squared or manhattan
	Metric string `option:"metric" flag:"-"`

	solver assignment.Options
}

func transportProblem() problem {
	none := func() []subject.Subject { return nil }
	return problem{"transport", none, func() request { return new(TransportRequest) }}
}

func (q *TransportRequest) options() option.List { return slices.Concat(q.Fields(), q.solver.Fields()) }

func (q *TransportRequest) settings() *solve.Settings { return &q.solver.Settings }

func (q *TransportRequest) run(ctx context.Context, a arrays) (any, error) {
	inst, err := q.instance(a)
	if err != nil {
		return nil, err
	}
	return resultOrNil(assignment.Solve(ctx, inst, q.solver))
}

func (q *TransportRequest) instance(a arrays) (*assignmentproblem.Instance, error) {
	supply, err := typedArray[int64](a, "supply")
	if err != nil {
		return nil, err
	}
	capacity, err := typedArray[int64](a, "capacity")
	if err != nil {
		return nil, err
	}
	if q.Metric != "" {
		return q.places(a, supply, capacity)
	}
	inst := &assignmentproblem.Instance{Rows: q.Rows, Cols: len(capacity), Supply: supply, Capacity: capacity, Maximize: q.Maximize, Source: source}
	switch c := a["costs"].(type) {
	case []int32:
		inst.Type, inst.I32 = assignmentproblem.Int32, c
	case []int64:
		inst.Type, inst.I64, inst.Every = assignmentproblem.Int64, c, true
	case []float32:
		inst.Type, inst.F32 = assignmentproblem.Float32, c
	case []float64:
		inst.Type, inst.F64 = assignmentproblem.Float64, c
	default:
		return nil, unknownType("costs", c, "int32, int64, float32 and float64")
	}
	return inst, solve.AsInputError(inst.Check())
}

// places is the instance of points.
func (q *TransportRequest) places(a arrays, supply, capacity []int64) (*assignmentproblem.Instance, error) {
	row, err := typedArray[float64](a, "row_points")
	if err != nil {
		return nil, err
	}
	col, err := typedArray[float64](a, "col_points")
	if err != nil {
		return nil, err
	}
	inst, err := assignmentproblem.NewPoints(assignmentproblem.Points{Dim: len(row) / max(1, q.Rows), Row: row, Col: col, Metric: assignmentproblem.Metric(q.Metric)}, source)
	if err != nil {
		return nil, solve.AsInputError(err)
	}
	inst.Supply, inst.Capacity, inst.Maximize = supply, capacity, q.Maximize
	return inst, solve.AsInputError(inst.Check())
}
