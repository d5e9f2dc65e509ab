package auction

import (
	"context"
	"fmt"
	"time"

	auctionproblem "coalesce/solvers/auction/problem"
	"coalesce/solvers/csg"
	csgproblem "coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// A Session solves auctions one after the other, with a session of coalition structures
// for those of few goods. The Options may be changed between solves, but for the Devices,
// whose owner the caller stays. A session belongs to one goroutine at a time.
type Session struct {
	Options
	structures *csg.Session // nil: not needed yet
}

// Open begins a session on o's devices.
func Open(o Options) (*Session, error) { return &Session{Options: o}, nil }

// Close gives back memory and kernels.
func (s *Session) Close() error {
	if s.structures == nil {
		return nil
	}
	return s.structures.Close()
}

// solveCSG solves an instance of coalition structures, until ctx ends, in the session's own session of these.
func (s *Session) solveCSG(ctx context.Context, inst *csgproblem.Instance, progress func(solve.Incumbent)) (*csg.Result, error) {
	if s.structures == nil {
		var err error
		if s.structures, err = csg.Open(csg.Options{Settings: s.Settings}); err != nil {
			return nil, err
		}
	}
	devices := s.structures.Devices // of the session, whose loaded kernels stay
	s.structures.Settings = s.Settings
	s.structures.Devices, s.structures.Progress, s.structures.TimeLimit, s.structures.Target, s.structures.Start = devices, progress, 0, nil, nil
	return s.structures.Solve(ctx, inst)
}

// Solve is the package's Solve.
func (s *Session) Solve(ctx context.Context, a *auctionproblem.Auction) (*Result, error) {
	ctx, cancel := s.WithTimeLimit(ctx)
	defer cancel()
	a, err := s.Apply(a)
	if err != nil {
		return nil, fmt.Errorf("solve auction: %w", err)
	}
	res, err := solve.Run(ctx, &s.Settings, &run{Session: s, auction: a})
	if err == nil && s.KBest > 1 && a.IsPacking() {
		err = s.rankAllocations(ctx, res)
	}
	if err == nil && s.Payments != "" {
		start := time.Now()
		err = ComputePayments(ctx, res, Rule(s.Payments), s.Options)
		res.Seconds.Solve += time.Since(start).Seconds()
	}
	if err != nil {
		return res, fmt.Errorf("solve auction: %w", err)
	}
	return res, nil
}
