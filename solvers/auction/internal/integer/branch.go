package integer

import (
	"cmp"
	"context"
	"math"
	"slices"
)

const (
	trusted = 4  // trials after which a variable's gains need no more of them
	tried   = 8  // variables that strong branching tries at a node
	tryouts = 60 // pivots of a trial
)

// Gains are what the objective falls by when a variable is fixed, for each unit that it moves: pseudo-costs.
type gains struct {
	of      []gain
	overall gain
}

type gain struct {
	sum   [2]float64 // of the variable at 0, at 1
	count [2]int
}

// A branching is the variable by which a node is split.
type branching struct {
	variable  int32
	side      int      // to go on with
	x         float64  // of the variable
	objective float64  // of the node
	solved    bool     // they are those of an optimum
	closed    *RowStep // proof that the other side has no solution that is wanted; nil: it is open
}

// learn records the fall of the objective by a variable on one side, which moved it by a distance.
func (t *tree) learn(j int32, side int, fall, distance float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, g := range []*gain{&t.gains.of[j], &t.overall} {
		g.sum[side] += max(0, fall) / max(distance, 1e-6)
		g.count[side]++
	}
}

// learnFrom learns from a node whose relaxation is solved, and whose last branching made it.
func (w *worker) learnFrom(n *node) {
	if b := n.from; b.solved {
		side := 1
		if n.fixed[0] < 0 {
			side = 0
		}
		w.learn(b.variable, side, b.objective-w.lp.Objective(), math.Abs(float64(side)-b.x))
	}
}

// expected is the fall of the objective that the gains promise, and how many trials they stand for.
func (t *tree) expected(j int32, x float64) (falls [2]float64, trials int) {
	for side := range falls {
		falls[side] = 1e-3
		for _, g := range []*gain{&t.gains.of[j], &t.overall} {
			if g.count[side] > 0 {
				falls[side] = g.sum[side] / float64(g.count[side])
				break
			}
		}
		falls[side] *= math.Abs(float64(side) - x)
	}
	return falls, min(t.gains.of[j].count[0], t.gains.of[j].count[1])
}

func scoreOf(falls [2]float64) float64 { return max(falls[0], 1e-7) * max(falls[1], 1e-7) }

// branch chooses a free variable, and the value to go on with: by gains, where few of which are known strong branching tries both values.
func (w *worker) branch(ctx context.Context, end int) branching {
	type candidate struct {
		j      int32
		x      float64
		score  float64
		trials int
	}
	var list []candidate
	best := branching{variable: -1, solved: end == optimal, objective: w.lp.Objective()}
	score := -1.0
	w.mu.Lock()
	for j, v := range w.is {
		if v != free {
			continue
		}
		x := w.lp.Value(j)
		if end == optimal && min(x, 1-x) > 1e-6 {
			falls, trials := w.expected(int32(j), x)
			list = append(list, candidate{int32(j), x, scoreOf(falls), trials})
			continue
		}
		if s := 1 / (1 + math.Abs(float64(w.rest[j]))); s > score { // of whole values that which costs the least to change
			best.variable, best.x, score = int32(j), x, s
		}
	}
	w.mu.Unlock()
	if len(list) == 0 {
		if end == optimal && best.x > 0.5 {
			best.side = 1
		}
		best.solved = false
		return best
	}
	slices.SortFunc(list, func(a, b candidate) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.j, b.j)) })
	rest := slices.Clone(w.rest)
	saved := false
	score = -1
	for _, c := range list[:min(len(list), tried)] {
		if c.trials < trusted && w.set.Best == 1 && ctx.Err() == nil { // a ranking looks at most solutions anyway
			if !saved {
				w.lp.Save(&w.saved)
				saved = true
			}
			var falls [2]float64
			for side := range falls {
				closed := w.try(ctx, c.j, side, best.objective, &falls)
				w.learn(c.j, side, falls[side], math.Abs(float64(side)-c.x))
				if closed != nil {
					best.variable, best.x, best.side, best.closed = c.j, c.x, 1-side, closed
					copy(w.rest, rest)
					return best
				}
			}
			c.score = scoreOf(falls)
		}
		if c.score > score {
			score, best.variable, best.x = c.score, c.j, c.x
		}
	}
	copy(w.rest, rest)
	if best.x > 0.5 {
		best.side = 1
	}
	return best
}

// try fixes a variable for some pivots, and returns a step that proves that no solution that is wanted has this value; nil: none.
func (w *worker) try(ctx context.Context, j int32, side int, objective float64, falls *[2]float64) (closed *RowStep) {
	w.lp.Bound(int(j), float64(side), float64(side))
	cutoff := w.cutoff()
	done := w.lp.Solve(ctx, cutoff, tryouts)
	falls[side] = objective - w.lp.Objective()
	w.is[j] = int8(side)
	step := &RowStep{}
	if !done && w.lp.Ray() != nil {
		if falls[side] = 1; w.proveInfeasible() { // the largest price
			step.keepPrices(w.y, 0, true)
			closed = step
		}
	} else if objective-falls[side] <= cutoff {
		w.takePrices(w.lp.Price, w.unit*math.Ldexp(1, int(w.bits)))
		if bound, ok := w.priceBound(); ok && bound>>w.bits <= w.threshold.Load() {
			step.keepPrices(w.y, w.bits, false)
			closed = step
		}
	}
	w.is[j] = free
	w.lp.Bound(int(j), 0, 1)
	w.lp.Load(&w.saved)
	return closed
}
