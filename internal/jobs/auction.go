package jobs

import (
	"bytes"
	"context"
	"slices"
	"time"

	"coalesce/autotune/subject"
	"coalesce/solvers/auction"
	"coalesce/solvers/csg"
	"coalesce/solvers/option"
	"coalesce/solvers/qubo"
	"coalesce/solvers/solve"
)

// An AuctionRequest is an auction as the array text: the bytes of a file in a format that docs/auction.md describes.
type AuctionRequest struct {
	// rule by which payments of the winners are computed
	Payments string `option:"payments" words:"auction.Rules()" default:"no payments"`
	// add the tree of branch and cut to the answer, by which the bound is proven again without a search
	Proof bool `option:"proof"`

	solver auction.Options
}

func auctionProblem() problem {
	families := func() []subject.Subject { return slices.Concat(auction.Subjects(), csg.Subjects(), qubo.Subjects()) }
	return problem{"auction", families, func() request { return new(AuctionRequest) }}
}

func (q *AuctionRequest) options() option.List { return slices.Concat(q.Fields(), q.solver.Fields()) }

func (q *AuctionRequest) settings() *solve.Settings { return &q.solver }

func (q *AuctionRequest) run(ctx context.Context, a arrays) (any, error) {
	text, err := array[byte](a, "text")
	if err != nil {
		return nil, err
	}
	bids, err := auction.ReadFrom(bytes.NewReader(text), "bids")
	if err != nil {
		return nil, solve.Refuse(err)
	}
	q.solver.Proof = q.Proof
	began := time.Now()
	r, err := auction.Solve(ctx, bids, q.solver)
	if err == nil && q.Payments != "" {
		err = q.pay(ctx, r, began)
	}
	return answered(r, err)
}

// pay computes payments within the time that a solve, begun then, has left.
func (q *AuctionRequest) pay(ctx context.Context, r *auction.Result, began time.Time) error {
	start := time.Now()
	if q.solver.TimeLimit > 0 {
		limited, cancel := context.WithDeadline(ctx, began.Add(q.solver.TimeLimit))
		defer cancel()
		ctx = limited
	}
	err := auction.Pay(ctx, r, auction.Rule(q.Payments), q.solver)
	r.Seconds.Solve += time.Since(start).Seconds()
	return err
}
