package packing

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

const (
	passes     = 400     // of the subgradient method
	sifted     = 1000    // bids that are sifted first, or half as many as prices; then a quarter more each time
	siftedRows = 1 << 13 // of a relaxation of bids that are sifted, where a bid has few cliques
	fewCliques = 16      // of a bid, in the mean
	failures   = 60      // neighbourhoods in turn without a better packing that end a search without a tree
)

// batches are lists of bids that share no clique with the bids of other lists. Each has at most so many bids, or
// is connected.
func (p *Problem) batches(live []int32, most int) [][]int32 {
	leader := slices.Repeat([]int32{-1}, len(p.Prices))
	for _, j := range live {
		leader[j] = j
	}
	find := func(j int32) int32 {
		for leader[j] != j {
			leader[j] = leader[leader[j]]
			j = leader[j]
		}
		return j
	}
	for _, c := range p.Cliques {
		first := int32(-1)
		for _, j := range c {
			if leader[j] < 0 {
				continue
			}
			if first < 0 {
				first = find(j)
			} else {
				leader[find(j)] = first
			}
		}
	}
	parts := map[int32][]int32{}
	var order []int32
	for _, j := range live {
		k := find(j)
		if parts[k] == nil {
			order = append(order, k)
		}
		parts[k] = append(parts[k], j)
	}
	var lists [][]int32
	var small []int32
	for _, k := range order {
		switch part := parts[k]; {
		case len(part) > most/4:
			lists = append(lists, part)
		case len(small)+len(part) > most/4:
			lists, small = append(lists, small), part
		default:
			small = append(small, part...)
		}
	}
	if small != nil {
		lists = append(lists, small)
	}
	return lists
}

// solveInBatches solves a problem of more bids than a search holds, batch by batch.
func solveInBatches(ctx context.Context, p *Problem, live []int32, set Settings) (*Result, error) {
	res := &Result{}
	lists := p.batches(live, set.mostBids())
	problems, later := p.split(lists), int64(0)
	for _, sub := range problems {
		later += sub.shareBound()
	}
	starting := make([]bool, len(p.Prices))
	for _, j := range set.Start {
		starting[j] = true
	}
	for k, sub := range problems {
		later -= sub.shareBound()
		part := set
		part.Start, part.Known = nil, nil
		for at, j := range lists[k] {
			if starting[j] {
				part.Start = append(part.Start, at)
			}
		}
		if set.Progress != nil {
			value, bound, nodes := res.Value, res.Bound+later, res.Nodes
			part.Progress = func(v, b, n int64) { set.Progress(value+v, bound+b, nodes+n) }
		}
		one, err := solveBatch(ctx, sub, part)
		if err != nil {
			return nil, err
		}
		res.add(one, lists[k])
		for _, pair := range one.Replaced {
			res.Replaced = append(res.Replaced, [2]int32{lists[k][pair[0]], lists[k][pair[1]]})
		}
		res.Bids, res.Parts = res.Bids+one.Bids, res.Parts+one.Parts
	}
	slices.Sort(res.Winners)
	return res, nil
}

func solveBatch(ctx context.Context, p *Problem, set Settings) (*Result, error) {
	if len(p.Prices) <= set.mostBids() {
		return Solve(ctx, p, set)
	}
	res, prices := p.packByPrices()
	if worth := p.worth(set.Start); worth > res.Value {
		res.Winners, res.Value = set.Start, worth
	}
	var err error
	if teamOf(set) == nil { // ranks would sift for different times
		err = prices.sift(ctx, set, res, func() {
			if set.Progress != nil {
				set.Progress(res.Value, res.Bound, res.Nodes)
			}
		})
	}
	if set.Log {
		res.Proof = []Part{p.proofOfPrices(res.Prices)}
	}
	return res, err
}

// sift improves a result of prices: it solves the problem of the bids that the prices of their cliques exceed the
// least. Once prices show that no other bid can be in a better packing, the bound of the bids left is the bound of all. It calls
// report with every improvement.
func (s *pricer) sift(ctx context.Context, set Settings, res *Result, report func()) error {
	p, short := s.Problem, s.shortfalls(res.Prices)
	sorted := slices.Sorted(slices.Values(short))
	count := max(len(res.Prices)/2, sifted)
	room := sorted[min(len(sorted)-1, count)]
	log := set.Log
	set = Settings{Workers: set.Workers, sifts: true, bidsHeld: set.bidsHeld, rowsHeld: set.rowsHeld}
	if set.rowsHeld == 0 && s.sparse() {
		set.rowsHeld = siftedRows
	}
	for ctx.Err() == nil {
		winner := make([]bool, len(p.Prices))
		for _, j := range res.Winners {
			winner[j] = true
		}
		var some []int32
		set.Start = nil
		for j, v := range short {
			if winner[j] {
				set.Start = append(set.Start, len(some))
			}
			if winner[j] || v <= room {
				some = append(some, int32(j))
			}
		}
		if len(some) > set.mostBids() {
			return nil // the bids are too many for a search
		}
		one, err := Solve(ctx, p.split([][]int32{some})[0], set)
		if err != nil {
			return err
		}
		res.Nodes += one.Nodes
		better := one.Value > res.Value
		if better {
			res.Value, res.Winners = one.Value, nil
			for _, j := range one.Winners {
				res.Winners = append(res.Winners, int(some[j]))
			}
		}
		gap := res.Bound - res.Value
		if gap <= room || len(some) == len(p.Prices) { // bids left out are in no better packing
			if !log { // the proof has the prices alone
				res.Bound = min(res.Bound, max(res.Value, one.Bound))
			}
			if res.Proven() {
				res.Limited = ""
			}
			report()
			return nil
		}
		report()
		prices, bound := s.run(res.Value)
		if one.Limited != "" && !better && bound >= res.Bound {
			return nil
		}
		if bound < res.Bound {
			res.Prices, res.Bound = prices, bound
			short = s.shortfalls(prices)
			sorted = slices.Sorted(slices.Values(short))
			gap = bound - res.Value
		}
		count += count / 4
		room = min(gap, sorted[min(len(sorted)-1, count)])
	}
	return nil
}

// sparse reports whether bids have so few cliques that a linear program of many rows needs no inverse.
func (s *pricer) sparse() bool {
	entries := 0
	for _, rows := range s.rows {
		entries += len(rows)
	}
	return entries <= fewCliques*len(s.rows)
}

// shortfalls are, of each bid, what the prices of its cliques exceed its own price by.
func (p *Problem) shortfalls(prices []Price) []int64 {
	short := make([]int64, len(p.Prices))
	for j, price := range p.Prices {
		short[j] = -price
	}
	for _, x := range prices {
		for _, j := range x.Bids {
			short[j] += x.Amount
		}
	}
	return short
}

func (p *Problem) worth(bids []int) (sum int64) {
	for _, j := range bids {
		sum += p.Prices[j]
	}
	return sum
}

// packByPrices packs bids greedily, the dearest for their cliques first, and bounds all packings by prices of cliques. It
// needs no list of the pairs that conflict.
func (p *Problem) packByPrices() (*Result, *pricer) {
	res := &Result{Bids: len(p.Prices), Parts: 1, Cliques: len(p.Cliques), Limited: tooManyBids}
	s := newPricer(p)
	rows := s.rows
	order, key := make([]int32, len(p.Prices)), make([]float64, len(p.Prices))
	for _, power := range []float64{0, 0.25, 0.5, 0.75, 1} {
		for j := range order {
			order[j], key[j] = int32(j), float64(p.Prices[j])/math.Pow(float64(len(rows[j])), power)
		}
		slices.SortStableFunc(order, func(a, b int32) int {
			if key[a] > key[b] {
				return -1
			} else if key[a] < key[b] {
				return 1
			}
			return 0
		})
		sold := make([]bool, len(p.Cliques))
		var chosen []int
		for _, j := range order {
			if !slices.ContainsFunc(rows[j], func(i int32) bool { return sold[i] }) {
				chosen = append(chosen, int(j))
				for _, i := range rows[j] {
					sold[i] = true
				}
			}
		}
		if value := p.worth(chosen); value > res.Value {
			res.Winners, res.Value = chosen, value
		}
	}
	slices.Sort(res.Winners)
	res.Prices, res.Bound = s.run(res.Value)
	res.LPBound = res.Bound
	return res, s
}

// rowsOfBids lists the cliques of each bid.
func (p *Problem) rowsOfBids() [][]int32 {
	rows := make([][]int32, len(p.Prices))
	for i, c := range p.Cliques {
		for _, j := range c {
			rows[j] = append(rows[j], int32(i))
		}
	}
	return rows
}

// A pricer prices the cliques of a problem by the subgradient method.
type pricer struct {
	*Problem
	rows [][]int32 // cliques of each bid
	best []float64 // prices of the cliques, in whole units
}

func newPricer(p *Problem) *pricer {
	s := &pricer{p, p.rowsOfBids(), make([]float64, len(p.Cliques))}
	for i, c := range p.Cliques {
		for _, j := range c {
			s.best[i] = max(s.best[i], float64(p.Prices[j])/float64(len(s.rows[j])))
		}
	}
	return s
}

// run improves the prices by Polyak's steps towards the value of a packing (Held and Karp, Mathematical Programming 1,
// 1971), and returns them in integers, with their bound.
func (s *pricer) run(value int64) ([]Price, int64) {
	p, rows, best := s.Problem, s.rows, s.best
	y, use := slices.Clone(best), make([]float64, len(best))
	least, length, stale := math.Inf(1), 1.0, 0
	for range passes {
		bound := 0.0
		for i := range use {
			use[i] = 1
			bound += y[i]
		}
		for j, price := range p.Prices {
			left := float64(price)
			for _, i := range rows[j] {
				left -= y[i]
			}
			if left > 0 {
				bound += left
				for _, i := range rows[j] {
					use[i]--
				}
			}
		}
		stale++
		if bound < least {
			least, stale = bound, 0
			copy(best, y)
		}
		if stale == 10 {
			length, stale = length/2, 0
			copy(y, best)
			continue
		}
		square := 0.0
		for i, g := range use {
			if g > 0 && y[i] == 0 {
				use[i] = 0
			}
			square += use[i] * use[i]
		}
		step := length * (bound - float64(value)) / max(1, square)
		for i, g := range use {
			y[i] = max(0, y[i]-step*g)
		}
	}
	var prices []Price
	bound := int64(0)
	reduced := slices.Clone(p.Prices)
	for i, c := range p.Cliques {
		if amount := int64(math.Ceil(best[i])); amount > 0 && amount <= math.MaxInt64/4-bound {
			prices = append(prices, Price{slices.Clone(c), amount})
			bound += amount
			for _, j := range c {
				reduced[j] -= amount
			}
		}
	}
	for _, v := range reduced {
		bound += max(0, v)
	}
	return prices, bound
}

// proofOfPrices is the proof of the bound that prices of cliques give.
func (p *Problem) proofOfPrices(prices []Price) Part {
	log, root := &proofLog{number: map[string]int32{}}, &Step{}
	root.recordPrices(prices, log)
	part := Part{Cliques: log.cliques, Root: root, Bids: make([]int32, len(p.Prices))}
	for j := range part.Bids {
		part.Bids[j] = int32(j)
	}
	return part
}

// Reasons of Result.Limited.
const (
	tooManyBids = "more bids compete than a search holds the conflicts of"
	tooManyRows = "more goods compete than a linear program holds"
)

// withoutTree ends a component whose relaxation takes more than memory holds: prices of the cliques bound it, and
// searches of neighbourhoods improve its packing until they fail in turn.
func (t *tree) withoutTree(ctx context.Context, p *Problem, n *node, res *Result) error {
	s := newPricer(p)
	prices, bound := s.run(t.incumbent())
	res.Limited = tooManyRows
	res.Bound, res.Prices, res.LPBound = bound, prices, bound
	n.bound = bound
	t.top.Store(n.bound)
	t.elsewhere.Store(n.bound) // searches of neighbourhoods do not lower it
	t.report()
	if t.set.sifts {
		n.step.recordPrices(prices, t.log)
		return nil
	}
	res.Value, res.Winners = t.incumbent(), indices(t.chosen)
	err := s.sift(ctx, t.set, res, func() {
		chosen := make([]int32, len(res.Winners))
		for k, j := range res.Winners {
			chosen[k] = int32(j)
		}
		t.top.Store(res.Bound)
		t.offer(chosen, res.Value)
		t.report()
	})
	n.step.recordPrices(res.Prices, t.log)
	if err != nil || res.Proven() {
		return err
	}
	t.rows = p.rows()
	t.gains, t.work = make([]gain, t.g.n), []int64{-1}
	w := newWorker(t, 0)
	w.near = &neighbourhood{rand.New(rand.NewPCG(0, 1)), min(400, t.g.n/8)}
	for failed := 0; failed < failures && ctx.Err() == nil && t.incumbent() < n.bound && t.incumbent() <= t.enough; failed++ {
		before := t.incumbent()
		if w.searchNeighbourhoods(ctx); t.incumbent() > before {
			failed = 0
		}
	}
	return nil
}
