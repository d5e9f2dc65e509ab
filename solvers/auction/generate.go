package auction

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"coalesce/solvers/auction/internal/draw"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/solve"
)

// Distributions are the names of the distributions that Generate draws, as CATS calls them.
func Distributions() []string {
	var names []string
	for _, d := range draw.Distributions() {
		names = append(names, d.Name)
	}
	return names
}

// AboutDistribution is a line about a distribution, empty for a name that is none.
func AboutDistribution(name string) string {
	for _, d := range draw.Distributions() {
		if d.Name == name {
			return d.About
		}
	}
	return ""
}

// Footprint is about how many bytes Generate takes at most.
func Footprint(distribution string, goods, bids int) int64 {
	return draw.Footprint(distribution, goods, bids)
}

// Generate draws an auction of a distribution of CATS (Leyton-Brown, Pearson and Shoham,
// EC 2000) with that program's default parameters: 1 to 4,096 goods, at least so many
// bids, at most 32,768, and the same auction for the same seed. Prices have six
// significant digits, as CATS prints them; bids that another could replace are left out.
func Generate(distribution string, goods, bids int, seed uint64) (*problem.Auction, error) {
	drawn, err := draw.Draw(distribution, goods, bids, seed)
	if err != nil {
		return nil, solve.AsInputError(err)
	}
	a := &problem.Auction{Goods: int64(drawn.Goods), Dummies: int64(drawn.Groups), Source: fmt.Sprintf("%s, %d goods, %d bids, seed %d", distribution, goods, bids, seed)}
	var prices []problem.Amount
	for i, b := range drawn.Bids {
		made := problem.Bid{Number: int64(i)}
		for _, g := range b.Goods {
			made.Goods = append(made.Goods, int64(g))
		}
		slices.Sort(made.Goods)
		if b.Group >= 0 {
			made.Goods = append(made.Goods, a.Goods+int64(b.Group))
		}
		text := strconv.FormatFloat(b.Price, 'g', 6, 64)
		price, ok := problem.ParseAmount(text)
		if !ok {
			return nil, fmt.Errorf("%s: drew the price %s", distribution, text)
		}
		a.Bids, prices = append(a.Bids, made), append(prices, price)
	}
	return a, a.SetPrices(strings.ToLower(distribution), prices, nil)
}
