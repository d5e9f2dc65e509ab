package qubo

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"coalesce/solvers/qubo/internal/frustration"
	"coalesce/solvers/qubo/internal/planar"
	"coalesce/solvers/qubo/internal/preprocess"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// A frustrationBound is a bound by frustrated sets of edges, of the instance as it was given.
type frustrationBound struct {
	reason    string // where the sets are from
	proof     *Frustration
	value     problem.Amount
	objective int64 // objectives are at most that
}

// frustrationBound is what a proof shows.
func (r *run) frustrationBound(m *frustration.Model, proof *Frustration, reason string) (*frustrationBound, error) {
	loss, shift, err := m.Check(proof)
	if err != nil {
		return nil, err
	}
	b := &frustrationBound{reason: reason, proof: proof, value: m.Bound(loss, shift), objective: math.MaxInt64}
	if r.inst.Int != nil {
		b.objective = r.p.ObjectiveOf(b.value)
	}
	return b, nil
}

// What a solve on a surface takes for each variable and pair: about so much time until its faces are known, and memory in bytes.
const (
	surfaceTime  = 2 * time.Microsecond
	surfaceBytes = 1000
)

// surfaceShare is the share of the time until the deadline that a solve on a surface may take before the search begins.
const surfaceShare = 0.8

// solveSurface proves the best solution of an instance whose graph is planar, or a lattice on a torus, and reports whether it did.
// Where there is not enough time it keeps the bound, and its best solution as one to begin with.
//
// It is left out where the user names an engine, where several ranks share a search, and where little is left of the instance.
func (r *run) solveSurface() bool {
	o, inst := &r.o, r.inst
	size := int64(inst.N) + inst.Pairs()
	switch {
	case inst.Pairs() > 3*int64(inst.N), o.Algorithm != "", o.Variant != "", o.RankCount() > 1, o.Unreduced, slices.Contains(o.Without, surfacePart), !r.hasMany():
		return false
	case !r.deadline.IsZero() && time.Until(r.deadline) < time.Duration(size)*surfaceTime:
		return false
	case o.Memory > 0 && size*surfaceBytes > o.Memory:
		return false
	}
	m := frustration.New(inst, inst.Fixed)
	if m == nil {
		return false
	}
	s := planar.Find(m)
	if s == nil {
		return false
	}
	workers := max(1, o.Threads)
	if o.Threads == 0 && o.Work == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	end := r.deadlineFor(surfaceShare)
	a := s.Solve(planar.Options{Workers: workers, Stop: func() bool {
		return r.ctx.Err() != nil || !end.IsZero() && time.Now().After(end)
	}})
	b, err := r.frustrationBound(m, a.Proof, "the graph is "+s.Kind)
	if err != nil {
		o.Logf("no bound by frustration: %v", err)
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if inst.Int != nil || !math.IsInf(b.value.Float(), 0) {
		r.frustrated = b
	}
	if a.Up == nil {
		return false
	}
	x := m.Spins(a.Up)
	value := r.p.Value(x)
	if a.Solved && r.isClosed(x, b.value) {
		b.objective = value
		r.bests = &bestSolutions{red: preprocess.Unreduced(r.p, value), part: []partBest{{value: value, x: x, proven: true}}}
		r.record(r.elapsed())
		r.addOptima(s, a, m, x, value)
		r.plan.reason = "the graph is " + s.Kind + ": its frustrated faces are matched"
		return true
	}
	if r.start == nil && value > r.bests.total() {
		r.start = x
		r.setZeros(r.bests.red)
	}
	return false
}

// clusterShare is the share of the time left in which clusters of other optimal solutions are looked for.
const clusterShare = 0.5

// addOptima adds solutions that are as good as x, where several are asked for: those that a walk meets, and where these are too few,
// those that the surface has with other values of edges.
func (r *run) addOptima(surface *planar.Surface, a *planar.Answer, m *frustration.Model, x []uint64, value int64) {
	s := &r.several
	if s.limit <= 1 {
		return
	}
	s.add(value, x, r.elapsed())
	groups := componentsOf(r.p)
	if len(groups) == 1 {
		groups = nil
	}
	r.walkOptima(x, value, groups)
	end := r.deadlineFor(clusterShare)
	isLate := func() bool {
		return len(s.list) >= s.limit || r.ctx.Err() != nil || !end.IsZero() && time.Now().After(end)
	}
	surface.Clusters(a, r.o.Seed, isLate, func(cluster []int32) bool {
		groups = append(groups, m.Variables(cluster))
		z := flipped(x, groups[len(groups)-1])
		if r.p.ValueFrom(x, value, z) == value {
			s.add(value, z, r.elapsed())
		}
		return len(groups) < mostGroups
	})
	r.walkOptima(x, value, groups)
}

// mostGroups is the most groups of variables that a walk flips.
const mostGroups = 10000

// flipped is a solution with other values of some variables.
func flipped(x []uint64, variables []int32) []uint64 {
	z := slices.Clone(x)
	for _, i := range variables {
		z[i>>6] ^= 1 << (i & 63)
	}
	return z
}

// walkOptima adds solutions that are as good as x: a walk flips variables, and whole groups of them, that change no value.
func (r *run) walkOptima(x []uint64, value int64, groups [][]int32) {
	s, p := &r.several, r.p
	random := rand.New(rand.NewPCG(r.o.Seed, 2))
	y, delta := slices.Clone(x), make([]int64, p.N)
	p.Deltas(y, delta)
	free := func(i int) bool { return r.inst.Fixed == nil || r.inst.Fixed[i] < 0 }
	even := make([]int, 0, p.N)
	for steps := 0; steps < walkSteps*(s.limit+s.apart) && len(s.list) < s.limit && !r.isOverdue(); steps++ {
		even = even[:0]
		for i, d := range delta {
			if d == 0 && free(i) {
				even = append(even, i)
			}
		}
		switch {
		case len(groups) > 0 && random.IntN(1+len(even)) < len(groups):
			group := groups[random.IntN(len(groups))]
			z := flipped(y, group)
			if slices.ContainsFunc(group, func(i int32) bool { return !free(int(i)) }) || p.ValueFrom(y, value, z) != value {
				continue
			}
			y = z
			p.Deltas(y, delta)
		case len(even) == 0:
			return
		default:
			problem.Flip(p, y, delta, even[random.IntN(len(even))])
		}
		s.add(value, y, r.elapsed())
	}
}

// walkSteps is how many steps of a walk are taken for each solution that is asked for.
const walkSteps = 20

// componentsOf are the components of a problem's graph, the variables of each.
func componentsOf(p *problem.Normal) (lists [][]int32) {
	met := make([]bool, p.N)
	for root := range int32(p.N) {
		if met[root] {
			continue
		}
		met[root] = true
		list := []int32{root}
		for k := 0; k < len(list); k++ {
			col, _ := p.Row(int(list[k]))
			for _, j := range col {
				if !met[j] {
					met[j] = true
					list = append(list, j)
				}
			}
		}
		lists = append(lists, list)
	}
	return lists
}

// isClosed reports whether the value of a solution proves itself with a bound.
func (r *run) isClosed(x []uint64, bound problem.Amount) bool {
	report := solve.Report{Value: solve.Number(r.inst.Amount(x).String())}
	report.SetBound(solve.Number(bound.String()))
	return report.Gap != nil && (*report.Gap == 0 || r.inst.Int == nil && isGapClosed(&report))
}

// checkFrustration holds the stated bound against a proof by frustration.
func checkFrustration(v *solve.Verdict, inst *problem.Instance, given []int8, proof *Frustration) {
	m := frustration.New(inst, given)
	if m == nil {
		v.Note("bound not checked: coefficients are beyond 2^1020")
		return
	}
	loss, shift, err := m.Check(proof)
	if err != nil {
		v.Refute("the certificate does not prove a bound: %w", err)
		return
	}
	v.CheckBound(solve.Number(m.Bound(loss, shift).String()))
	v.BoundChecked = true
	sets := len(proof.Sets)
	for _, c := range proof.Cases {
		sets += len(c.Sets)
	}
	v.Note("bound: %d sets of edges of the certificate are frustrated", sets)
}
