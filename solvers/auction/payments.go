package auction

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"

	"coalesce/runtime/device"
	"coalesce/solvers/auction/internal/packing"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/cores"
	"coalesce/solvers/solve"
)

// A Rule says what winners pay.
type Rule string

// The rules of payments. The value of a bidder's goods to the bidder is the sum of the prices of its
// winning bids.
const (
	// FirstPrice: each winner pays the prices of its winning bids.
	FirstPrice Rule = "first"
	// VCG, the payments of Vickrey, Clarke and Groves: a winner pays the loss of the others by its
	// presence, which is the best revenue without its bids less the prices of the other winning bids.
	VCG Rule = "vcg"
	// Core: bidder-optimal core-selecting payments (Day and Raghavan, Management Science
	// 53, 2007). No coalition of bidders would give the seller more than it gets, the
	// revenue is the least of all such payments, and they are the nearest to VCG's, in the
	// sum of squares (Day and Cramton, Operations Research 60, 2012). The exact rational
	// payments are rounded up to the auction's unit, 10^-Scale, which keeps them in the
	// core; the revenue is less than a unit a winner above the least.
	Core Rule = "core"
)

// Rules are all rules of payments.
func Rules() []string { return []string{string(FirstPrice), string(VCG), string(Core)} }

// Payments are what winners pay. Amounts are in units of 10^-Scale of the auction.
type Payments struct {
	Rule       Rule
	Winners    []Winner // in the order of their first winning bids
	Coalitions [][]int  // of Core: bids, by place, of those who would block lower payments, without winners that stay as they are
}

// A Winner is a bidder with a winning bid.
type Winner struct {
	Bidder string // its name; empty: it has none
	Bids   []int  // by place, ascending
	Value  int64  // the sum of their prices
	Pays   int64
}

// Revenue is what all winners pay.
func (p *Payments) Revenue() *big.Int {
	sum := new(big.Int)
	for _, w := range p.Winners {
		sum.Add(sum, big.NewInt(w.Pays))
	}
	return sum
}

// Pay computes the payments of a result's winners and sets r.Payments. Rules other than FirstPrice
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
func Pay(ctx context.Context, res *Result, rule Rule, o Options) error {
	if !slices.Contains(Rules(), string(rule)) {
		return fmt.Errorf("payments: %w", solve.Input("rule", "found the rule %.40q, expected one of %v", rule, Rules()))
	}
	if err := res.winnable(); err != nil {
		return fmt.Errorf("payments: %w", err)
	}
	if rule != FirstPrice && (!res.Proven || res.Gap == nil || *res.Gap != 0) {
		res.without(rule, "the winners are not proven to be the best")
		return nil
	}
	c, err := newCashier(res, o)
	if err != nil {
		return fmt.Errorf("payments: %w", err)
	}
	var none noPayments
	switch err := c.pay(ctx, rule); {
	case errors.As(err, &none):
		res.without(rule, string(none))
		return nil
	case err != nil:
		return fmt.Errorf("payments: %s: %w", res.Auction.Source, err)
	}
	if ctx.Err() != nil && rule != FirstPrice {
		solve.Stop(context.Cause(ctx), &res.Stopped, &res.Notes, fmt.Sprintf("no payments by the rule %s", rule))
		return nil
	}
	res.Payments = c.told()
	return nil
}

// winnable returns an error unless a result's winners can win together. It wraps solve.ErrInput: a solve
// gives no such result.
func (res *Result) winnable() error {
	if res == nil {
		return solve.Input("result", "found nil, expected one of a solve")
	}
	if err := res.Auction.Check(); err != nil {
		return err
	}
	if err := res.Auction.CheckKept(res.Winners, res.Kept); err != nil {
		return solve.Input("Winners, Kept", "%w", err)
	}
	return nil
}

// without adds a note with the reason why the result has no payments.
func (res *Result) without(rule Rule, why string) {
	res.Notes = append(slices.Clone(res.Notes), fmt.Sprintf("no payments by the rule %s: %s", rule, why))
}

// noPayments is why a rule is not defined for an auction.
type noPayments string

func (n noPayments) Error() string { return string(n) }

// A cashier computes payments part by part: each good and each bidder is in one part
// alone, and so is each coalition that blocks. Bids are atomic ones.
type cashier struct {
	Payments
	res    *Result
	atomic *problem.AtomicBids
	won    []int // bids that win, and reserves that are kept
	o      Options
	whole  *packing.Problem
	bidder []int   // of each bid, numbered from 0; each reserve has one of its own
	of     [][]int // bids of each bidder
	part   []int   // of each bid
	mu     sync.Mutex
	done   int
}

func newCashier(res *Result, o Options) (*cashier, error) {
	p, err := problem.NewAtomicBids(res.Auction, false)
	if err != nil {
		return nil, err
	}
	c := &cashier{res: res, atomic: p, won: p.Places(res.Winners, res.Kept), o: o, whole: packing.New(p.Auction), bidder: p.Bidders()}
	for i, b := range c.bidder {
		if b == len(c.of) {
			c.of = append(c.of, nil)
		}
		c.of[b] = append(c.of[b], i)
	}
	c.part = parts(len(p.Bids), c.whole.Cliques, c.of)
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

// told converts the payments to those of the auction's own bids.
func (c *cashier) told() *Payments {
	told := &Payments{Rule: c.Rule}
	for _, w := range c.Winners {
		w.Bids, _ = c.atomic.Originals(w.Bids)
		told.Winners = append(told.Winners, w)
	}
	for _, in := range c.Coalitions {
		bids, _ := c.atomic.Originals(in)
		told.Coalitions = append(told.Coalitions, bids)
	}
	return told
}

// parts numbers the parts of the bids that neither a clique nor a bidder joins.
func parts(bids int, cliques [][]int32, of [][]int) []int {
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

func (c *cashier) pay(ctx context.Context, rule Rule) error {
	c.Rule = rule
	if rule == FirstPrice {
		return nil
	}
	if rule == Core && c.atomic.GoodPrice > 0 {
		return noPayments("coalitions of bidders may be unable to sell every good, and the auction has no free disposal")
	}
	byTables := c.res.Algorithm == Bidders && c.atomic.GoodPrice == 0 && len(c.Winners) > 0
	if byTables {
		err := c.tables(ctx)
		byTables = !errors.Is(err, device.ErrMemory) && !errors.Is(err, ErrItems)
		if byTables && err != nil && ctx.Err() == nil {
			return err
		}
	}
	if !byTables {
		if err := c.others(ctx); err != nil {
			return err
		}
	}
	if rule == VCG || ctx.Err() != nil {
		return nil
	}
	order, members := c.partners()
	found := make([][][]int, len(order))
	errs := make([]error, len(order))
	cores.Pieces(len(order), func(k int) { found[k], errs[k] = c.core(ctx, members[order[k]]) })
	for k, err := range errs {
		if err != nil {
			return err
		}
		c.Coalitions = append(c.Coalitions, found[k]...)
	}
	return nil
}

// others computes VCG's payments, one branch and cut a winner.
func (c *cashier) others(ctx context.Context) error {
	errs := make([]error, len(c.Winners))
	cores.Pieces(len(c.Winners), func(k int) {
		w := &c.Winners[k]
		others, err := c.without(ctx, k)
		if err != nil {
			errs[k] = err
			return
		}
		w.Pays = others - (c.bid(c.sold(w)) - c.bid(w.Bids)) - c.atomic.GoodPrice*c.atomic.GoodsSold(w.Bids)
		c.step()
	})
	return errors.Join(errs...)
}

// partners are the parts that have winners, and the winners of each.
func (c *cashier) partners() (order []int, members map[int][]int) {
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

// step reports to Progress that one more auction is solved.
func (c *cashier) step() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	c.o.Say("payments of %d winners: %d auctions solved", len(c.Winners), c.done)
}

// bid is the sum of the prices of bids.
func (c *cashier) bid(bids []int) int64 {
	sum := int64(0)
	for _, i := range bids {
		sum += c.whole.Prices[i]
	}
	return sum
}

// sold are the winning bids of a winner's part.
func (c *cashier) sold(w *Winner) []int {
	var bids []int
	for _, i := range c.won {
		if c.part[i] == c.part[w.Bids[0]] {
			bids = append(bids, i)
		}
	}
	return bids
}

// only are the prices of one part, 0 elsewhere.
func (c *cashier) only(part int) []int64 {
	prices := make([]int64, len(c.whole.Prices))
	for i, p := range c.whole.Prices {
		if c.part[i] == part {
			prices[i] = p
		}
	}
	return prices
}

// without is the best revenue of a winner's part without the winner's bids, with the amounts by which
// goods raise prices. If ctx ends first, the value is not valid.
func (c *cashier) without(ctx context.Context, k int) (int64, error) {
	w := &c.Winners[k]
	p := &packing.Problem{Prices: c.only(c.part[w.Bids[0]]), Cliques: c.whole.Cliques}
	for _, i := range c.of[c.bidder[w.Bids[0]]] {
		p.Prices[i] = 0
	}
	set := packing.Settings{Known: c.res.prices}
	for _, i := range c.sold(w) {
		if p.Prices[i] > 0 {
			set.Start = append(set.Start, i)
		}
	}
	if len(c.Winners) > 1 {
		set.Workers = 1 // one core a winner; winners share the cores
	}
	solved, err := packing.Solve(ctx, p, set)
	if err != nil {
		return 0, err
	}
	if c.atomic.GoodPrice > 0 && ctx.Err() == nil && c.atomic.GoodsSold(solved.Winners) < c.atomic.GoodsSold(c.sold(w)) {
		return 0, noPayments(fmt.Sprintf("no other bids sell every good without bid %d and what else its bidder bids for, and the auction has no free disposal", c.atomic.Bids[w.Bids[0]].Number))
	}
	return solved.Value, nil
}
