package simplex

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"coalesce/solvers/assignment/internal/host"
	"coalesce/solvers/assignment/problem"
)

// The constants were compared on uniform costs, distances and squared distances of 1,000 to 4,000 points: docs/notes/assignment-transport.md.
const (
	auctionPairs = 16  // of a row, read at once
	sampled      = 512 // rows from which on a quarter of rows and columns is solved first
	firstEps     = 4   // the first eps, in the mean distance of a row's pairs
	nextEps      = 2   // after a sample
	lastEps      = 1. / 50
	divide       = 6  // eps by this
	widen        = 32 // eps by this where a round leaves too much
	widenings    = 4
	fewNodes     = 150     // rows and columns, up to which a greedy flow takes an auction's place
	openMost     = 0.01    // of what is to be shipped may be left by a round
	openRows     = 20      // and of more rows the part of so many
	auctionBids  = 20      // of a row in a round, in the mean, at most
	crumb        = 16      // a row with this part of its supply left does not bid again
	bidColumns   = 8       // at most, for which a row bids at once
	look         = 1 << 12 // bids between two looks at the clock
)

// An auction approaches a flow of least cost: rows bid for columns, whose prices v fall, until nearly all is shipped by pairs whose c - v is within eps of
// their row's least, and again with a smaller eps (Bertsekas and Castañon, "The auction algorithm for the transportation problem", Annals of
// Operations Research 20, 1989). It knows a few pairs of each row, and reads more where others may be better. Rows and columns are those of the network.
type auction struct {
	*solve
	v, u    []int64 // u: c - v up to which a row keeps a pair
	left    []int64 // of rows: supply that is not shipped
	room    []int64 // of columns: capacity that is not taken
	demand  []int64 // of columns
	total   int64   // left, in all
	least   int64   // v may fall to
	known   [][]host.Edge
	bound   []int64   // c - v of the row's other pairs is not less
	width   []float64 // between two pairs of the row, in the mean
	holders [][]holder
	reader  host.RowReader
	queue   []int32
	waits   []bool  // rows of the queue
	crumbs  []int64 // of rows: what may be left
	near    []int64
}

// A holder is a row that ships an amount to a column.
type holder struct {
	cost, amount int64
	row          int32
}

// approach finds a flow that is nearly optimal. Large problems that are dense begin with the prices of a quarter of the rows and columns, and costs of 64 bits are
// looked at in 32.
func (s *solve) approach(ctx context.Context, supply, demand []int64) (*auction, error) {
	p := s.p
	if p.Instance.Dense() && min(p.Rows, p.Cols) >= sampled/4 && (p.Instance.Type == problem.Float64 || p.Instance.Type == problem.Int64) {
		c, shift, err := s.coarse(nil, nil)
		if err != nil {
			return nil, err
		}
		a, err := c.approach(ctx, supply, demand)
		if err != nil {
			return nil, err
		}
		s.counts = c.counts
		return a.on(s, shift), nil
	}
	if p.Instance.Sparse != nil || min(p.Rows, p.Cols) < sampled {
		v := make([]int64, s.cols)
		s.minima(make([]int64, p.Rows), v)
		return s.auction(ctx, v, supply, demand, firstEps), nil
	}
	r := rand.New(rand.NewPCG(uint64(p.Rows), uint64(p.Cols)))
	rows, cols := r.Perm(p.Rows)[:p.Rows/4], r.Perm(p.Cols)[:p.Cols/4]
	c, shift, err := s.coarse(rows, cols)
	if err != nil {
		return nil, err
	}
	a, err := c.approach(ctx, append(share(supply[:p.Rows], rows), supply[p.Rows:]...), append(share(demand[:p.Cols], cols), demand[p.Cols:]...))
	if err != nil {
		return nil, err
	}
	s.counts.Bids += c.counts.Bids
	u := slices.Repeat([]int64{-problem.Infinity / 2}, p.Rows) // of rows outside the sample
	for k, i := range rows {
		u[i] = a.leastOf(k)<<shift + p.Min
	}
	v := make([]int64, s.cols)
	s.minima(u, v)
	for k := p.Cols; k < s.cols; k++ {
		v[k] = a.v[len(cols)]<<shift - p.Min
	}
	return s.auction(ctx, v, supply, demand, nextEps), nil
}

// coarse is the problem of some rows and columns of a dense one, or of points, nil: all, on costs less the least, without their last shift bits, in int32.
func (s *solve) coarse(rows, cols []int) (*solve, uint, error) {
	p := s.p
	shift := uint(max(0, bits.Len64(uint64(p.Max-p.Min))-30))
	q := &problem.Normal{Rows: p.Rows, Cols: p.Cols, Scale: 1, Limit: problem.Infinity, Max: (p.Max - p.Min) >> shift}
	if rows != nil {
		q.Rows, q.Cols = len(rows), len(cols)
	}
	inst := &problem.Instance{Rows: q.Rows, Cols: q.Cols, Type: problem.Int32, I32: make([]int32, q.Rows*q.Cols), Source: p.Instance.Source}
	q.Instance = inst
	factor, least := math.Ldexp(p.Scale, -int(shift)), math.Ldexp(float64(p.Min), -int(shift))
	host.ParallelParts(s.Threads, q.Rows, func() func(low, high int) {
		buf := make([]int64, p.Cols)
		return func(low, high int) {
			for i := low; i < high; i++ {
				out := inst.I32[i*q.Cols : (i+1)*q.Cols]
				switch {
				case rows == nil && p.Instance.Type == problem.Float64:
					for j, c := range p.Instance.F64[i*p.Cols:][:len(out)] {
						x := int32(math.MaxInt32)
						if c-c == 0 {
							x = int32(c*factor - least)
						}
						out[j] = x
					}
				case rows == nil:
					for j, c := range p.Row(i, buf) {
						out[j] = shortened(c, p.Min, shift)
					}
				default:
					row := p.Row(rows[i], buf)
					for k, j := range cols {
						out[k] = shortened(row[j], p.Min, shift)
					}
				}
			}
		}
	})
	source, err := host.SourceOf(q, s.Tuning)
	c := &solve{Host: s.Host, p: q, source: source}
	c.network = &network{rows: q.Rows + s.rows - p.Rows, cols: q.Cols + s.cols - p.Cols}
	return c, shift, err
}

func shortened(c, least int64, shift uint) int32 {
	if c == problem.Infinity {
		return math.MaxInt32
	}
	return int32((c - least) >> shift)
}

// share are the amounts of a sample's members, enlarged so that they add up to what all do.
func share(amounts []int64, members []int) []int64 {
	total, part := float64(problem.Total(amounts)), 0.0
	for _, k := range members {
		part += float64(amounts[k])
	}
	own := make([]int64, len(members))
	left := problem.Total(amounts)
	for k, i := range members {
		if part > 0 {
			own[k] = min(left, int64(float64(amounts[i])*(total/part)))
		}
		left -= own[k]
	}
	own[0] += left
	return own
}

// on is the auction of a coarse problem as one of the problem itself.
func (a *auction) on(s *solve, shift uint) *auction {
	a.solve = s
	p := s.p
	for j := range a.v {
		a.v[j] <<= shift
		if j == p.Cols {
			a.v[j] -= p.Min
		}
	}
	for i, list := range a.known[:p.Rows] {
		if a.bound[i] < problem.Infinity/2 {
			a.bound[i] = a.bound[i]<<shift + p.Min
		}
		for k, e := range list {
			if int(e.Col) < p.Cols {
				list[k].Cost = p.Cost(i, int(e.Col))
			}
		}
	}
	for j, list := range a.holders[:p.Cols] {
		for k, h := range list {
			if int(h.row) < p.Rows {
				list[k].cost = p.Cost(int(h.row), j)
			}
		}
	}
	return a
}

// auction runs rounds from the prices v on, which it takes over.
func (s *solve) auction(ctx context.Context, v, supply, demand []int64, first float64) *auction {
	p := s.p
	n := s.rows
	a := &auction{solve: s, v: v, u: make([]int64, n), left: slices.Clone(supply), room: slices.Clone(demand), demand: demand, total: problem.Total(supply),
		least: -2 * int64(p.Rows+1) * s.size(), known: make([][]host.Edge, n), bound: make([]int64, n), width: make([]float64, n),
		holders: make([][]holder, s.cols), reader: s.source.Reader(), waits: make([]bool, n), crumbs: make([]int64, n)}
	for i, x := range supply {
		a.crumbs[i] = x / crumb
	}
	const most = auctionPairs + 1
	pairs := make([]host.Edge, p.Rows*most)
	for i := range p.Rows {
		a.known[i] = pairs[i*most : i*most : (i+1)*most]
	}
	s.source.DualsChanged(v[:p.Cols])
	host.ParallelParts(s.Threads, p.Rows, func() func(low, high int) {
		reader, last := s.source.Reader(), problem.Infinity
		return func(low, high int) {
			for i := low; i < high; i++ {
				last = a.read(i, reader, last)
			}
		}
	})
	s.counts.Passes++
	for i := p.Rows; i < n; i++ { // what demands are left: any column will do
		for j := range p.Cols {
			a.known[i] = append(a.known[i], host.Edge{Col: int32(j)})
		}
		a.bound[i] = problem.Infinity
	}
	if n+s.cols <= fewNodes {
		a.fill()
		return a
	}
	mean := 0.0
	for i := range p.Rows {
		mean += a.width[i] * float64(len(a.known[i])) / float64(p.Rows)
	}
	stop := int64(min(openMost, openRows/float64(n)) * float64(a.total))
	last := max(1, int64(lastEps*mean))
	again := 0
	for eps := max(1, int64(first*mean)); ; {
		a.rescale(eps)
		a.round(ctx, eps, stop)
		switch {
		case ctx.Err() != nil:
			return a
		case a.total > 2*stop && again < widenings && eps < (p.Max-p.Min)/divide: // prices have far to fall
			eps = min(eps*widen, (p.Max-p.Min)/divide)
			again++
		case eps <= last:
			return a
		default:
			eps = max(last, eps/divide)
		}
	}
}

// fill ships what rows have to their nearest columns with room, first that of rows with the most to lose by their second column.
func (a *auction) fill() {
	order, gap := make([]int32, a.rows), make([]int64, a.rows)
	for i := range order {
		order[i] = int32(i)
		a.nearOf(i)
		least, second := problem.Infinity, problem.Infinity
		for _, d := range a.near {
			least, second = min(least, d), min(second, max(least, d))
		}
		gap[i] = second - least
	}
	slices.SortStableFunc(order[:a.p.Rows], func(x, y int32) int { return cmp.Compare(gap[y], gap[x]) })
	buf := make([]int64, a.p.Cols)
	for _, i := range order {
		a.nearOf(int(i))
		a.ship(int(i), a.known[i])
		if a.left[i] == 0 || int(i) >= a.p.Rows {
			continue
		}
		var rest []host.Edge
		a.near = a.near[:0]
		for j, c := range a.p.Row(int(i), buf) {
			if a.room[j] > 0 && c != problem.Infinity {
				rest, a.near = append(rest, host.Edge{Col: int32(j), Cost: c}), append(a.near, c-a.v[j])
			}
		}
		a.ship(int(i), rest)
	}
}

// ship ships what a row has left over some pairs, whose c - v are near, the least first.
func (a *auction) ship(i int, edges []host.Edge) {
	for a.left[i] > 0 {
		at, least := -1, problem.Infinity
		for k, d := range a.near {
			if d < least && a.room[edges[k].Col] > 0 {
				at, least = k, d
			}
		}
		if at < 0 {
			return
		}
		e := edges[at]
		amount := min(a.left[i], a.room[e.Col])
		a.left[i] -= amount
		a.room[e.Col] -= amount
		a.total -= amount
		a.holders[e.Col] = append(a.holders[e.Col], holder{e.Cost, amount, int32(i)})
	}
}

// read reads the pairs of a row, and returns its bound. Rows that are read for the first time have about as many pairs below the last row's bound.
func (a *auction) read(i int, reader host.RowReader, last int64) int64 {
	guess, more := problem.Infinity, int64(0)
	switch {
	case len(a.known[i]) > 0:
		more = 1 + int64(a.width[i]*auctionPairs)
		guess = a.leastOf(i) + more
	case last < problem.Infinity/2:
		more = 1 + max(0, last/8)
		guess = last + more
	}
	list, bound := reader.AppendLeast(i, a.v[:a.p.Cols], auctionPairs, 0, guess, a.known[i][:0])
	for len(list) < 2 && guess < problem.Infinity/2 {
		if more *= 4; more >= problem.Infinity/8 {
			guess = problem.Infinity
		} else {
			guess += more
		}
		list, bound = reader.AppendLeast(i, a.v[:a.p.Cols], auctionPairs, 0, guess, list[:0])
	}
	if a.cols > a.p.Cols { // a row may keep what it has
		list = append(list, host.Edge{Col: int32(a.p.Cols)})
	}
	least, most := problem.Infinity, -problem.Infinity
	for _, e := range list {
		d := e.Cost - a.v[e.Col]
		least, most = min(least, d), max(most, d)
	}
	a.width[i] = 0
	if len(list) > 1 {
		a.width[i] = float64(most-least) / float64(len(list)-1)
	}
	a.known[i], a.bound[i] = list, bound
	return bound
}

// leastOf is the least c - v of a row, as far as it is known.
func (a *auction) leastOf(i int) int64 {
	least := a.bound[i]
	if len(a.known[i]) > 0 {
		least = problem.Infinity
	}
	for _, e := range a.known[i] {
		least = min(least, e.Cost-a.v[e.Col])
	}
	return least
}

// rescale keeps the flows that are within eps of their row's least c - v.
func (a *auction) rescale(eps int64) {
	for i := range a.u {
		a.u[i] = min(a.leastOf(i), a.bound[i]) + eps
	}
	for j, list := range a.holders {
		a.holders[j] = slices.DeleteFunc(list, func(h holder) bool {
			if h.cost-a.v[j] <= a.u[h.row] {
				return false
			}
			a.left[h.row] += h.amount
			a.room[j] += h.amount
			a.total += h.amount
			return true
		})
	}
}

// wait has a row bid later, unless next to nothing is left.
func (a *auction) wait(i int32) {
	if !a.waits[i] && a.left[i] > a.crumbs[i] {
		a.waits[i] = true
		a.queue = append(a.queue, i)
	}
}

// round has rows bid until at most stop is left, or a limit of bids is reached.
func (a *auction) round(ctx context.Context, eps, stop int64) {
	a.queue = a.queue[:0]
	clear(a.waits)
	for i, x := range a.left {
		if x > 0 {
			a.wait(int32(i))
		}
	}
	for at := 0; at < len(a.queue) && at < auctionBids*a.rows && a.total > stop; at++ {
		if at%look == 0 && ctx.Err() != nil {
			return
		}
		i := a.queue[at]
		a.waits[i] = false
		a.bid(int(i), eps)
	}
}

// bid has a row bid for its nearest columns that take together what it has left: up to c - v of the next column, and eps. Pairs that it does not know
// may be better by eps.
func (a *auction) bid(i int, eps int64) {
	a.counts.Bids++
	least := a.nearOf(i)
	if len(a.near) > 0 && least > a.bound[i]+eps {
		a.counts.Passes += 1 / float64(a.rows)
		a.read(i, a.reader, problem.Infinity)
		a.nearOf(i)
	}
	edges, near, bound := a.known[i], a.near, a.bound[i]+eps
	var set [bidColumns]int
	n, need, level, last := 0, a.left[i], bound, int64(0)
	for {
		at, d := -1, problem.Infinity
		for k, x := range near {
			if x < d {
				at, d = k, x
			}
		}
		if at < 0 || d > bound {
			break
		}
		if need <= 0 || n == len(set) {
			level = d
			break
		}
		near[at], last = problem.Infinity, d
		set[n] = at
		n++
		j := edges[at].Col
		need -= a.demand[j]
		for _, h := range a.holders[j] {
			if int(h.row) == i {
				need += h.amount
			}
		}
	}
	if level >= problem.Infinity/2 { // there are no others
		level = last + a.p.Max - a.p.Min
	}
	if n == 0 || level > -a.least {
		return
	}
	a.u[i] = max(a.u[i], level+eps)
	for _, at := range set[:n] {
		if a.take(i, edges[at]); a.left[i] == 0 {
			return
		}
	}
	a.wait(int32(i))
}

// nearOf lists c - v of the known pairs of a row, and returns the least.
func (a *auction) nearOf(i int) int64 {
	a.near = a.near[:0]
	least, v := problem.Infinity, a.v
	for _, e := range a.known[i] {
		d := e.Cost - v[e.Col]
		a.near, least = append(a.near, d), min(least, d)
	}
	return least
}

// take has a row ship to a column what is free, and what rows ship to it that would rather leave.
func (a *auction) take(i int, e host.Edge) {
	j := e.Col
	own := e.Cost - a.u[i] // price down to which the row stays
	got := min(a.left[i], a.room[j])
	a.room[j] -= got
	a.total -= got
	list := a.holders[j]
	for got < a.left[i] {
		at, price := -1, own
		for k, h := range list {
			if x := h.cost - a.u[h.row]; x > price {
				at, price = k, x
			}
		}
		if at < 0 {
			break
		}
		h := &list[at]
		x := min(h.amount, a.left[i]-got)
		h.amount -= x
		got += x
		a.left[h.row] += x
		a.wait(h.row)
		if h.amount == 0 {
			list[at] = list[len(list)-1]
			list = list[:len(list)-1]
		}
	}
	if a.left[i] -= got; got > 0 {
		if k := slices.IndexFunc(list, func(h holder) bool { return int(h.row) == i }); k >= 0 {
			list[k].amount += got
		} else {
			list = append(list, holder{e.Cost, got, int32(i)})
		}
	}
	a.holders[j] = list
	if a.room[j] == 0 && len(list) > 0 {
		price := -problem.Infinity
		for _, h := range list {
			price = max(price, h.cost-a.u[h.row])
		}
		a.v[j] = min(a.v[j], price)
	}
}

// basis makes the known pairs arcs, and a basis of the flows.
func (a *auction) basis() {
	t := a.network
	price := make([]int64, a.rows+a.cols)
	start := make([]int32, a.rows)
	arcs := 0
	for _, list := range a.known {
		arcs += len(list) + moreArcs
	}
	t.from, t.to, t.cost = make([]int32, 0, arcs), make([]int32, 0, arcs), make([]int64, 0, arcs)
	for i, list := range a.known {
		start[i] = int32(len(t.from))
		for _, e := range list {
			t.add(int32(i), e.Col, e.Cost)
		}
		if price[i] = min(a.leastOf(i), a.bound[i]); price[i] > problem.Infinity/2 {
			price[i] = 0
		}
	}
	f := newForest(a.rows + a.cols + 1)
	for j, list := range a.holders {
		price[a.rows+j] = -a.v[j]
		for _, h := range list {
			id := start[h.row]
			if k := slices.IndexFunc(a.known[h.row], func(e host.Edge) bool { return int(e.Col) == j }); k >= 0 {
				id += int32(k)
			} else {
				id = int32(len(t.from))
				t.add(h.row, int32(j), h.cost)
			}
			f.add(carrier{h.row, int32(a.rows + j), id, h.cost, h.amount})
		}
	}
	// Artificial arcs: those of a part without them agree with its prices, and any arc from the root costs big or more.
	lowest, highest := problem.Infinity, -problem.Infinity
	for _, x := range price {
		lowest, highest = min(lowest, x), max(highest, x)
	}
	t.toRoot, t.fromRoot = make([]int64, len(price)), make([]int64, len(price))
	for x := range price {
		t.toRoot[x], t.fromRoot[x] = price[x]-lowest, t.big+highest-price[x]
	}
	for i, x := range a.left {
		if x > 0 {
			f.add(carrier{int32(i), t.root, none, t.toRoot[i], x})
		}
	}
	for j, x := range a.room {
		if x > 0 {
			f.add(carrier{t.root, int32(a.rows + j), none, t.fromRoot[a.rows+j], x})
		}
	}
	t.hang(f)
}
