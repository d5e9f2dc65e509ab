package payments

import (
	"context"
	"errors"
	"sync"

	"coalesce/runtime/device"
	"coalesce/solvers/auction/internal/bidders"
	"coalesce/solvers/auction/internal/packing"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/cores"
	"coalesce/solvers/solve"
)

// UndefinedError is the error of a rule that is not defined for an auction: the reason.
type UndefinedError string

func (u UndefinedError) Error() string { return string(u) }

// An Outcome has the winners whose payments are computed, and what their solve knows.
type Outcome struct {
	Auction       *problem.Auction
	Winners, Kept []int           // places of winning bids and of kept reserves, which can win together
	Prices        []packing.Price // of cliques of the atomic bids, in the auction's units; nil: none are known
	Tables        bool            // the winners come from tables of bidders: VCG's payments first try those too
	Work          *bidders.Work   // counts the work of tables on a device
}

// A Calculator computes payments part by part: each good and each bidder is in one part
// alone, and so is each coalition that blocks. Bids are atomic ones.
type Calculator struct {
	Payments
	atomic *problem.AtomicBids
	known  []packing.Price
	tables bool
	work   *bidders.Work
	won    []int // bids that win, and reserves that are kept
	o      solve.Settings
	whole  *packing.Problem
	bidder []int   // of each bid, numbered from 0; each reserve has one of its own
	of     [][]int // bids of each bidder
	part   []int   // of each bid
	mu     sync.Mutex
	done   int
}

// New begins the payments of an outcome. Errors of too many bids wrap problem.ErrSize.
func New(of Outcome, o solve.Settings) (*Calculator, error) {
	p, err := problem.NewAtomicBids(of.Auction, false)
	if err != nil {
		return nil, err
	}
	c := &Calculator{atomic: p, known: of.Prices, tables: of.Tables, work: of.Work, won: p.Places(of.Winners, of.Kept), o: o, whole: packing.New(p), bidder: p.BidderNumbers()}
	for i, b := range c.bidder {
		if b == len(c.of) {
			c.of = append(c.of, nil)
		}
		c.of[b] = append(c.of[b], i)
	}
	c.part = partition(len(p.Bids), c.whole.Cliques, c.of)
	place := map[int]int{}
	for _, i := range c.won {
		if p.IsReserve(i) {
			continue
		}
		k, ok := place[c.bidder[i]]
		if !ok {
			k = len(c.Winners)
			place[c.bidder[i]] = k
			c.Winners = append(c.Winners, Winner{Bidder: p.Bids[i].Bidder})
		}
		w := &c.Winners[k]
		w.Bids = append(w.Bids, i)
		w.Value += p.Bids[i].Price - p.GoodPrice*p.GoodsSold([]int{i})
		w.Pays = w.Value
	}
	return c, nil
}

// Result converts the computed payments to those of the auction's own bids.
func (c *Calculator) Result() *Payments {
	result := &Payments{Rule: c.Rule}
	for _, w := range c.Winners {
		w.Bids, _ = c.atomic.Originals(w.Bids)
		result.Winners = append(result.Winners, w)
	}
	for _, in := range c.Coalitions {
		bids, _ := c.atomic.Originals(in)
		result.Coalitions = append(result.Coalitions, bids)
	}
	return result
}

// partition numbers the parts of the bids that neither a clique nor a bidder joins.
func partition(bids int, cliques [][]int32, of [][]int) []int {
	root := make([]int, bids)
	for i := range root {
		root[i] = i
	}
	find := func(i int) int {
		for root[i] != i {
			root[i] = root[root[i]]
			i = root[i]
		}
		return i
	}
	for _, clique := range cliques {
		for _, j := range clique[1:] {
			root[find(int(j))] = find(int(clique[0]))
		}
	}
	for _, own := range of {
		for _, j := range own {
			root[find(j)] = find(own[0])
		}
	}
	for i := range root {
		root[i] = find(i)
	}
	return root
}

// Compute computes the payments of a rule. If ctx ends first, they are not valid, and there may be no error.
// Errors wrap problem.ErrCheck or the error of a solve, or are an UndefinedError.
func (c *Calculator) Compute(ctx context.Context, rule Rule) error {
	c.Rule = rule
	if rule == FirstPrice {
		return nil
	}
	if rule == Core && c.atomic.GoodPrice > 0 {
		return UndefinedError("coalitions of bidders may be unable to sell every good, and the auction has no free disposal")
	}
	byTables := c.tables && c.atomic.GoodPrice == 0 && len(c.Winners) > 0
	if byTables {
		err := c.vcgByTables(ctx)
		byTables = !errors.Is(err, device.ErrMemory) && !errors.Is(err, problem.ErrItems)
		if byTables && err != nil && ctx.Err() == nil {
			return err
		}
	}
	if !byTables {
		if err := c.vcgByBranch(ctx); err != nil {
			return err
		}
	}
	if rule == VCG || ctx.Err() != nil {
		return nil
	}
	order, members := c.winnersByPart()
	found := make([][][]int, len(order))
	errs := make([]error, len(order))
	cores.Pieces(len(order), func(k int) { found[k], errs[k] = c.coreOfPart(ctx, members[order[k]]) })
	for k, err := range errs {
		if err != nil {
			return err
		}
		c.Coalitions = append(c.Coalitions, found[k]...)
	}
	return nil
}

// winnersByPart are the parts that have winners, and the winners of each.
func (c *Calculator) winnersByPart() (order []int, members map[int][]int) {
	members = map[int][]int{}
	for k, w := range c.Winners {
		p := c.part[w.Bids[0]]
		if members[p] == nil {
			order = append(order, p)
		}
		members[p] = append(members[p], k)
	}
	return order, members
}

// reportProgress reports to Progress that one more auction is solved.
func (c *Calculator) reportProgress() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	c.o.Logf("payments of %d winners: %d auctions solved", len(c.Winners), c.done)
}

// pricesOf is the sum of the prices of bids.
func (c *Calculator) pricesOf(bids []int) int64 {
	sum := int64(0)
	for _, i := range bids {
		sum += c.whole.Prices[i]
	}
	return sum
}

// winningBids are those of a winner's part.
func (c *Calculator) winningBids(w *Winner) []int {
	var bids []int
	for _, i := range c.won {
		if c.part[i] == c.part[w.Bids[0]] {
			bids = append(bids, i)
		}
	}
	return bids
}

// partPrices are the prices of one part, 0 elsewhere.
func (c *Calculator) partPrices(part int) []int64 {
	prices := make([]int64, len(c.whole.Prices))
	for i, p := range c.whole.Prices {
		if c.part[i] == part {
			prices[i] = p
		}
	}
	return prices
}
