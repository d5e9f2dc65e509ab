// Package preprocess makes a problem smaller before it is searched: rules that fix
// or eliminate variables and keep at least one optimal solution, a split into
// components, and an upper bound for each.
package preprocess

import (
	"slices"
	"sync"

	"coalesce/solvers/cores"
	"coalesce/solvers/qubo/internal/reference"
	"coalesce/solvers/qubo/problem"
)

// A Reduction is a problem after rules that keep at least one of its optimal
// solutions:
//
//   - first order: a variable whose delta cannot be negative whatever its
//     neighbours are is 1, one whose delta cannot be positive is 0 (persistency
//     as in F. Glover, M. Lewis and G. Kochenberger, EJOR 265(3), 2018);
//   - degree 0 to 2: the best value of a variable is a function of at most two
//     others, which becomes their coefficients;
//   - components: variables without a connection are solved separately.
//
// Where coefficients are rounded, the first rule alone, with a margin for what rounding may have
// taken, keeps an optimal solution of the instance. It comes first. Components that it leaves of few variables, and
// those of few pairs whose variables mostly follow in exact arithmetic, are left as they are: their best solutions are those
// of the instance.
type Reduction struct {
	p        *problem.Normal
	Constant int64 // objective of the variables that were fixed and eliminated
	fixed    []int8
	steps    []step // eliminations, in their order
	Parts    []Part
	True     bool // no rule was applied that may have lost the best solution to rounding
}

// A step eliminated variable i: it is 1 where diag + w1 x(j) + w2 x(k) > 0; j
// and k may be -1.
type step struct {
	i, j, k      int32
	diag, w1, w2 int64
}

// A Part is a component; variable v of p is variable of[v] of the whole. A nil
// list stands for all. No solution is better than bound. True says that its variables, and
// pairs, are those of the instance, the other ends of pairs being fixed.
type Part struct {
	Problem *problem.Normal
	of      []int32
	Bound   int64
	True    bool
	Exact   *reference.Elimination // the exact objective, from which most of the variables went; nil: not known
}

// PartObjective is the exact objective of part k, which is true.
func (r *Reduction) PartObjective(k int, inst *problem.Instance) *problem.SmallProblem {
	zeros := make([][]uint64, len(r.Parts))
	for l, c := range r.Parts {
		zeros[l] = make([]uint64, problem.Words(c.Problem.N))
	}
	return inst.SmallProblem(r.Parts[k].of, r.Restore(zeros))
}

// ExactRows is the exact objective of the variables in list, ascending, where the others are as in x.
type ExactRows func(list []int32, x []uint64) *problem.Rows

// An edge is a pair as one of its ends sees it.
type edge struct {
	to     int32
	weight int64
}

// hub is the most pairs of a variable that may get another by elimination:
// finding a pair takes time in proportion.
const hub = 1 << 12

// A reducer is a reduction under way. degree, low and high count pairs with variables that are
// still there.
type reducer struct {
	*Reduction
	gone   []bool
	diag   []int64
	low    []int64 // sum of the negative weights
	high   []int64 // sum of the positive weights
	degree []int32
	bound  int64                            // of p
	margin bool                             // the first rule alone is applied, with a margin for rounding
	folds  bool                             // a variable may go by a pair that gains between its neighbours
	held   []bool                           // variables that the rules leave as they are; nil: none
	exact  map[int32]*reference.Elimination // of components by their first variable
	queue  []int32
	queued []bool
	adj    [][]edge // pairs of p and new ones, also with variables that are gone; nil: the rows of p are all
}

// Reduce fixes the variables for which given has 0 or 1 (nil: none) and then, unless plain is set,
// applies the rules until none fits. rows is the exact objective of some variables, where the others are as in x; nil: not known.
// stop ends it early: the variables that were fixed and
// eliminated until then stay so. Where given fixes nothing and even dividing the problem into
// parts takes too long, the problem stays whole.
func Reduce(p *problem.Normal, given []int8, plain bool, rows ExactRows, stop func() bool) *Reduction {
	return (&reducer{Reduction: &Reduction{p: p}, folds: true}).run(given, plain, rows, stop)
}

// ReducePenalties is Reduce for a problem of which all pairs are penalties, and stay so: variables of two neighbours that a pair that
// gains would have to join are left.
func ReducePenalties(p *problem.Normal, given []int8, rows ExactRows, stop func() bool) *Reduction {
	return (&reducer{Reduction: &Reduction{p: p}}).run(given, false, rows, stop)
}

func (r *reducer) run(given []int8, plain bool, rows ExactRows, stop func() bool) *Reduction {
	p := r.p
	r.begin()
	must := false
	for i, v := range given {
		if v >= 0 {
			r.fix(int32(i), int64(v))
			must = true
		}
	}
	if !plain && p.Over > 0 {
		r.margin = true
		r.reduce(stop)
		r.margin = false
		r.hold(rows, stop)
	}
	if r.True = true; !plain {
		before := slices.Clone(r.gone)
		r.reduce(stop)
		r.True = p.Over == 0 || slices.Equal(before, r.gone)
	}
	if !r.splitIntoParts(plain, func() bool { return !must && stop() }) {
		return &Reduction{p: p, fixed: slices.Repeat([]int8{-1}, p.N), Parts: []Part{{Problem: p, Bound: r.bound}}}
	}
	return r.Reduction
}

// Unreduced returns a problem as one part. No solution of it is better than bound.
func Unreduced(p *problem.Normal, bound int64) *Reduction {
	return &Reduction{p: p, Parts: []Part{{Problem: p, Bound: bound}}}
}

// reduce applies the rules until none fits.
func (r *reducer) reduce(stop func() bool) {
	for i := range r.p.N {
		if !r.queued[i] && (r.degree[i] <= 2 || r.diag[i]+r.low[i] >= 0 || r.diag[i]+r.high[i] <= 0) {
			r.push(int32(i))
		}
	}
	for steps := 0; len(r.queue) > 0 && (steps&1023 != 0 || !stop()); steps++ {
		i := r.queue[len(r.queue)-1]
		r.queue = r.queue[:len(r.queue)-1]
		r.queued[i] = false
		r.apply(i)
	}
}

// mostExact is the most variables of a component that are eliminated in exact arithmetic, and the most pairs of each on
// average.
const (
	mostExact      = 1 << 15
	mostExactPairs = 8
)

// hold keeps the rules from components whose best solutions are found in exact arithmetic: those of few variables, those of
// which elimination leaves few, and those that are tried by branch and bound.
func (r *reducer) hold(rows ExactRows, stop func() bool) {
	r.held, r.exact = make([]bool, r.p.N), map[int32]*reference.Elimination{}
	fixed := r.Restore(nil)
	for _, list := range r.components(stop) {
		held := len(list) <= problem.FewVariables
		if !held && rows != nil && len(list) <= mostExact && !stop() {
			pairs := 0
			for _, i := range list {
				pairs += int(r.degree[i])
			}
			if pairs <= 2*mostExactPairs*len(list) {
				var e *reference.Elimination
				if e, held = reference.Eliminate(rows(list, fixed)); held {
					r.exact[list[0]] = e
				}
			}
		}
		held = held || len(list) <= problem.BranchedVariables
		for _, i := range list {
			r.held[i] = held
		}
	}
}

func (r *reducer) begin() {
	p := r.p
	r.fixed = make([]int8, p.N)
	r.gone, r.queued = make([]bool, p.N), make([]bool, p.N)
	r.diag, r.low, r.high = slices.Clone(p.Diag), make([]int64, p.N), make([]int64, p.N)
	r.degree = make([]int32, p.N)
	var mu sync.Mutex
	whole := problem.NewRowSums()
	cores.Split(p.N, 64, func(from, to int) {
		some := problem.NewRowSums()
		for i := from; i < to; i++ {
			r.fixed[i], r.degree[i] = -1, int32(p.Start[i+1]-p.Start[i])
			r.low[i], r.high[i] = some.AddRow(p, i)
		}
		mu.Lock()
		defer mu.Unlock()
		whole.Join(some)
	})
	p.Known, r.bound = whole.Spans(), whole.Bound()
}

func (r *reducer) push(i int32) {
	if !r.queued[i] && !r.gone[i] {
		r.queued[i] = true
		r.queue = append(r.queue, i)
	}
}

// apply tries the rules on variable i.
func (r *reducer) apply(i int32) {
	margin := int64(0)
	if r.margin { // less than one for each coefficient
		margin = 1 + r.p.Start[i+1] - r.p.Start[i]
	}
	switch {
	case r.gone[i] || r.held != nil && r.held[i]:
	case r.diag[i]+r.low[i] >= margin:
		r.fix(i, 1)
	case r.diag[i]+r.high[i] <= -margin:
		r.fix(i, 0)
	case r.degree[i] <= 2 && !r.margin:
		r.eliminate(i)
	}
}

// eachPair calls back the pairs of i whose other ends are there.
func (r *reducer) eachPair(i int32, pair func(j int32, w int64)) {
	if r.adj != nil {
		for _, e := range r.adj[i] {
			if !r.gone[e.to] {
				pair(e.to, e.weight)
			}
		}
		return
	}
	col, weight := r.p.Row(int(i))
	for k, j := range col {
		if !r.gone[j] {
			pair(j, weight[k])
		}
	}
}

// forget takes a pair of weight w out of the sums of j, whose other end goes.
func (r *reducer) forget(j int32, w int64) {
	r.degree[j]--
	if w < 0 {
		r.low[j] -= w
	} else {
		r.high[j] -= w
	}
	r.push(j)
}

// fix sets variable i to v.
func (r *reducer) fix(i int32, v int64) {
	r.gone[i], r.fixed[i] = true, int8(v)
	r.Constant += v * r.diag[i]
	r.eachPair(i, func(j int32, w int64) {
		r.diag[j] += v * w
		r.forget(j, w)
	})
}

// eliminate replaces variable i, of degree 1 or 2, by its best value.
func (r *reducer) eliminate(i int32) {
	if r.adj == nil {
		r.list()
	}
	s := step{i: i, j: -1, k: -1, diag: r.diag[i]}
	r.eachPair(i, func(j int32, w int64) {
		if s.j < 0 {
			s.j, s.w1 = j, w
		} else {
			s.k, s.w2 = j, w
		}
	})
	if s.k >= 0 && max(len(r.adj[s.j]), len(r.adj[s.k])) > hub {
		return
	}
	best := func(w int64) int64 { return max(0, s.diag+w) }
	if s.k >= 0 && !r.folds && best(s.w1+s.w2)+best(0) > best(s.w1)+best(s.w2) && !r.joined(s.j, s.k) {
		return
	}
	r.gone[i], r.adj[i] = true, nil
	r.steps = append(r.steps, s)
	r.Constant += best(0)
	r.forget(s.j, s.w1)
	r.diag[s.j] += best(s.w1) - best(0)
	if s.k < 0 {
		return
	}
	r.forget(s.k, s.w2)
	r.diag[s.k] += best(s.w2) - best(0)
	if w := best(s.w1+s.w2) - best(s.w1) - best(s.w2) + best(0); w != 0 {
		r.join(s.j, s.k, w)
		r.join(s.k, s.j, w)
	}
}

// joined reports whether i and j have a pair.
func (r *reducer) joined(i, j int32) bool {
	return slices.ContainsFunc(r.adj[i], func(e edge) bool { return e.to == j })
}

// list makes lists of the pairs that are left.
func (r *reducer) list() {
	total := 0
	for i := range r.gone {
		if !r.gone[i] {
			total += int(r.degree[i])
		}
	}
	all := make([]edge, 0, total)
	adj := make([][]edge, len(r.gone))
	for i := range adj {
		if r.gone[i] {
			continue
		}
		first := len(all)
		r.eachPair(int32(i), func(j int32, w int64) { all = append(all, edge{j, w}) })
		adj[i] = all[first:len(all):len(all)]
	}
	r.adj = adj
}

// join adds w to the pair of i and j, in the list of i.
func (r *reducer) join(i, j int32, w int64) {
	list := r.adj[i]
	if len(list) > 2*int(r.degree[i])+8 {
		list = slices.DeleteFunc(list, func(e edge) bool { return r.gone[e.to] })
	}
	at := slices.IndexFunc(list, func(e edge) bool { return e.to == j })
	if at < 0 {
		at, list = len(list), append(list, edge{to: j})
		r.degree[i]++
	} else {
		r.forget(i, list[at].weight)
		r.degree[i]++
	}
	list[at].weight += w
	if sum := list[at].weight; sum > 0 {
		r.high[i] += sum
	} else {
		r.low[i] += sum
	}
	if list[at].weight == 0 {
		list = slices.Delete(list, at, at+1)
		r.degree[i]--
	}
	r.adj[i] = list
	r.push(i)
}

// Restore is the solution of the whole of which the parts' solutions are best.
func (r *Reduction) Restore(parts [][]uint64) []uint64 {
	x := make([]uint64, problem.Words(r.p.N))
	for k, c := range r.Parts {
		if c.of == nil {
			return slices.Clone(parts[k])
		}
		for v, i := range c.of {
			x[i>>6] |= problem.Bit(parts[k], v) << (i & 63)
		}
	}
	for i, v := range r.fixed {
		if v == 1 {
			x[i>>6] |= 1 << (i & 63)
		}
	}
	for _, s := range slices.Backward(r.steps) {
		gain := s.diag + s.w1*int64(problem.Bit(x, int(s.j)))
		if s.k >= 0 {
			gain += s.w2 * int64(problem.Bit(x, int(s.k)))
		}
		if gain > 0 {
			x[s.i>>6] |= 1 << (s.i & 63)
		}
	}
	return x
}

// Project is the solution of part k within a solution of the whole.
func (r *Reduction) Project(k int, x []uint64) []uint64 {
	c := r.Parts[k]
	if c.of == nil || x == nil {
		return x
	}
	y := make([]uint64, problem.Words(c.Problem.N))
	for v, i := range c.of {
		y[v>>6] |= problem.Bit(x, int(i)) << (v & 63)
	}
	return y
}

// VariablesLeft is the number of variables in parts.
func (r *Reduction) VariablesLeft() (n int) {
	for _, c := range r.Parts {
		n += c.Problem.N
	}
	return n
}
