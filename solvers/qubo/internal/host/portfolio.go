package host

import (
	"math"
	"math/rand/v2"
	"slices"

	"coalesce/solvers/qubo/internal/elite"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// lengths is the number of lengths that the walks of a method have. Each is four times the one
// before; elimination has tables of two more variables instead.
const lengths = 5

// An arm is a method at one length, with the results of its walks so far.
type arm struct {
	method method
	length int
	reward float64 // rises of the best value, in spreads of the pool, and a little for each solution that the pool took
	cost   float64 // work of its walks
	expect float64 // work of one walk
	walks  int
	mean   float64 // of the values of late walks
	spread float64 // their variance
}

// lasting reports whether walks are of a method that takes long to show its worth.
func (a arm) lasting() bool { return a.method == chainWalk || a.method == replicaWalk }

// hope is the factor, at most 1, by which an arm's share of the effort shrinks where its walks
// stay below the best value: 1 up to 2.5 standard deviations below, then falling exponentially to
// 0.03.
func (a *arm) hope(best int64) float64 {
	const near, least = 2.5, 0.03
	gap := float64(best) - a.mean
	if a.walks < 3 || gap <= near*math.Sqrt(a.spread) {
		return 1
	}
	return max(least, math.Exp(near-gap/math.Sqrt(a.spread)))
}

// learn takes the result of a walk.
func (a *arm) learn(value int64, reward, cost float64) {
	a.reward += reward
	a.cost += cost
	a.expect += (cost - a.expect) / 4
	a.walks++
	late := 1 / float64(min(a.walks, 8))
	off := float64(value) - a.mean
	a.mean += off * late
	a.spread = (1 - late) * (a.spread + late*off*off)
}

// Replicas is the name of replica exchange, which is left out beside a device that has its own.
const Replicas = "replicas"

// StableSets is the name of the search for stable sets, which is made in place of the methods where a problem is one of these.
const StableSets = "stableset"

// MethodNames are the names of all methods, as Search leaves them out.
func MethodNames() (names []string) {
	for m := range methods {
		names = append(names, m.String())
	}
	return append(names, StableSets)
}

// A portfolio shares effort between methods and keeps the pool.
type portfolio struct {
	*elite.Pool
	random  *rand.Rand
	elite   func(int64, []uint64)
	give    func([]uint64)
	arms    []arm
	crosser *elite.Crosser // nil for dense problems, whose solutions seldom differ in several components
	halves  bool           // lasting methods are among several
	tables  bool           // one is replicas, whose tables take a millisecond: other walks are first
	bar     int64          // the worst value in the pool when the pool was last emptied
}

// newPortfolio makes the portfolio for a problem whose step and add take so many nanoseconds, of
// all methods except those in without.
func newPortfolio(p *problem.Normal, step, add float64, without []string, o search.Options) *portfolio {
	rules := RulesFor(o.Rules, p.N)
	f := &portfolio{Pool: elite.NewPool(p, rules.Pool, rules.Distance), random: rand.New(rand.NewPCG(o.Seed, 0)), elite: o.Elite, give: o.Give, bar: math.MinInt64}
	if len(p.Col) <= maxDegree*p.N {
		f.crosser = elite.NewCrosser(p, f.Mirror)
	}
	n := float64(p.N)
	sweep := n * (2 + add/10)
	stall := float64(rules.Stall) * step * 2
	expect := [methods]float64{stall, annealSweeps * sweep, reheatSweeps * sweep, 2000 * n, stall + n/2*add, annealSweeps * sweep / 4, chainSweeps * n * 4 * step, replicaSweeps * n * (12 + add)}
	include := func(m method) {
		for k := 0; k < lengths && (m != eliminateWalk || eliminateWidth+2*k <= widest); k++ {
			f.arms = append(f.arms, arm{method: m, length: k, expect: expect[m] * float64(int(1)<<(2*k))})
		}
	}
	for m := range methods {
		if !slices.Contains(without, m.String()) {
			include(m)
		}
	}
	if len(f.arms) == 0 {
		include(tabuWalk)
	}
	f.halves = slices.ContainsFunc(f.arms, arm.lasting) && slices.ContainsFunc(f.arms, func(a arm) bool { return !a.lasting() })
	f.tables = slices.ContainsFunc(f.arms, func(a arm) bool { return a.method == replicaWalk })
	return f
}

// offer offers a solution to the pool.
func (f *portfolio) offer(value int64, x []uint64) (taken bool) {
	taken, _ = f.Add(value, x)
	if taken && f.elite != nil {
		f.elite(value, x[:problem.Words(f.N)])
	}
	if taken && f.give != nil {
		f.give(x[:problem.Words(f.N)])
	}
	return taken
}

// crossWithBest copies the best elite, gives the copy every component in which x is better, and returns
// the result; 0 and nil where no component of x is better, or where the problem is not sparse.
func (f *portfolio) crossWithBest(x []uint64) (int64, []uint64) {
	if f.crosser == nil || len(f.Elites) == 0 {
		return 0, nil
	}
	child := slices.Clone(f.Elites[0].X)
	gained := f.crosser.Cross(child, x[:problem.Words(f.N)])
	if gained == 0 {
		return 0, nil
	}
	value := f.Elites[0].Value + gained
	f.offer(value, child)
	return value, child
}

// recordWalk takes the result of a walk: it rewards the arm, offers the solution to the pool, and
// empties a pool that has taken no solution for long.
func (f *portfolio) recordWalk(was walkPlan, value int64, x []uint64, cost float64) {
	rise, spread := 0.0, 1.0
	if len(f.Elites) > 0 {
		best := f.Elites[0].Value
		spread = float64(max(1, best-f.Elites[len(f.Elites)-1].Value))
		rise = float64(max(0, value-best))
	}
	reward := min(5, rise/spread)
	if f.offer(value, x) && value > f.bar {
		reward += 0.02
	}
	const forget = 0.98
	for k := range f.arms {
		f.arms[k].reward *= forget
		f.arms[k].cost *= forget
	}
	f.arms[was.arm].learn(value, reward, cost)
	if f.Misses > 20*f.Size {
		f.bar = max(f.bar, f.Elites[len(f.Elites)-1].Value)
		f.KeepBest()
	}
}

// choose draws an arm. An arm's share of the effort is proportional to its reward per work and to
// its hope. An arm with little work so far counts as rewarding as all arms together. Lasting
// methods, where there are some, get half of the effort.
func (f *portfolio) choose() int {
	var reward, cost, lasting float64
	for _, a := range f.arms {
		reward += a.reward
		cost += a.cost
		if a.lasting() {
			lasting += a.cost
		}
	}
	turn := 2*lasting <= cost && (cost > 0 || !f.tables)
	out := func(a arm) bool { return f.halves && a.lasting() != turn }
	mean := (reward + 0.01) / (cost + 1)
	share := make([]float64, len(f.arms))
	var total float64
	for k := range f.arms {
		a := &f.arms[k]
		rate := (a.reward + mean*2*a.expect) / (a.cost + 2*a.expect)
		share[k] = (rate + mean/20) / a.expect
		if len(f.Elites) > 0 {
			share[k] *= a.hope(f.Elites[0].Value)
		}
		if out(*a) {
			share[k] = 0
		}
		total += share[k]
	}
	draw := f.random.Float64() * total
	last := 0
	for k := range share {
		if share[k] > 0 {
			last = k
		}
		if draw -= share[k]; draw < 0 {
			break
		}
	}
	return last
}

// planWalk plans a walk.
func (f *portfolio) planWalk() walkPlan {
	k := f.choose()
	w := walkPlan{method: f.arms[k].method, length: f.arms[k].length, arm: k}
	a, b, ok := f.DrawPair(f.random)
	if !ok || len(f.Elites) < f.Size && f.random.IntN(2) == 0 {
		return w // fill the pool from random starts
	}
	if w.method == contractWalk {
		w.parents = f.drawParents()
		w.from = w.parents[0]
		return w
	}
	if w.method != annealWalk {
		w.from, w.toward = a.X, b.X
	}
	return w
}
