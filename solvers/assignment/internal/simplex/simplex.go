// Package simplex solves the transportation problem: rows ship their supplies to columns, up to the columns' capacities, at the least cost. It
// is the network simplex method on a few arcs of each row, with more arcs where their reduced costs are negative (column generation),
// so that a solve reads the costs a few times and otherwise works in the caches.
package simplex

import (
	"cmp"
	"context"
	"math"
	"slices"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/host"
	"coalesce/solvers/assignment/problem"
)

const (
	moreArcs = 8  // of a row with negative reduced costs, of each pass
	steps    = 64 // pivots between two looks at the clock
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
	s, err := newSolve(p, on)
	if err != nil {
		return nil, err
	}
	return s.run(ctx, p.Instance.Supplies(), p.Instance.Capacities())
}

func newSolve(p *problem.Normal, on engine.Host) (*solve, error) {
	on.Threads = on.ThreadsFor(p.Rows * p.Cols)
	source, err := host.SourceOf(p, on.Tuning)
	return &solve{Host: on, p: p, source: source}, err
}

// Start is a matching of a dense square problem, optimal or near it: where costs are nearly a Monge array, an optimal one with its duals, and else only the prices of an
// optimal one, to a few units, with no columns. It is nil where there is none, or no room for sums of its costs.
func Start(ctx context.Context, p *problem.Normal, on engine.Host) (*engine.Solution, error) {
	one := slices.Repeat([]int64{1}, p.Rows)
	s, err := newSolve(p, on)
	if err != nil {
		return nil, err
	}
	if f, err := s.inOrder(ctx, one, one); f != nil || err != nil {
		return f.matching(), err
	}
	q, inst := *p, *p.Instance
	inst.Supply, inst.Capacity = one, one
	q.Instance = &inst
	drop := uint(0)
	for size := s.size(); size>>drop > 1<<60/int64(inst.SumRows(p.Rows)); drop++ {
		if p.Instance.Type.Integer() {
			return nil, nil
		}
	}
	q.Scale, q.Min, q.Max = math.Ldexp(p.Scale, -int(drop)), p.Min>>drop, p.Max>>drop+1
	if s, err = newSolve(&q, on); err != nil {
		return nil, err
	}
	found, err := s.byAuction(ctx, one, one)
	if err != nil || found.Cut != nil {
		return nil, err
	}
	for j := range found.V {
		found.V[j] <<= drop
	}
	return &engine.Solution{Prices: found.Prices, Counts: found.Counts}, nil
}

// matching is a flow of one unit a row as a matching; nil: there is none.
func (f *Solution) matching() *engine.Solution {
	if f == nil {
		return nil
	}
	return &engine.Solution{Column: f.Col, Prices: f.Prices, Counts: f.Counts}
}

type solve struct {
	engine.Host
	p      *problem.Normal
	source host.PairSource
	*network
	suspects []int32 // rows that had negative reduced costs when pairs were looked at last
	counts   engine.Counts
}

func (s *solve) run(ctx context.Context, supply, demand []int64) (*Solution, error) {
	if f, err := s.inOrder(ctx, supply, demand); f != nil || err != nil {
		return f, err
	}
	if f, err := s.byHubs(ctx, supply, demand); f != nil || err != nil {
		return f, err
	}
	return s.byAuction(ctx, supply, demand)
}

// byAuction solves from the flow and the prices of an auction on.
func (s *solve) byAuction(ctx context.Context, supply, demand []int64) (*Solution, error) {
	p := s.p
	has, wants := problem.Total(supply), problem.Total(demand)
	rows, cols := p.Rows, p.Cols
	switch {
	case has < wants:
		supply, rows = append(slices.Clone(supply), wants-has), rows+1
	case has > wants:
		demand, cols = append(slices.Clone(demand), has-wants), cols+1
	}
	s.network = newNetwork(rows, cols, 2*int64(min(rows, cols)+1)*s.size())
	a, err := s.approach(ctx, supply, demand)
	if err != nil {
		return nil, err
	}
	a.basis()
	return s.improve(ctx, math.MaxInt64)
}

// improve pivots until no pair has a negative reduced cost. It gives up, and returns nil, after so many pivots.
func (s *solve) improve(ctx context.Context, most int64) (*Solution, error) {
	for {
		s.resize()
		for k := 1; ; k++ {
			e, reduced := s.entering()
			if e == none {
				break
			}
			if s.pivots == most {
				return nil, nil
			}
			s.pivot(e, reduced)
			if k%steps == 0 && ctx.Err() != nil {
				return s.feasible(), ctx.Err()
			}
		}
		if s.violated() == 0 {
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

// size is the largest cost, at least 1, whatever its sign.
func (s *solve) size() int64 { return max(s.p.Max, -s.p.Min, 1) }

// minima sets v to the least c - u of the columns, 0 where no row may have the column.
func (s *solve) minima(u, v []int64) {
	v = v[:s.p.Cols]
	s.source.ColumnMinima(u, v, s.Threads)
	s.counts.Passes++
	for j, x := range v {
		if x >= problem.Infinity/4 {
			v[j] = 0
		}
	}
}

// resize sets how many arcs pricing looks at.
func (t *network) resize() {
	t.block = 32
	for t.block*t.block < len(t.from) {
		t.block *= 2
	}
}

// violated makes arcs known whose reduced costs are negative, and returns how many. It looks at the rows of those found last before it looks at all rows.
func (s *solve) violated() int {
	v := make([]int64, s.p.Cols)
	for j := range v {
		v[j] = -s.above(s.p.Rows + s.slackRows() + j)
	}
	s.source.DualsChanged(v)
	if found := s.addViolated(s.suspects, v); found > 0 {
		return found
	}
	all := make([]int32, s.p.Rows)
	for i := range all {
		all[i] = int32(i)
	}
	return s.addViolated(all, v)
}

// addViolated makes up to moreArcs and more arcs of each of some rows known, those with the least reduced costs of the negative ones, and the rows that have such the suspects.
func (s *solve) addViolated(rows []int32, v []int64) (found int) {
	s.counts.Passes += float64(len(rows)) / float64(max(1, s.p.Rows))
	lists := make([][]host.Edge, len(rows))
	host.ParallelParts(s.Threads, len(rows), func() func(low, high int) {
		reader := s.source.Reader()
		buf := make([]host.Edge, 0, 2*moreArcs)
		return func(low, high int) {
			for k := low; k < high; k++ {
				bar := s.above(int(rows[k]))
				list, _ := reader.AppendLeast(int(rows[k]), v, moreArcs, 0, bar, buf[:0])
				lists[k] = slices.Clone(slices.DeleteFunc(list, func(e host.Edge) bool { return e.Cost-v[e.Col] >= bar }))
			}
		}
	})
	s.suspects = nil
	for k, list := range lists {
		if len(list) > 0 {
			s.suspects = append(s.suspects, rows[k])
		}
		for _, e := range list {
			s.add(rows[k], e.Col, e.Cost)
		}
		found += len(list)
	}
	return found
}

// slackRows is 1 where a row that is no row of the problem takes what demands are left, else 0.
func (s *solve) slackRows() int { return s.rows - s.p.Rows }

// shipped is what a row ships to a column.
type shipped struct {
	row, col int32
	amount   int64
}

// finish takes the flow and the duals from the basis.
func (s *solve) finish() *Solution {
	f := &Solution{Prices: problem.Prices{U: make([]int64, s.p.Rows), V: make([]int64, s.p.Cols)}, Counts: s.counts}
	level := int64(0) // price of the slack
	switch {
	case s.rows > s.p.Rows:
		level = s.above(s.p.Rows)
	case s.cols > s.p.Cols:
		level = s.above(s.rows + s.p.Cols)
	}
	for i := range f.U {
		f.U[i] = s.above(i) - level
	}
	for j := range f.V {
		f.V[j] = level - s.above(s.rows+j)
	}
	var pairs []shipped
	for x := range int32(s.rows + s.cols) {
		if e := s.network.arc[x]; e != none && s.flow[x] > 0 {
			if i, j := s.network.from[e], s.to[e]-int32(s.rows); int(i) < s.p.Rows && int(j) < s.p.Cols {
				pairs = append(pairs, shipped{i, j, s.flow[x]})
			}
		}
	}
	slices.SortFunc(pairs, func(x, y shipped) int { return cmp.Or(cmp.Compare(x.row, y.row), cmp.Compare(x.col, y.col)) })
	for _, x := range pairs {
		f.Row, f.Col, f.Amount = append(f.Row, x.row), append(f.Col, x.col), append(f.Amount, x.amount)
	}
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
