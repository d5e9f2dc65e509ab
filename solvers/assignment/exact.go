package assignment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"unsafe"

	"coalesce/runtime/collective"
	"coalesce/runtime/memory"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/families"
	"coalesce/solvers/assignment/internal/refine"
	"coalesce/solvers/assignment/internal/simplex"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/cores"
	"coalesce/solvers/solve"
)

// nearWidth is the slack in units of the pairs from which an optimal matching of rounded costs is
// decided: each matching costs at most half a unit a row more or less than its rounded costs say.
func nearWidth(p *problem.Normal) int64 { return int64(p.Rows) + 1 }

// nearBytes are what a near pair takes while rounded costs are decided: in the list, in a share of it, and as a residual.
const nearBytes = 56

// mostListed is how many near pairs are listed: of points, whose distances nobody stores, those that a quarter of the free memory
// holds. Of stored costs there are not many more than costs.
func mostListed(inst *problem.Instance) int {
	if inst.Points == nil {
		return math.MaxInt // reading the free memory takes longer than a small solve
	}
	if free := memory.FreeNow().Bytes; free > 0 {
		return int(free / 4 / nearBytes)
	}
	return math.MaxInt
}

// checkNear is problem.CheckNear for a matching and duals of p, whose near pairs it returns in p's rows
// and columns; costs that were not rounded need none.
func checkNear(inst *problem.Instance, p *problem.Normal, column []int32, d problem.Duals) (problem.Certificate, []problem.Pair, error) {
	if p.Exact {
		cert, err := problem.Check(inst, column, d)
		return cert, nil, err
	}
	cert, near, err := problem.CheckNear(inst, column, d, nearWidth(p), mostListed(inst))
	if p.Transposed {
		for k, x := range near {
			near[k] = problem.Pair{Row: x.Col, Col: x.Row}
		}
	}
	return cert, near, err
}

// nearRows lists the unmatched near pairs of rows low to high-1, whose costs p's instance has.
func nearRows(p *problem.Normal, sol *engine.Solution, low, high int) []problem.Pair {
	near, width := []problem.Pair{}, nearWidth(p)
	var mu sync.Mutex
	cores.Split(high-low, max(1, 1<<14/max(1, p.Cols)), func(from, to int) {
		var own []problem.Pair
		buf := make([]int64, p.Cols)
		for i := low + from; i < low+to; i++ {
			bar := sol.U[i] + width
			for j, c := range p.Row(i-low, buf) {
				if c != problem.Infinity && c-sol.V[j] <= bar && j != int(sol.Column[i]) {
					own = append(own, problem.Pair{Row: int32(i), Col: int32(j)})
				}
			}
		}
		mu.Lock()
		near = append(near, own...)
		mu.Unlock()
	})
	return near
}

// decideExactly makes sol optimal for the costs as given. sol is an optimal solution of p's rounded costs, cert
// its certificate, and near its near pairs in p's rows and columns, nil where they are not known. The
// certificate gets the number of rounds and the gap. Where ctx ends the work, sol stays the best matching
// so far, with its gap.
func (r *Result) decideExactly(ctx context.Context, p *problem.Normal, sol *engine.Solution, cert *problem.Certificate, near []problem.Pair, o Options) error {
	if cert.Rounded == 0 {
		return nil
	}
	var column []int32
	var err error
	if o.RankCount() > 1 {
		column, err = decideTogether(ctx, p, sol, cert, near, o)
	} else {
		if near == nil && p.Source == nil && p.Instance.Points == nil {
			near = nearRows(p, sol, 0, p.Rows)
		}
		column, err = decideExactly(ctx, p, sol, cert, near, o)
	}
	switch {
	case solve.IsInterrupted(ctx, err):
		solve.MarkStopped(context.Cause(ctx), &r.Stopped, &r.Notes, "the matching is optimal for rounded costs")
	case err != nil:
		r.Notes = append(r.Notes[:len(r.Notes):len(r.Notes)], fmt.Sprintf("the matching is optimal for rounded costs: %v", err))
	}
	if column == nil {
		return err
	}
	sol.Column = column
	return nil
}

// errOpen is the error of near pairs that are too many to be listed.
var errOpen = errors.New("too many pairs are within rounding")

// decideExactly returns the column of each row of p in an optimal matching of the costs as given. Beside an
// error it returns the best matching so far. The certificate gets the number of rounds and the gap.
func decideExactly(ctx context.Context, p *problem.Normal, sol *engine.Solution, cert *problem.Certificate, near []problem.Pair, o Options) ([]int32, error) {
	if near == nil {
		return sol.Column, errOpen
	}
	if len(near) > manyNear*p.Rows && p.Limit == problem.Infinity {
		if column, err := settle(ctx, p, sol, cert, near); !errors.Is(err, simplex.ErrOpen) {
			return column, err
		}
	}
	out, err := refine.RefineExactly(ctx, p, sol.Column, sol.Prices, near, p.Split, o.residual)
	cert.Rounds, cert.Gap = out.Rounds, out.Gap
	return out.Column, err
}

// settle is decideExactly by pivots on the near pairs.
func settle(ctx context.Context, p *problem.Normal, sol *engine.Solution, cert *problem.Certificate, near []problem.Pair) ([]int32, error) {
	flow := problem.Flow{Row: make([]int32, p.Rows), Col: sol.Column, Amount: slices.Repeat([]int64{1}, p.Rows)}
	for i := range flow.Row {
		flow.Row[i] = int32(i)
	}
	pivots, err := simplex.Settle(ctx, p, &flow, sol.Prices, near)
	if cert.Rounds = min(pivots, 1); err == nil {
		cert.Gap = 0
	}
	return flow.Col, err
}

// residual solves residual costs: dense ones on the first of o's devices, others on the host.
func (o Options) residual(ctx context.Context, inst *problem.Instance) ([]int32, problem.Duals, error) {
	if len(o.Devices) > 0 && inst.Dense() {
		r, err := Solve(ctx, inst, Options{Settings: solve.Settings{Devices: o.Devices[:1], Tuning: o.Tuning}, Duals: true})
		switch {
		case err != nil:
			return nil, problem.Duals{}, err
		case !r.Proven:
			return nil, problem.Duals{}, errors.Join(ctx.Err(), errors.New("no proven matching of residual costs"))
		}
		return r.Column, *r.Duals, nil
	}
	p, err := problem.Normalise(inst)
	if err != nil {
		return nil, problem.Duals{}, err
	}
	var start *problem.Prices // residuals are reduced costs, so that prices of 0 are nearly optimal
	if p.Rows == p.Cols && p.Limit == problem.Infinity {
		start = &problem.Prices{U: make([]int64, p.Rows), V: make([]int64, p.Cols)}
	}
	sol, err := families.HostMethods()[0].Solve(ctx, p, start, engine.Host{Tuning: o.Tuning, Near: start != nil})
	if err != nil {
		return nil, problem.Duals{}, err
	}
	d := dualsOf(p, sol)
	_, err = problem.Check(inst, sol.Column, d)
	return sol.Column, d, err
}

// manyNear are the near pairs of a row, in the mean, from which on pivots decide.
const manyNear = 8

// mostNear is the most near pairs that ranks hand to the first of them.
const mostNear = 1 << 26

// A nearPair is a near pair on its way between ranks, with its exact cost.
type nearPair struct {
	problem.Pair
	Units int64
	Rest  float64
}

// decideTogether is decide where each rank has some rows: the first decides for all. near are those
// of this rank's rows.
func decideTogether(ctx context.Context, p *problem.Normal, sol *engine.Solution, cert *problem.Certificate, near []problem.Pair, o Options) ([]int32, error) {
	low, high := OwnRows(p.Rows, o.Ranks)
	if near == nil {
		near = nearRows(p, sol, low, high)
	}
	counts, err := collective.GatherLists(o.Ranks, []uint64{uint64(len(near))})
	if err != nil {
		return nil, err
	}
	total := uint64(0)
	for _, c := range counts {
		total += c[0]
	}
	if total > mostNear {
		return sol.Column, errOpen
	}
	for i := low; i < high; i++ {
		if j := sol.Column[i]; j >= 0 {
			near = append(near, problem.Pair{Row: int32(i), Col: j})
		}
	}
	own := make([]nearPair, len(near))
	for k, x := range near {
		units, rest := p.Split(int(x.Row)-low, int(x.Col))
		own[k] = nearPair{x, units, rest}
	}
	parts, err := collective.GatherTexts(o.Ranks, bytesOf(own))
	if err != nil {
		return nil, err
	}
	f := outcome{Column: sol.Column, Gap: cert.Gap}
	if o.rank() == 0 {
		f = decideParts(ctx, p, sol, parts, o)
	}
	text, err := json.Marshal(f)
	if err == nil {
		parts, err = collective.GatherTexts(o.Ranks, text)
	}
	if err == nil {
		f = outcome{}
		err = json.Unmarshal(parts[0], &f)
	}
	if err != nil {
		return nil, err
	}
	if cert.Rounds, cert.Gap = f.Rounds, f.Gap; f.Failed != "" {
		err = errors.New(f.Failed)
	}
	return f.Column, err
}

func bytesOf(pairs []nearPair) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(pairs))), int(unsafe.Sizeof(nearPair{}))*len(pairs))
}

// An outcome is what the first of several ranks decides.
type outcome struct {
	Column []int32
	Rounds int
	Gap    float64
	Failed string
}

// decideParts decides from the near and the matched pairs of all ranks.
func decideParts(ctx context.Context, p *problem.Normal, sol *engine.Solution, parts [][]byte, o Options) outcome {
	var near []problem.Pair
	costs := map[problem.Pair]nearPair{}
	for _, part := range parts {
		pairs := make([]nearPair, len(part)/int(unsafe.Sizeof(nearPair{})))
		copy(bytesOf(pairs), part)
		for _, x := range pairs {
			if costs[x.Pair] = x; sol.Column[x.Row] != x.Col {
				near = append(near, x.Pair)
			}
		}
	}
	out, err := refine.RefineExactly(ctx, p, sol.Column, sol.Prices, near, func(i, j int) (int64, float64) {
		x := costs[problem.Pair{Row: int32(i), Col: int32(j)}]
		return x.Units, x.Rest
	}, o.residual)
	f := outcome{Column: out.Column, Rounds: out.Rounds, Gap: out.Gap}
	if err != nil {
		f.Failed = err.Error()
	}
	return f
}
