// Package simplex solves the transportation problem: rows ship their supplies to columns, up to the columns' capacities, at the least cost. It
// is the network simplex method on a few arcs of each row, with more arcs where their reduced costs are negative (column generation),
// so that a solve reads the costs a few times and otherwise works in the caches.
package simplex

import (
	"cmp"
	"context"
	"math/rand/v2"
	"runtime"
	"slices"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/host"
	"coalesce/solvers/assignment/problem"
)

const (
	firstArcs  = 24      // of a row at the start
	moreArcs   = 8       // of a row with negative reduced costs, of each pass
	sampled    = 256     // rows and columns from which on a sample is solved first, where it is of use
	structured = 1.0 / 3 // share left by the first arcs: costs with a structure
	steps      = 64      // pivots between two looks at the clock
)

// A Solution is a flow of least scaled cost with duals, in the normal problem's rows and columns: u[i] + v[j] <= c(i,j) for allowed
// pairs; those of the side with the larger sum are at most 0, and 0 where something is left.
type Solution struct {
	problem.Flow
	problem.Prices
	Counts engine.Counts
	// Cut are rows, or columns where these have the lesser sum, whose amounts together are more than their partners'; nil: a flow exists.
	Cut []int32
}

// Solve finds a flow of least scaled cost for the supplies and capacities of a normal problem's instance, on threads of the host
// (0: all). Beside the error of a ctx that has ended is the flow so far, nil where it does not ship all; its prices bound nothing.
func Solve(ctx context.Context, p *problem.Normal, on engine.Host) (*Solution, error) {
	if on.Threads <= 0 {
		on.Threads = runtime.GOMAXPROCS(0)
	}
	source, err := host.SourceOf(p, on.Tuning)
	if err != nil {
		return nil, err
	}
	s := &solve{p: p, source: source, threads: on.Threads}
	return s.run(ctx, p.Instance.Supplies(), p.Instance.Capacities())
}

type solve struct {
	p       *problem.Normal
	source  host.PairSource
	threads int
	*network
	counts engine.Counts
}

func (s *solve) run(ctx context.Context, supply, demand []int64) (*Solution, error) {
	p := s.p
	has, wants := problem.Total(supply), problem.Total(demand)
	rows, cols := p.Rows, p.Cols
	switch {
	case has < wants:
		supply, rows = append(slices.Clone(supply), wants-has), rows+1
	case has > wants:
		demand, cols = append(slices.Clone(demand), has-wants), cols+1
	}
	size := max(p.Max, -p.Min, 1)
	s.network = newNetwork(rows, cols, int64(min(rows, cols)+1)*size)
	v := make([]int64, p.Cols)
	if has == wants {
		s.minima(make([]int64, p.Rows), v)
	}
	left := s.begin(v, size, supply, demand)
	if left > structured*float64(min(has, wants)) && min(p.Rows, p.Cols) >= sampled && p.Instance.Dense() {
		ok, err := s.sample(ctx, supply[:p.Rows], demand[:p.Cols], v)
		if err != nil {
			return nil, err
		}
		if ok {
			s.network = newNetwork(rows, cols, s.big)
			s.begin(v, size, supply, demand)
		}
	}
	for {
		s.resize()
		for k := 1; ; k++ {
			e, reduced := s.entering()
			if e == none {
				break
			}
			s.pivot(e, reduced)
			if k%steps == 0 && ctx.Err() != nil {
				return s.feasible(), ctx.Err()
			}
		}
		if s.violated(v) == 0 {
			break
		}
		s.counts.Repairs++
		if ctx.Err() != nil {
			return s.feasible(), ctx.Err()
		}
	}
	f := s.finish()
	f.Cut = s.cut()
	return f, nil
}

// begin makes the first arcs known, those of least c - v, and a basis of them; left is what they do not ship.
func (s *solve) begin(v []int64, size int64, supply, demand []int64) (left float64) {
	p := s.p
	key := s.firstArcs(v)
	for j := range p.Cols {
		if s.rows > p.Rows {
			s.add(int32(p.Rows), int32(j), 0)
			key = append(key, 2*size)
		}
	}
	for i := range p.Rows {
		if s.cols > p.Cols {
			s.add(int32(i), int32(p.Cols), 0)
			key = append(key, 2*size)
		}
	}
	order := make([]int32, len(key))
	for e := range order {
		order[e] = int32(e)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(key[a], key[b]) })
	s.start(order, supply, demand)
	for x := range s.rows {
		if s.network.arc[x] == none {
			left += float64(s.flow[x])
		}
	}
	return left
}

// minima sets v to the least c - u of the columns, 0 where no row may have the column, and at most 0 where demands are left.
func (s *solve) minima(u, v []int64) {
	s.source.ColumnMinima(u, v, s.threads)
	s.counts.Passes++
	for j, x := range v {
		if x >= problem.Infinity/4 || x > 0 && s.rows > s.p.Rows {
			v[j] = 0
		}
	}
}

// sample solves a random quarter of the rows and columns, in the same manner, and sets v to prices of all columns by the sample's
// rows. It reports false where the sample has no flow.
func (s *solve) sample(ctx context.Context, supply, demand, v []int64) (bool, error) {
	p := s.p
	r := rand.New(rand.NewPCG(uint64(p.Rows), uint64(p.Cols)))
	rows, cols := r.Perm(p.Rows)[:p.Rows/4], r.Perm(p.Cols)[:p.Cols/4]
	costs := make([]int64, 0, len(rows)*len(cols))
	buf := make([]int64, p.Cols)
	for _, i := range rows {
		row := p.Row(i, buf)
		for _, j := range cols {
			c := row[j]
			if c == problem.Infinity {
				c = problem.Forbidden[int64](false)
			}
			costs = append(costs, c)
		}
	}
	inst, err := problem.NewInstance(len(rows), len(cols), costs, p.Instance.Source)
	if err != nil {
		return false, err
	}
	inst.Supply, inst.Capacity = share(supply, rows), share(demand, cols)
	q, err := problem.Normalise(inst)
	if err != nil {
		return false, err
	}
	found, err := Solve(ctx, q, engine.Host{Threads: s.threads})
	if err != nil || found.Cut != nil {
		return false, err
	}
	s.counts.Steps += found.Counts.Steps
	u := slices.Repeat([]int64{-problem.Infinity / 2}, p.Rows) // of rows outside the sample
	for k, i := range rows {
		u[i] = found.U[k]
		if q.Transposed {
			u[i] = found.V[k]
		}
		u[i] <<= q.Dropped
	}
	s.minima(u, v)
	return true, nil
}

// share are the amounts of a sample's members, enlarged so that they add up to about as much as all.
func share(amounts []int64, members []int) []int64 {
	total, part := float64(problem.Total(amounts)), 0.0
	for _, k := range members {
		part += float64(amounts[k])
	}
	own := make([]int64, len(members))
	if part == 0 {
		return own
	}
	left := problem.Total(amounts)
	for k, i := range members {
		own[k] = min(left, int64(float64(amounts[i])*(total/part)))
		left -= own[k]
	}
	own[0] += left
	return own
}

// resize sets how many arcs pricing looks at.
func (s *solve) resize() {
	s.block = 32
	for s.block*s.block < len(s.network.from) {
		s.block *= 2
	}
}

// firstArcs reads the arcs of each row with the least c - v, and returns by how much each is dearer than its row's first.
func (s *solve) firstArcs(v []int64) (key []int64) {
	lists := s.read(v, nil, firstArcs)
	for i, list := range lists {
		least := problem.Infinity
		for _, e := range list {
			least = min(least, e.Cost-v[e.Col])
		}
		for _, e := range list {
			s.add(int32(i), e.Col, e.Cost)
			key = append(key, e.Cost-v[e.Col]-least)
		}
	}
	return key
}

// read reads the k pairs of each row with the least c - v, where bars is not nil only of rows that have pairs below their bars.
func (s *solve) read(v, bars []int64, k int) [][]host.Edge {
	s.counts.Passes++
	s.source.DualsChanged(v)
	lists := make([][]host.Edge, s.p.Rows)
	host.ParallelParts(s.threads, s.p.Rows, func() func(low, high int) {
		reader := s.source.Reader()
		buf := make([]host.Edge, 0, 2*k)
		return func(low, high int) {
			for i := low; i < high; i++ {
				guess := problem.Infinity
				if bars != nil {
					guess = bars[i]
				}
				list, _ := reader.AppendLeast(i, v, k, k, guess, buf[:0])
				if bars != nil {
					list = slices.DeleteFunc(list, func(e host.Edge) bool { return e.Cost-v[e.Col] >= bars[i] })
				}
				if len(list) > 0 {
					lists[i] = slices.Clone(list)
				}
			}
		}
	})
	return lists
}

// violated makes arcs known whose reduced costs are negative, and returns how many.
func (s *solve) violated(v []int64) (found int) {
	for j := range v {
		v[j] = -s.price[s.p.Rows+s.slackRows()+j]
	}
	for i, list := range s.read(v, s.price[:s.p.Rows], moreArcs) {
		for _, e := range list {
			s.add(int32(i), e.Col, e.Cost)
			found++
		}
	}
	return found
}

// slackRows is 1 where a row that is no row of the problem takes what demands are left, else 0.
func (s *solve) slackRows() int { return s.rows - s.p.Rows }

// finish takes the flow and the duals from the basis.
func (s *solve) finish() *Solution {
	f := &Solution{Prices: problem.Prices{U: make([]int64, s.p.Rows), V: make([]int64, s.p.Cols)}, Counts: s.counts}
	level := int64(0) // price of the slack
	switch {
	case s.rows > s.p.Rows:
		level = s.price[s.p.Rows]
	case s.cols > s.p.Cols:
		level = s.price[s.rows+s.p.Cols]
	}
	for i := range f.U {
		f.U[i] = s.price[i] - level
	}
	for j := range f.V {
		f.V[j] = level - s.price[s.rows+j]
	}
	amounts := map[problem.Pair]int64{}
	var pairs []problem.Pair
	for x := range int32(s.rows + s.cols) {
		if e := s.network.arc[x]; e != none && s.flow[x] > 0 {
			if i, j := s.network.from[e], s.to[e]-int32(s.rows); int(i) < s.p.Rows && int(j) < s.p.Cols {
				pair := problem.Pair{Row: i, Col: j}
				pairs, amounts[pair] = append(pairs, pair), s.flow[x]
			}
		}
	}
	f.Flow = problem.FlowOf(pairs, func(x problem.Pair) int64 { return amounts[x] })
	f.Counts.Steps, f.Counts.Edges = f.Counts.Steps+s.pivots, int64(len(s.network.from))
	return f
}

// feasible is the flow so far, nil where it does not ship all.
func (s *solve) feasible() *Solution {
	for x := range s.rows + s.cols {
		if s.network.arc[x] == none && s.flow[x] > 0 {
			return nil
		}
	}
	return s.finish()
}

// cut is a proof that no flow exists: the nodes that what was not shipped could be moved to, of the side whose sum is less. nil where
// all was shipped.
func (s *solve) cut() []int32 {
	ofRows := s.rows > s.p.Rows || s.cols == s.p.Cols && !s.p.Transposed // rows ship all they have; where columns take all, too, those of the instance
	seen := make([]bool, s.rows+s.cols)
	var list []int32
	reach := func(x int32) {
		if !seen[x] {
			seen[x] = true
			list = append(list, x)
		}
	}
	for x := range int32(s.rows + s.cols) {
		if s.network.arc[x] == none && s.flow[x] > 0 && s.away[x] == ofRows { // what the root takes from rows, or gives to columns
			reach(x)
		}
	}
	if len(list) == 0 {
		return nil
	}
	partners := make([][]int32, s.rows+s.cols) // of a column the rows that ship to it, and the reverse
	for x := range int32(s.rows + s.cols) {
		if e := s.network.arc[x]; e != none && s.flow[x] > 0 {
			i, j := s.network.from[e], s.to[e]
			partners[i], partners[j] = append(partners[i], j), append(partners[j], i)
		}
	}
	buf := make([]int64, s.p.Cols)
	for at := 0; at < len(list); at++ {
		x := int(list[at])
		switch {
		case (x < s.rows) != ofRows:
			for _, y := range partners[x] {
				reach(y)
			}
		case ofRows:
			for j, c := range s.p.Row(x, buf) {
				if c != problem.Infinity {
					reach(int32(s.rows + j))
				}
			}
		default:
			for i := range s.p.Rows {
				if !seen[i] && s.p.Cost(i, x-s.rows) != problem.Infinity {
					reach(int32(i))
				}
			}
		}
	}
	first := 0
	if !ofRows {
		first = s.rows
	}
	var members []int32
	for _, x := range list {
		if (int(x) < s.rows) == ofRows {
			members = append(members, x-int32(first))
		}
	}
	return members
}
