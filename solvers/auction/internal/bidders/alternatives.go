package bidders

import (
	"fmt"
	"slices"

	"coalesce/solvers/auction/problem"
)

// New divides atomic bids into lists of alternatives: bids that share a dummy, and have no other dummy, are
// a list; every other bid is a list of its own. The problem's items are the other goods and dummies
// that several bids ask for; those that the same bids ask for are one item. With more than 32 items
// the problem has the number of items alone. New also returns the list of each bid, -1 for bids that
// pay nothing.
func New(a *problem.Auction) (*Problem, []int) {
	bids, bidder := a.Bids, a.BidderNumbers()
	dummies := make([]int, len(bids))
	list := map[int64]int{} // dummies that make alternatives
	holders := map[int64][]int{}
	var goods []int64
	for i, b := range bids {
		if b.Price <= 0 {
			continue
		}
		for _, g := range b.Goods {
			if a.IsDummy(g) {
				dummies[i]++
			}
			if holders[g] == nil {
				goods = append(goods, g)
			}
			holders[g] = append(holders[g], i)
		}
	}
	slices.Sort(goods)
	p := &Problem{}
	items := make([]uint32, len(bids))
	known := map[string]bool{}
	for _, g := range goods {
		who := holders[g]
		if a.IsDummy(g) && !slices.ContainsFunc(who, func(i int) bool { return dummies[i] > 1 || bidder[i] != bidder[who[0]] }) {
			list[g] = len(list)
			continue
		}
		if key := fmt.Sprint(who); len(who) > 1 && !known[key] {
			known[key] = true
			for _, i := range who {
				items[i] |= 1 << p.Items // adds no bit from 32 items on
			}
			p.Items++
		}
	}
	if p.Items > MaxItemsOnDevice {
		return p, nil
	}
	p.Bidders = make([][]Bid, len(list))
	of := make([]int, len(bids))
	for i, b := range bids {
		if of[i] = -1; b.Price <= 0 {
			continue
		}
		for _, g := range b.Goods {
			if k, ok := list[g]; ok {
				of[i] = k
			}
		}
		if of[i] < 0 {
			of[i] = len(p.Bidders)
			p.Bidders = append(p.Bidders, nil)
		}
		p.Bidders[of[i]] = append(p.Bidders[of[i]], Bid{Items: items[i], Price: b.Price, ID: i})
	}
	return p, of
}
