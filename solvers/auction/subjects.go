package auction

import (
	"context"

	"coalesce/autotune/subject"
	"coalesce/solvers/algorithms"
	"coalesce/solvers/auction/internal/bidders"
	"coalesce/solvers/auction/internal/bounds"
	"coalesce/solvers/auction/internal/plan"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/solve"
)

// Subjects are the families of this problem, and the choice among its algorithms, for the tuner.
func Subjects() []subject.Subject {
	reference := func(a *problem.Auction) (solve.Number, error) {
		r, err := Reference(a)
		if err != nil {
			return "", err
		}
		return r.Value, nil
	}
	open := func(a *problem.Auction, o solve.Settings) (algorithms.Solver, error) {
		s, err := Open(Options{Settings: o})
		if err != nil {
			return algorithms.Solver{}, err
		}
		return algorithms.Solver{Close: s.Close, Solve: func(ctx context.Context) (*solve.Report, error) {
			r, err := s.Solve(ctx, a)
			if err != nil {
				return nil, err
			}
			return &r.Report, nil
		}}, nil
	}
	return append(append(bidders.Subjects(), bounds.Subjects()...), plan.NewSubject(reference, open))
}
