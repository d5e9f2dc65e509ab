package auction

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"coalesce/solvers/auction/internal/payments"
	"coalesce/solvers/solve"
)

// What winners pay, and by which rule.
type (
	// A Rule says what winners pay.
	Rule = payments.Rule
	// Payments are what winners pay. Amounts are in units of 10^-Scale of the auction.
	Payments = payments.Payments
	// A Winner is a bidder with a winning bid.
	Winner = payments.Winner
)

// The rules of payments.
const (
	// FirstPrice: each winner pays the prices of its winning bids.
	FirstPrice = payments.FirstPrice
	// VCG, the payments of Vickrey, Clarke and Groves: a winner pays the loss of the others by its
	// presence, which is the best revenue without its bids less the prices of the other winning bids.
	VCG = payments.VCG
	// Core: bidder-optimal core-selecting payments (Day and Raghavan, Management Science 53, 2007), of
	// these the nearest to VCG's (Day and Cramton, Operations Research 60, 2012), rounded up to the
	// auction's unit, 10^-Scale, which keeps them in the core.
	Core = payments.Core
)

// Rules are all rules of payments.
func Rules() []string { return payments.Rules() }

// ComputePayments computes the payments of a result's winners and sets r.Payments. Rules other than FirstPrice
// need winners that are proven to be the best. Where the proof is missing, where the rule is not
// defined for the auction, and where ctx ends before the payments are known, the result gets a note
// with the reason in place of payments.
//
// VCG solves one auction a winner by branch and cut, on all cores, from the known winners
// and clique prices, or adds the other winners to a table of all other bidders where the
// algorithm was Bidders. Core then solves one auction for each coalition that blocks. A
// bidder is left out with all its bids; reserves are bids of the seller, who is in every
// coalition and pays nothing. Without free disposal VCG needs allocations of all goods
// without each winner, and Core is not defined. Errors of too many bids wrap ErrSize.
func ComputePayments(ctx context.Context, res *Result, rule Rule, o Options) error {
	if !slices.Contains(Rules(), string(rule)) {
		return fmt.Errorf("payments: %w", solve.InvalidInput("rule", "found the rule %.40q, expected one of %v", rule, Rules()))
	}
	if err := res.checkWinners(); err != nil {
		return fmt.Errorf("payments: %w", err)
	}
	if rule != FirstPrice && (!res.Proven || res.Gap == nil || *res.Gap != 0) {
		res.notePayments(rule, "the winners are not proven to be the best")
		return nil
	}
	if !res.Auction.IsPacking() || res.Auction.Minimize {
		res.notePayments(rule, "they are of auctions that sell one unit of each good")
		return nil
	}
	c, err := payments.New(res.paymentOutcome(), o.Settings)
	if err != nil {
		return fmt.Errorf("payments: %w", err)
	}
	var undefined payments.UndefinedError
	switch err := c.Compute(ctx, rule); {
	case errors.As(err, &undefined):
		res.notePayments(rule, string(undefined))
		return nil
	case err != nil:
		return fmt.Errorf("payments: %s: %w", res.Auction.Source, err)
	}
	if ctx.Err() != nil && rule != FirstPrice {
		solve.MarkStopped(context.Cause(ctx), &res.Stopped, &res.Notes, fmt.Sprintf("no payments by the rule %s", rule))
		return nil
	}
	res.Payments = c.Result()
	return nil
}

// paymentOutcome has what payments depend on.
func (res *Result) paymentOutcome() payments.Outcome {
	return payments.Outcome{Auction: res.Auction, Winners: res.Winners, Kept: res.Kept, Prices: res.prices, Tables: res.Algorithm == Bidders, Work: &res.Tables}
}

// checkWinners returns an error unless a result's winners can win together. It wraps solve.ErrInput: a solve
// gives no such result.
func (res *Result) checkWinners() error {
	if res == nil {
		return solve.InvalidInput("result", "found nil, expected one of a solve")
	}
	if err := res.Auction.Check(); err != nil {
		return err
	}
	if err := res.Auction.CheckKept(res.Winners, res.Kept); err != nil {
		return solve.InvalidInput("Winners, Kept", "%w", err)
	}
	return nil
}

// notePayments adds a note with the reason why the result has no payments.
func (res *Result) notePayments(rule Rule, why string) {
	res.Notes = append(slices.Clone(res.Notes), fmt.Sprintf("no payments by the rule %s: %s", rule, why))
}
