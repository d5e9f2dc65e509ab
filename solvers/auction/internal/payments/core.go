package payments

import (
	"context"
	"fmt"
	"slices"

	"coalesce/solvers/auction/internal/packing"
)

// coreOfPart moves the payments of a part's winners from those of VCG into the core, and returns the
// coalitions that blocked the payments on the way.
func (c *Calculator) coreOfPart(ctx context.Context, winners []int) ([][]int, error) {
	point := c.vcgPoint(winners)
	base := make([]int64, len(winners))
	for n, k := range winners {
		base[n] = c.Winners[k].Pays
	}
	known := c.known
	var found [][]int
	for {
		for n, k := range winners {
			c.Winners[k].Pays = base[n] + point.Ceil(n)
		}
		solved, blocking, err := c.blockingCoalition(ctx, winners, known)
		if err != nil || ctx.Err() != nil || blocking == nil {
			return found, err
		}
		known = solved.Prices
		before := len(found)
		for _, in := range c.splitCoalition(blocking) {
			members, least := c.coreConstraint(in, winners, base)
			now := int64(0)
			for _, n := range members {
				now += point.Ceil(n)
			}
			if now >= least {
				continue
			}
			if !point.Add(members, least) {
				return nil, fmt.Errorf("the bids %v pay more than those that win in their place", in)
			}
			found = append(found, in)
		}
		if len(found) == before {
			return nil, fmt.Errorf("the coalition of the bids %v blocks, none of its parts does", blocking)
		}
		c.reportProgress()
	}
}

// vcgPoint is the point of VCG's payments of winners.
func (c *Calculator) vcgPoint(winners []int) *Point {
	upper := make([]int64, len(winners))
	for n, k := range winners {
		upper[n] = c.Winners[k].Value - c.Winners[k].Pays
	}
	return NewPoint(upper)
}

// blockingCoalition finds the bids of a coalition that would pay the seller more than the winners of a part
// pay, nil where there is none.
//
// A winner joins a coalition only if it keeps its present gain, its value less its payment. Each
// winner therefore gets one more bid, which excludes its other bids, for staying out, at the price
// of its gain. The best packing is then the coalition that pays the most, and its value is that
// payment plus all gains.
func (c *Calculator) blockingCoalition(ctx context.Context, winners []int, known []packing.Price) (*packing.Result, []int, error) {
	bids := len(c.whole.Prices)
	first := &c.Winners[winners[0]]
	p := &packing.Problem{Prices: c.partPrices(c.part[first.Bids[0]]), Cliques: slices.Clone(c.whole.Cliques)}
	for n, k := range winners {
		w := c.Winners[k]
		p.Prices = append(p.Prices, w.Value-w.Pays)
		for _, i := range c.of[c.bidder[w.Bids[0]]] {
			p.Cliques = append(p.Cliques, []int32{int32(i), int32(bids + n)})
		}
	}
	set := packing.Settings{Enough: true, Known: known, Start: c.winningBids(first)}
	solved, err := packing.Solve(ctx, p, set)
	if err != nil || solved.Value == c.pricesOf(set.Start) { // the coalition is that of the winners
		return solved, nil, err
	}
	coalition := []int{}
	for _, i := range solved.Winners {
		if i < bids {
			coalition = append(coalition, i)
		}
	}
	return solved, coalition, nil
}

// splitCoalition cuts the bids of a coalition into groups. The bidders of a group are those whose bids
// are in the group and those whose winning bids these bids push out; no two groups have a
// bidder in common. Winning bids of bidders that lose nothing to the coalition are left out.
func (c *Calculator) splitCoalition(coalition []int) [][]int {
	var fresh []int
	for _, i := range coalition {
		if !slices.Contains(c.won, i) {
			fresh = append(fresh, i)
		}
	}
	hit := map[int]bool{}
	for _, w := range c.pushedOut(fresh) {
		hit[c.bidder[w]] = true
	}
	var in []int
	for _, i := range coalition {
		if hit[c.bidder[i]] || slices.Contains(fresh, i) {
			in = append(in, i)
		}
	}
	at := map[int]int{} // a bid of each bidder
	var cliques [][]int32
	for k, i := range in {
		bidders := []int{c.bidder[i]}
		if slices.Contains(fresh, i) {
			for _, w := range c.pushedOut([]int{i}) {
				bidders = append(bidders, c.bidder[w])
			}
		}
		for _, b := range bidders {
			if other, ok := at[b]; ok {
				cliques = append(cliques, []int32{int32(other), int32(k)})
			}
			at[b] = k
		}
	}
	number := map[int]int{}
	var groups [][]int
	for k, part := range partition(len(in), cliques, nil) {
		n, ok := number[part]
		if !ok {
			n = len(groups)
			number[part] = n
			groups = append(groups, nil)
		}
		groups[n] = append(groups[n], in[k])
	}
	return groups
}

// pushedOut are the winning bids that share a good with any of some bids that do not win.
func (c *Calculator) pushedOut(fresh []int) []int {
	goods := map[int64]bool{}
	for _, i := range fresh {
		for _, g := range c.atomic.Bids[i].Goods {
			goods[g] = true
		}
	}
	var out []int
	for _, w := range c.won {
		if slices.ContainsFunc(c.atomic.Bids[w].Goods, func(g int64) bool { return goods[g] }) {
			out = append(out, w)
		}
	}
	return out
}

// coreConstraint is the constraint that a coalition sets on payments in the core. The coalition's bids are those
// of one group of splitCoalition. A winner one of whose bids they push out stays in the coalition if some of
// its bids are listed, else it leaves. The winners that leave, given by their places in the list,
// together have to pay at least the returned amount beyond base.
func (c *Calculator) coreConstraint(in, winners []int, base []int64) (members []int, least int64) {
	var fresh []int
	stays := map[int]bool{}
	for _, i := range in {
		if stays[c.bidder[i]] = true; !slices.Contains(c.won, i) {
			fresh = append(fresh, i)
		}
	}
	least = c.pricesOf(in)
	hit := map[int]bool{}
	for _, w := range c.pushedOut(fresh) {
		if hit[c.bidder[w]] = true; c.atomic.IsReserve(w) {
			least -= c.whole.Prices[w]
		}
	}
	for n, k := range winners {
		w := c.Winners[k]
		switch b := c.bidder[w.Bids[0]]; {
		case hit[b] && !stays[b]:
			members = append(members, n)
			least -= base[n]
		case hit[b]:
			least -= w.Value
		}
	}
	return members, least
}
