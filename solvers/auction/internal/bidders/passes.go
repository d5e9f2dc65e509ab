package bidders

import (
	"cmp"
	"math/bits"
	"slices"
)

// A pass adds several bidders to a table at once. Each combination of bids that the bidders can win
// together counts as a bid, and the pass takes one of all these or none.
type pass struct {
	bids []Bid
	// alone: every two bids have an item in common. The table then changes in place: the pass
	// writes sets that contain a bid, and reads the same sets without that bid, which contain no
	// other bid.
	alone bool
}

// Costs of a pass, in units of the time in which a device reads or writes one set of a large table:
// launchCost of a launch, listCost of a bid in the list, lookCost of the test, for one set, of a bid
// that is not within the set, offerCost of a thread's instructions for a bid that may be within.
const (
	launchCost = 3e6
	listCost   = 5e4
	lookCost   = 1. / 2048
	offerCost  = 1. / 6
)

// sectorItems are the items whose sets a device reads together: 32 bytes.
const sectorItems = 1<<3 - 1

// share is the part of a table that a device reads to offer a bid.
func share(items uint32) float64 { return 1 / float64(uint64(1)<<bits.OnesCount32(items&^sectorItems)) }

// warpItems are the items in which the sets of one warp differ, of a tile of 2^12 sets. A bid for other
// items that the warp's sets lack is skipped by the whole warp.
const warpItems = 1<<5 - 1 | (1<<4-1)<<8

// effort is the time to offer a bid, as a share of the time to read a table.
func effort(items uint32) float64 {
	return share(items) + offerCost/float64(uint64(1)<<bits.OnesCount32(items&^warpItems))
}

// itemCount is the number of items of the table after the pass.
func (p *pass) itemCount() int { return bits.Len32(itemsOf(p.bids)) }

// commonItems are the items that all bids have.
func (p *pass) commonItems() uint32 {
	all := ^uint32(0)
	for _, b := range p.bids {
		all &= b.Items
	}
	return all
}

// passBase is the part of a table that a pass reads and writes besides the sets from which bids are
// offered.
func passBase(alone bool, common uint32) float64 {
	if alone {
		return 2 * share(common)
	}
	return 2
}

// cost is the time of the pass, in the unit of the costs above.
func (p *pass) cost() float64 {
	sum := 0.0
	for _, b := range p.bids {
		sum += effort(b.Items)
	}
	return cost(passBase(p.alone, p.commonItems()), sum, len(p.bids), p.itemCount())
}

// share is the part of a table that a pass reads and writes.
func (p *pass) share() float64 {
	sum := passBase(p.alone, p.commonItems())
	for _, b := range p.bids {
		sum += share(b.Items)
	}
	return sum
}

// A planner collects bidders for a pass.
type planner struct {
	pass
	effort float64 // sum of the efforts of all bids
	common uint32
}

// cost is that of a pass of so many bids over a table of some items.
func cost(base, effort float64, bids, items int) float64 {
	return launchCost + listCost*float64(bids) + float64(uint64(1)<<items)*(base+effort+lookCost*float64(bids))
}

// newPlanner begins with a bidder.
func newPlanner(bids []Bid) *planner {
	p := &planner{pass: pass{bids: slices.Clone(bids)}}
	p.common = p.pass.commonItems()
	p.alone = true
	for k, b := range bids {
		p.effort += effort(b.Items)
		p.alone = p.alone && !slices.ContainsFunc(bids[:k], func(c Bid) bool { return b.Items&c.Items == 0 })
	}
	return p
}

// add adds another bidder to the pass, if that is cheaper than a pass of its own and the pass then
// has at most limit bids. It reports whether it did.
func (p *planner) add(q *planner, limit int) bool {
	common, alone := p.common&q.common, p.alone && q.alone
	count, sum := len(p.bids)+len(q.bids), p.effort+q.effort
	for _, b := range q.bids {
		for _, c := range p.bids {
			if b.Items&c.Items == 0 {
				alone = false
				count++
				sum += effort(b.Items | c.Items)
			}
		}
	}
	before, after := p.itemCount(), max(p.itemCount(), q.itemCount())
	separate := cost(passBase(p.alone, p.common), p.effort, len(p.bids), before) + cost(passBase(q.alone, q.common), q.effort, len(q.bids), after)
	if count > limit || cost(passBase(alone, common), sum, count, after) > separate {
		return false
	}
	*p = planner{pass{combinations(p.bids, q.bids), alone}, sum, common}
	return true
}

// combinations lists the combinations of bids that two bidders can win: one bid of either, and one bid of
// each where these have no item in common.
func combinations(one, other []Bid) []Bid {
	list := slices.Concat(one, other)
	for _, b := range other {
		for _, c := range one {
			if b.Items&c.Items == 0 {
				list = append(list, Bid{Items: b.Items | c.Items, Price: b.Price + c.Price})
			}
		}
	}
	return list
}

// dropDominated keeps, of bids for the same items, the one that pays the most.
func dropDominated(bids []Bid) []Bid {
	slices.SortFunc(bids, func(a, b Bid) int {
		return cmp.Or(cmp.Compare(a.Items, b.Items), cmp.Compare(b.Price, a.Price))
	})
	return slices.CompactFunc(bids, func(a, b Bid) bool { return a.Items == b.Items })
}

// maxBids is the most bids of a pass of several bidders.
const maxBids = 1 << 12

// makePasses divides peeled bidders, in their order, into passes: several in a pass where that is cheaper.
func makePasses(bidders [][]Bid) []pass {
	var list []pass
	var now *planner
	for _, bids := range bidders {
		if len(bids) == 0 {
			continue
		}
		next := newPlanner(bids)
		if now != nil && now.add(next, maxBids) {
			continue
		}
		if now != nil {
			list = append(list, pass{dropDominated(now.bids), now.alone})
		}
		now = next
	}
	if now != nil {
		list = append(list, pass{dropDominated(now.bids), now.alone})
	}
	return list
}
