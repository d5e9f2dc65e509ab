package jobs

import (
	"bytes"
	"context"
	"slices"

	"coalesce/autotune/subject"
	"coalesce/solvers/auction"
	auctionproblem "coalesce/solvers/auction/problem"
	"coalesce/solvers/csg"
	"coalesce/solvers/option"
	"coalesce/solvers/qubo"
	"coalesce/solvers/solve"
)

// An auctionRequest is an auction as the array text: the bytes of a file in a format that docs/auction.md describes.
type auctionRequest struct {
	// begin with these winning bids: their numbers, between blanks, or the JSON of an earlier result; the flag names a file of them
	Start string `option:"start" default:"none"`

	solver auction.Options
}

func auctionProblem() problem {
	families := func() []subject.Subject { return slices.Concat(auction.Subjects(), csg.Subjects(), qubo.Subjects()) }
	return problem{"auction", families, func() request { return new(auctionRequest) }}
}

func (q *auctionRequest) options() option.List { return slices.Concat(q.Fields(), q.solver.Fields()) }

func (q *auctionRequest) settings() *solve.Settings { return &q.solver.Settings }

func (q *auctionRequest) run(ctx context.Context, a arrays) (any, error) {
	text, err := typedArray[byte](a, "text")
	if err != nil {
		return nil, err
	}
	bids, err := auction.ReadFrom(bytes.NewReader(text), "bids")
	if err != nil {
		return nil, solve.AsInputError(err)
	}
	if bids, err = q.solver.Apply(bids); err != nil {
		return nil, err
	}
	if q.Start != "" {
		if q.solver.Start, err = auctionproblem.ParseAllocation([]byte(q.Start), "start", bids); err != nil {
			return nil, solve.AsInputError(err)
		}
	}
	return resultOrNil(auction.Solve(ctx, bids, q.solver))
}
