package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"coalesce/bench/result"
	"coalesce/runtime/device"
	solver "coalesce/solvers/auction"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/solve"
)

// alternatives are how many bids a bidder has: 1 is OR.
var alternatives = []int{1, 2, 5, 20, 100}

// drawAuction is an auction of bids for three to five goods, at prices that grow with them, so many
// of a bidder, who wins one.
func drawAuction(goods, bids, each int, seed uint64) *problem.Auction {
	r := rand.New(rand.NewPCG(seed, uint64(goods)))
	a := &problem.Auction{Goods: int64(goods), Dummies: int64(bids), Source: "drawn"}
	for i := range bids {
		b := problem.Bid{Number: int64(i)}
		size := min(goods, 3+min(r.IntN(3), r.IntN(3)))
		for _, g := range r.Perm(goods)[:size] {
			b.Goods = append(b.Goods, int64(g))
		}
		if each > 1 {
			b.Goods = append(b.Goods, int64(goods+i/each))
		}
		slices.Sort(b.Goods)
		b.Price = int64(size) * (500 + r.Int64N(501))
		a.Bids = append(a.Bids, b)
	}
	return a
}

// timeTables times winners and VCG's payments by tables, and holds both against branch and cut
// on the host.
func (b *bench) timeTables() error {
	for _, text := range b.settings.goods {
		goods, err := strconv.Atoi(text)
		if err != nil || goods < 1 {
			return fmt.Errorf("found %q goods, expected a number above 0", text)
		}
		for _, each := range alternatives {
			if b.OutOfTime() {
				fmt.Println("the budget is spent")
				return nil
			}
			row := b.measure(drawAuction(goods, b.settings.bids, each, 1), goods, each)
			b.AddRow(row)
			solve, pay := result.Median(row.Solve), result.Median(row.Pay)
			fmt.Printf("%-24s %d goods %8.1f ms to the winners, %8.1f ms to %d payments, %d passes, %.3g bytes, %.3g a second  %s %s\n",
				row.Name, goods, solve*1e3, pay*1e3, row.Winners, row.Passes, row.Bytes, row.Bytes/(solve+pay), row.Variant, row.Failed)
		}
	}
	return nil
}

func (b *bench) measure(a *problem.Auction, goods, each int) result.Auction {
	row := result.Auction{Name: "OR", Goods: goods, Bids: len(a.Bids)}
	if each > 1 {
		row.Name = fmt.Sprintf("XOR, %d bids a bidder", each)
	}
	want, err := solved(b.Ctx, a, solver.Options{Settings: solve.Settings{Algorithm: solver.Branch}}, &result.Auction{})
	if err != nil {
		row.Failed = err.Error()
		return row
	}
	o := solver.Options{Settings: solve.Settings{Algorithm: solver.Bidders, Devices: []device.Device{b.Dev}, Variant: b.settings.Variant}}
	for k := range b.settings.runs + 1 {
		got, err := solved(b.Ctx, a, o, &row)
		if err != nil {
			row.Failed = err.Error()
			return row
		}
		row.Variant, row.Value, row.Winners, row.Passes, row.Bytes = got.Variant, got.Value.String(), len(got.Payments.Winners), got.Tables.Passes, got.Tables.Bytes
		if differ := describeDifference(got, want); differ != "" {
			row.Failed = differ
			return row
		}
		if k == 0 {
			row.Solve, row.Pay = nil, nil
		}
	}
	return row
}

// solved is an auction's result with VCG's payments, and adds the seconds to a row.
func solved(ctx context.Context, a *problem.Auction, o solver.Options, row *result.Auction) (*solver.Result, error) {
	start := time.Now()
	r, err := solver.Solve(ctx, a, o)
	if err != nil {
		return nil, err
	}
	between := time.Now()
	if err := solver.ComputePayments(ctx, r, solver.VCG, o); err != nil {
		return nil, err
	}
	if r.Payments == nil {
		return nil, fmt.Errorf("no payments: %v", r.Notes)
	}
	row.Solve, row.Pay = append(row.Solve, between.Sub(start).Seconds()), append(row.Pay, time.Since(between).Seconds())
	return r, nil
}

// describeDifference describes the difference of two answers: in the value or, if the same bids win, in the
// payments. It is empty if there is none.
func describeDifference(got, want *solver.Result) string {
	if got.Value != want.Value || !got.Proven {
		return fmt.Sprintf("found %s, proven %v; branch and cut finds %s", got.Value, got.Proven, want.Value)
	}
	if !slices.Equal(got.Winners, want.Winners) {
		return "" // other bids that pay as much
	}
	for k, w := range got.Payments.Winners {
		if other := want.Payments.Winners[k]; w.Pays != other.Pays {
			return fmt.Sprintf("winner %d pays %d, by branch and cut %d", k, w.Pays, other.Pays)
		}
	}
	return ""
}
