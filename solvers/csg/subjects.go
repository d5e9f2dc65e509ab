package csg

import (
	"context"

	"coalesce/autotune/subject"
	"coalesce/solvers/csg/internal/tune"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// Subjects are the families of this problem, for the tuner: on each kind of device the
// solver's choice first.
func Subjects() []subject.Subject {
	return tune.Subjects(func(o solve.Settings) (func(context.Context, *problem.Instance) (*solve.Report, error), func() error, error) {
		s, err := Open(Options{Settings: o})
		if err != nil {
			return nil, nil, err
		}
		return func(ctx context.Context, inst *problem.Instance) (*solve.Report, error) {
			r, err := s.Solve(ctx, inst)
			if err != nil {
				return nil, err
			}
			return &r.Report, nil
		}, s.Close, nil
	})
}
