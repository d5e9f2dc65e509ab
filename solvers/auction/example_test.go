package auction_test

import (
	"context"
	"fmt"
	"log"
	"slices"
	"strings"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/auction"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/solve"
)

// The bids of table 1 of the report that Coalesce began with, and its winners.
func Example() {
	cards, err := auction.Read("../../examples/cards.csv")
	if err != nil {
		log.Fatal(err)
	}
	r, err := auction.Solve(context.Background(), cards, auction.Options{Settings: solve.Settings{Algorithm: auction.Branch}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Value, r.Proven)
	for _, b := range r.AcceptedBids() {
		for _, g := range b.Goods {
			fmt.Print(cards.GoodName(g), " ")
		}
		fmt.Println(b.Price)
	}
	// Output:
	// 13 true
	// ♥ 6
	// ♣ ♦ 7
}

// Table 2 of that report: every set of bids that sells each card once, and its revenue.
func ExampleAuction_CheckWinners() {
	cards, err := auction.Read("../../examples/cards.csv")
	if err != nil {
		log.Fatal(err)
	}
	type row struct {
		bids    []int
		revenue int64
	}
	var table []row
	for set := range 1 << len(cards.Bids) {
		var bids []int
		for i := range cards.Bids {
			if set>>i&1 != 0 {
				bids = append(bids, i)
			}
		}
		if cards.CheckWinners(bids) == nil {
			table = append(table, row{bids, cards.Revenue(bids).Int64()})
		}
	}
	slices.SortFunc(table, func(a, b row) int { return int(b.revenue - a.revenue) })
	for _, r := range table {
		fmt.Print(r.revenue)
		for _, i := range r.bids {
			fmt.Print(" ")
			for _, g := range cards.Bids[i].Goods {
				fmt.Print(cards.GoodName(g))
			}
		}
		fmt.Println()
	}
	// Output:
	// 13 ♥ ♣♦
	// 11 ♣ ♦ ♥
	// 9 ♦ ♣♥
	// 7 ♣ ♦♥
	// 6 ♣♦♥
}

// A session solves auctions one after the other.
func ExampleOpen() {
	d := host.Open(0)
	defer d.Close()
	s, err := auction.Open(auction.Options{Settings: solve.Settings{Devices: []device.Device{d}}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for _, price := range []string{"5", "2.25"} {
		bids, err := auction.ReadFrom(strings.NewReader("goods 2\nbids 2\ndummy 0\n0 4 0 #\n1 "+price+" 0 1 #\n"), "bids")
		if err != nil {
			log.Fatal(err)
		}
		r, err := s.Solve(context.Background(), bids)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(r.Value)
	}
	// Output:
	// 5
	// 4
}

// A program makes an auction of bids: here two for a house and its garden, and two for one of them.
func ExampleNewAuction() {
	a, err := problem.NewAuction(2, []problem.Bid{
		{Number: 1, Price: 9, Goods: []int64{0, 1}},
		{Number: 2, Price: 8, Goods: []int64{0, 1}},
		{Number: 3, Price: 6, Goods: []int64{0}},
		{Number: 4, Price: 4, Goods: []int64{1}},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	a.Names = []string{"house", "garden"}
	r, err := auction.Solve(context.Background(), a, auction.Options{Settings: solve.Settings{Algorithm: auction.Branch}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(r)
	// Output:
	// bid 3	6	 house
	// bid 4	4	 garden
	// revenue	10
}
