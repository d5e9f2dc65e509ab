package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/assignment"
	assignmentproblem "coalesce/solvers/assignment/problem"
	"coalesce/solvers/auction"
	auctionproblem "coalesce/solvers/auction/problem"
	"coalesce/solvers/csg"
	csgproblem "coalesce/solvers/csg/problem"
	"coalesce/solvers/qubo"
	quboproblem "coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
	"coalesce/solvers/solve/inputtest"
)

// fillers fill instances and options of each problem as programs do, rightly and wrongly. They are solved
// for what they say, or refused with an error that names the field; no error says that the solver is wrong.
var fillers = []struct {
	name string
	try  func(r *rand.Rand, d device.Device) *outcome
}{{"csg", fillCSG}, {"auction", fillAuction}, {"assignment", fillAssignment}, {"qubo", fillQUBO}}

// programJobs are count instances for each problem.
func (a *adversary) programJobs(count int) (jobs []job) {
	for _, x := range fillers {
		jobs = append(jobs, a.addBatches("program", x.name, count, 50, func(w *pool, r *rand.Rand, row *figures, _ int) error {
			return a.tryInside(w, row, "program", x.name, r)
		})...)
	}
	return jobs
}

// tryProgram fills an instance of a problem.
func tryProgram(name string, r *rand.Rand) (refused bool, wrong *fault) {
	for _, x := range fillers {
		if x.name != name {
			continue
		}
		d := host.Open(2)
		defer d.Close()
		o := x.try(r, d)
		if len(o.faults) > 0 {
			return false, &fault{o.class, strings.Join(o.faults, "\n")}
		}
		return !o.solved, nil
	}
	return false, &fault{"wrong", fmt.Sprintf("found the problem %q", name)}
}

// An outcome is what came of one instance.
type outcome struct {
	how     []string // what was spoiled
	solved  bool
	refused int // calls that were refused
	class   string
	faults  []string
}

func (o *outcome) add(class, format string, args ...any) {
	o.class = class
	o.faults = append(o.faults, fmt.Sprintf("%v: ", o.how)+fmt.Sprintf(format, args...))
}

// spoil spoils the options in one of so many cases, else the instance, up to twice.
func (o *outcome) spoil(r *rand.Rand, every int, inst, options any) {
	for range r.IntN(3) {
		if r.IntN(every) == 0 {
			o.how = append(o.how, inputtest.SpoilField(r, options))
		} else {
			o.how = append(o.how, inputtest.SpoilField(r, inst))
		}
	}
}

// call runs a function of a problem, whose error may be one of those, or must name a field of the structs.
func (o *outcome) call(name string, work func() error, may func(err error) bool, structs ...any) {
	panicked, err := inputtest.RecoverPanic(work)
	switch {
	case panicked != nil:
		o.add("panic", "%s: %v", name, panicked)
	case slices.ContainsFunc([]error{csgproblem.ErrCheck, auctionproblem.ErrCheck, assignmentproblem.ErrCheck, quboproblem.ErrCheck}, func(check error) bool { return errors.Is(err, check) }):
		o.add("check", "%s: %v", name, err)
	case err == nil || errors.Is(err, solve.ErrInfeasible) || may(err):
	case !errors.Is(err, solve.ErrInput) || !inputtest.NamesField(err.Error(), structs...):
		o.add("unnamed", "%s: found the error %v, expected one that names a field", name, err)
	default:
		o.refused++
	}
}

func fillCSG(r *rand.Rand, d device.Device) *outcome {
	ctx, inst, o := context.Background(), filledGame(r), csg.Options{Settings: solve.Settings{Devices: []device.Device{d}, Algorithm: []string{"", "", "apart", "dp", "idp", "price"}[r.IntN(6)]}}
	c := &outcome{}
	c.spoil(r, 5, inst, &o)
	if o.TimeLimit != 0 && o.TimeLimit < time.Second {
		o.TimeLimit = min(o.TimeLimit, 0)
	}
	o.Log, o.Progress, o.Checkpoint = nil, nil, "" // which would write a file
	whole := *inst
	var answer *csg.Result
	for name, work := range map[string]func() error{
		"Solve": func() (err error) {
			answer, err = csg.Solve(ctx, inst, o)
			if err == nil {
				text, failed := json.Marshal(answer)
				v, err := csg.Verify(inst, text)
				return errors.Join(failed, err, func() error {
					if v == nil {
						return nil
					}
					return v.Err()
				}())
			}
			return err
		},
		"SolveCover": func() error {
			_, cover, err := csg.SolveCover(ctx, inst, o)
			if err != nil || cover == nil {
				return err
			}
			_, err = csg.BestFew(ctx, inst, cover, inst.GrandCoalition(), 2)
			return err
		},
		"Reference": func() error { _, err := csg.Reference(inst, csg.DP); return err },
		"WriteNPY":  func() error { return csg.WriteNPY(&bytes.Buffer{}, inst) },
		"Check":     func() error { return inst.Check() },
		"Restrict":  func() error { x := whole; x.I16, x.I32, x.I64, x.F32, x.F64 = values(inst); return x.Restrict(2) },
		"Verify":    func() error { _, err := csg.Verify(inst, []byte(`{"problem":"csg"}`)); return err },
		"Session": func() error {
			s, err := csg.Open(o)
			if err != nil {
				return err
			}
			_, err = s.Solve(ctx, inst)
			return errors.Join(err, s.Close())
		},
	} {
		c.call(name, work, func(err error) bool { return errors.Is(err, csgproblem.ErrValue) }, csgproblem.Instance{}, o)
	}
	if answer == nil {
		return c
	}
	c.solved = true
	want := bestPartition(inst, inst.GrandCoalition())
	if got := answer.Value.Float(); answer.Value == "" && !math.IsInf(want, -1) || answer.Value != "" && math.Abs(got-want) > 1e-6*math.Abs(want) {
		c.add("wrong", "found %q, expected %v", answer.Value, want)
	}
	return c
}

// filledGame is a characteristic function as a program fills it.
func filledGame(r *rand.Rand) *csgproblem.Instance {
	n := r.IntN(5)
	inst := &csgproblem.Instance{N: n, Source: "by hand", Type: []csgproblem.Value{csgproblem.Int16, csgproblem.Int32, csgproblem.Int64, csgproblem.Float32, csgproblem.Float64}[r.IntN(5)]}
	if r.IntN(3) == 0 {
		inst.Names = []string{"a", "b", "c", "d", "e"}[:n]
	}
	draw := func(mask int) int64 {
		if mask == 0 {
			return 0
		}
		return r.Int64N(101) - 40
	}
	switch inst.Type {
	case csgproblem.Int16:
		inst.I16 = drawnAs[int16](n, draw)
	case csgproblem.Int32:
		inst.I32 = drawnAs[int32](n, draw)
	case csgproblem.Int64:
		inst.I64 = drawnAs[int64](n, draw)
	case csgproblem.Float32:
		inst.F32 = drawnAs[float32](n, draw)
	default:
		inst.F64 = drawnAs[float64](n, draw)
	}
	return inst
}

func drawnAs[T csgproblem.Number](n int, draw func(int) int64) []T {
	values := make([]T, 1<<n)
	for mask := range values {
		values[mask] = T(draw(mask))
	}
	return values
}

// bestPartition is the value of the best partition of some agents, minus infinity where each has a forbidden
// block.
func bestPartition(inst *csgproblem.Instance, left uint64) float64 {
	if left == 0 {
		return 0
	}
	best, lowest := math.Inf(-1), left&-left
	for rest := left ^ lowest; ; rest = (rest - 1) & (left ^ lowest) {
		best = max(best, inst.Value64(rest|lowest)+bestPartition(inst, left&^(rest|lowest)))
		if rest == 0 {
			return best
		}
	}
}

// values are copies of the values.
func values(inst *csgproblem.Instance) ([]int16, []int32, []int64, []float32, []float64) {
	return append([]int16(nil), inst.I16...), append([]int32(nil), inst.I32...), append([]int64(nil), inst.I64...), append([]float32(nil), inst.F32...), append([]float64(nil), inst.F64...)
}

func fillAuction(r *rand.Rand, d device.Device) *outcome {
	ctx, a := context.Background(), filledAuction(r)
	o := auction.Options{Settings: solve.Settings{Devices: []device.Device{d}, Algorithm: []string{"", "", auction.Branch, auction.Bidders, "apart", "dp"}[r.IntN(6)]}, Proof: r.IntN(2) == 0}
	c := &outcome{}
	c.spoil(r, 6, a, &o)
	o.TimeLimit, o.Log, o.Progress = min(o.TimeLimit, 0), nil, nil
	rule, won, other := auction.Rule(auction.Rules()[r.IntN(3)]), []int{r.IntN(9) - 1, r.IntN(9)}, filledAuction(r)
	var answer *auction.Result
	var failed error
	for name, work := range map[string]func() error{
		"Solve": func() (err error) {
			answer, failed = auction.Solve(ctx, a, o)
			return failed
		},
		"Verify": func() error {
			res, err := auction.Solve(ctx, a, o)
			if res == nil {
				return err
			}
			if err == nil && len(a.Bids) < 8 {
				if err := auction.ComputePayments(ctx, res, rule, o); err != nil {
					return err
				}
			}
			text, err := json.Marshal(res)
			if err != nil {
				return err
			}
			v, err := auction.Verify(a, text)
			if err == nil {
				err = v.Err()
			}
			if err == nil && res.Value == "" && res.Proven != v.BoundChecked {
				err = fmt.Errorf("proven %t, checked %t: %v", res.Proven, v.BoundChecked, v.Messages)
			}
			return err
		},
		"Reference": func() error { _, err := auction.Reference(a); return err },
		"Write":     func() error { _, err := auction.Write(&bytes.Buffer{}, a, auction.JSON); return err },
		"Reduction": func() error { _, err := auction.NewReduction(a); return err },
		"Pay": func() error {
			wrong := auction.NewResult(other)
			wrong.Auction, wrong.Winners, wrong.Proven, wrong.Gap = a, won, true, new(float64)
			return auction.ComputePayments(ctx, wrong, auction.VCG, o)
		},
	} {
		c.call(name, work, func(err error) bool {
			return errors.Is(err, auctionproblem.ErrSize) || errors.Is(err, auctionproblem.ErrItems) || errors.Is(err, auctionproblem.ErrUnits) && name != "Solve" || name == "Write" && strings.Contains(err.Error(), "found dummy")
		}, auctionproblem.Auction{}, o, auction.Result{})
	}
	if failed != nil && !errors.Is(failed, solve.ErrInfeasible) {
		return c
	}
	c.solved = true
	applied, err := o.Apply(a)
	if err != nil {
		c.add("wrong", "%v", err)
		return c
	}
	switch want := bestValue(applied); {
	case want == nil && (!errors.Is(failed, solve.ErrInfeasible) || answer == nil || answer.Value != ""):
		c.add("wrong", "found %+v, %v, expected that no bids sell or buy all units", answer, failed)
	case want != nil && (failed != nil || answer.Value.String() != a.FormatPrice(want)):
		c.add("wrong", "found %v, %v, expected %s", answer, failed, a.FormatPrice(want))
	}
	return c
}

// filledAuction is an auction as a program fills it.
func filledAuction(r *rand.Rand) *auctionproblem.Auction {
	a := &auctionproblem.Auction{Goods: int64(r.IntN(5)), Dummies: int64(r.IntN(3)), Scale: r.IntN(3), Source: "by hand", SellAll: r.IntN(3) == 0}
	ids := func(n int64) []int64 {
		var list []int64
		for g := range n {
			if r.IntN(3) == 0 {
				list = append(list, g)
			}
		}
		return list
	}
	for k := range int64(r.IntN(7)) {
		a.Bids = append(a.Bids, auctionproblem.Bid{Number: k, Price: r.Int64N(30) - 3, Goods: ids(a.Goods + a.Dummies), Bidder: []string{"", "ann", "bob"}[r.IntN(3)]})
	}
	if r.IntN(3) == 0 {
		a.Limits = map[string]int{"ann": r.IntN(3)}
	}
	for range r.IntN(2) {
		if goods := ids(a.Goods); len(goods) > 0 {
			a.Reserves = append(a.Reserves, auctionproblem.Reserve{Price: r.Int64N(20), Goods: goods})
		}
	}
	if r.IntN(3) == 0 {
		a.Names = []string{"p", "q", "r", "s", "t"}[:a.Goods]
	}
	return a
}

// bestValue is the value of the best bids and reserves by trying all sets of them, the least where the auctioneer buys; nil where
// none sell, or buy, all units that have to be.
func bestValue(a *auctionproblem.Auction) *big.Int {
	var best *big.Int
	for set := range 1 << (len(a.Bids) + len(a.Reserves)) {
		units, wins, sum, ok := map[int64]int64{}, map[string]int{}, new(big.Int), true
		for k, b := range a.Bids {
			if set>>k&1 == 1 {
				for i, g := range b.Goods {
					units[g] += b.Quantity(i)
				}
				sum.Add(sum, big.NewInt(b.Price))
				wins[b.Bidder]++
			}
		}
		for k, r := range a.Reserves {
			if set>>(len(a.Bids)+k)&1 == 1 {
				for _, g := range r.Goods {
					units[g]++
				}
				sum.Add(sum, big.NewInt(r.Price))
			}
		}
		for name, most := range a.Limits {
			ok = ok && wins[name] <= most
		}
		for g, n := range units {
			ok = ok && (n <= a.UnitsOf(g) || a.Minimize && !a.SellAll && !a.IsDummy(g))
		}
		for g := range a.Goods {
			ok = ok && (!a.SellAll && !a.Minimize || units[g] >= a.UnitsOf(g))
		}
		better := 1
		if a.Minimize {
			better = -1
		}
		if ok && (best == nil || sum.Cmp(best) == better) {
			best = sum
		}
	}
	return best
}

func fillAssignment(r *rand.Rand, d device.Device) *outcome {
	ctx, inst, o := context.Background(), filledCosts(r), assignment.Options{Duals: true}
	o.Devices, o.Algorithm = []device.Device{d}, []string{"", "", "host", "paths", "sequential-tree", "reference"}[r.IntN(6)]
	if r.IntN(4) == 0 {
		o.Start = &assignmentproblem.Duals{U: make([]int64, inst.Rows), V: make([]int64, inst.Cols), Scale: 1}
	}
	c := &outcome{}
	c.spoil(r, 4, inst, &o)
	o.Log, o.Progress = nil, nil
	if o.TimeLimit > 0 {
		o.TimeLimit = time.Minute
	}
	wide := len(c.how) > 0 && inst.Check() == nil && largest(inst) > 1e12
	var answer *assignment.Result
	for name, work := range map[string]func() error{
		"Solve": func() (err error) { answer, err = assignment.Solve(ctx, inst, o); return err },
		"Batch": func() error {
			_, err := assignment.SolveBatch(ctx, []*assignmentproblem.Instance{inst, inst}, o)
			return err
		},
		"Bottleneck": func() error { _, err := assignment.Solve(ctx, inst, bottlenecks(o)); return err },
		"Ranking":    func() error { o := o; o.KBest = 3; _, err := assignment.Solve(ctx, inst, o); return err },
		"Quick":      func() error { _, _, _, _, err := new(assignment.QuickSolver).Solve(inst); return err },
		"Verify":     func() error { _, err := assignment.Verify(inst, []byte(`{"problem":"assignment"}`), nil); return err },
	} {
		c.call(name, work, func(err error) bool {
			return errors.Is(err, assignmentproblem.ErrCost) || errors.Is(err, device.ErrMemory)
		}, assignmentproblem.Instance{}, o)
	}
	if answer == nil || wide {
		return c
	}
	c.solved = true
	text, err := json.Marshal(answer)
	if err != nil {
		c.add("wrong", "%v", err)
	} else if v, err := assignment.Verify(inst, text, nil); err != nil || v.Err() != nil {
		c.add("wrong", "verify returns %v, %+v", err, v)
	}
	if o.Bottleneck {
		return c // tests know its value
	}
	if want, got := bestMatching(inst), answer.Value.Float(); answer.Column == nil && !math.IsNaN(want) || answer.Column != nil && inst.Limit == nil && math.Abs(got-want) > 1e-6*math.Abs(want) {
		c.add("wrong", "found %v, expected %v", got, want)
	}
	return c
}

// filledCosts is an instance as a program fills it.
func filledCosts(r *rand.Rand) *assignmentproblem.Instance {
	inst := &assignmentproblem.Instance{Rows: r.IntN(5), Cols: r.IntN(5), Source: "by hand", Maximize: r.IntN(2) == 0}
	count := inst.Rows * inst.Cols
	switch r.IntN(6) {
	case 0:
		inst.Sparse, count = &assignmentproblem.Sparse{Start: []int64{0}}, 0
		for range inst.Rows {
			for j := range inst.Cols {
				if r.IntN(3) > 0 {
					inst.Sparse.Col = append(inst.Sparse.Col, int32(j))
					count++
				}
			}
			inst.Sparse.Start = append(inst.Sparse.Start, int64(count))
		}
	case 1:
		inst.Type = assignmentproblem.Float64
		inst.Points = &assignmentproblem.Points{Dim: 2, Row: coordinates(r, 2*inst.Rows), Col: coordinates(r, 2*inst.Cols), Metric: assignmentproblem.Manhattan}
		return inst
	}
	costs := coordinates(r, count)
	switch r.IntN(4) {
	case 0:
		inst.Type, inst.I32 = assignmentproblem.Int32, as[int32](costs)
	case 1:
		inst.Type, inst.I64 = assignmentproblem.Int64, as[int64](costs)
	case 2:
		inst.Type, inst.F32 = assignmentproblem.Float32, as[float32](costs)
	default:
		inst.Type, inst.F64 = assignmentproblem.Float64, costs
	}
	if r.IntN(4) == 0 {
		inst.Limit = new(float64)
		*inst.Limit = float64(r.IntN(20))
	}
	if r.IntN(4) == 0 {
		inst.RowNames = []string{"a", "b", "c", "d"}[:inst.Rows]
	}
	return inst
}

func coordinates(r *rand.Rand, n int) []float64 {
	list := make([]float64, n)
	for k := range list {
		list[k] = float64(r.IntN(41) - 15)
	}
	return list
}

func as[T assignmentproblem.Number](list []float64) []T {
	out := make([]T, len(list))
	for k, x := range list {
		out[k] = T(x)
	}
	return out
}

// bottlenecks are options without those that are for sums of costs.
func bottlenecks(o assignment.Options) assignment.Options {
	o.Bottleneck, o.KBest, o.Duals, o.Start, o.Algorithm, o.Variant, o.Ranks = true, 0, false, nil, "", "", nil
	return o
}

// largest is the largest cost in magnitude, and the limit.
func largest(inst *assignmentproblem.Instance) float64 {
	most := 0.0
	for _, list := range [][]float64{as64(inst.I32), as64(inst.I64), as64(inst.F32), inst.F64} {
		for _, c := range list {
			most = max(most, math.Abs(c))
		}
	}
	if inst.Points != nil {
		for _, c := range slices.Concat(inst.Points.Row, inst.Points.Col) {
			most = max(most, math.Abs(c))
		}
	}
	return most
}

func as64[T assignmentproblem.Number](list []T) []float64 {
	out := make([]float64, len(list))
	for k, x := range list {
		out[k] = float64(x)
	}
	return out
}

// bestMatching is the best value of a full matching, by all of them; NaN where there is none.
func bestMatching(inst *assignmentproblem.Instance) float64 {
	best, sign := math.Inf(1), 1.0
	if inst.Maximize {
		sign = -1
	}
	taken := make([]bool, inst.Cols)
	var place func(i, matched int, sum float64)
	place = func(i, matched int, sum float64) {
		if matched+inst.Rows-i < min(inst.Rows, inst.Cols) {
			return
		}
		if i == inst.Rows {
			best = min(best, sum)
			return
		}
		if inst.Rows > inst.Cols {
			place(i+1, matched, sum)
		}
		for j := range inst.Cols {
			if !taken[j] && inst.Allowed(i, j) {
				taken[j] = true
				place(i+1, matched+1, sum+sign*inst.CostFloat(i, j))
				taken[j] = false
			}
		}
	}
	place(0, 0, 0)
	if math.IsInf(best, 1) {
		return math.NaN()
	}
	return sign * best
}

func fillQUBO(r *rand.Rand, d device.Device) *outcome {
	ctx, inst, o := context.Background(), filledProgram(r), qubo.Options{}
	o.Devices = []device.Device{d}
	c := &outcome{}
	c.spoil(r, 4, inst, &o)
	o.Log, o.Progress, o.Exchange = nil, nil, nil
	if o.TimeLimit >= 0 {
		o.TimeLimit = 300 * time.Millisecond
	}
	o.Threads, o.Work, o.Memory = min(o.Threads, 4), min(o.Work, 100000), min(o.Memory, 0)
	if o.Solutions > 100 {
		o.Solutions = 3
	}
	var answer *qubo.Result
	for name, work := range map[string]func() error{
		"Solve":  func() (err error) { answer, err = qubo.Solve(ctx, inst, o); return err },
		"Verify": func() error { _, err := qubo.Verify(inst, []byte(`{"problem":"qubo"}`)); return err },
		"Write":  func() error { _, err := qubo.Write(&bytes.Buffer{}, inst, "coo"); return err },
		"Variants": func() error {
			_, err := qubo.EvaluateVariants(inst)
			return err
		},
	} {
		c.call(name, work, func(err error) bool {
			return errors.Is(err, quboproblem.ErrCoefficient) || errors.Is(err, device.ErrMemory) || name == "Write" && inst.Check() == nil // what the format does not hold
		}, quboproblem.Instance{}, o)
	}
	if answer == nil {
		return c
	}
	c.solved = true
	text, err := json.Marshal(answer)
	if err != nil {
		c.add("wrong", "%v", err)
	} else if v, err := qubo.Verify(inst, text); err != nil || v.Err() != nil {
		c.add("wrong", "verify returns %v, %+v", err, v)
	}
	want, got := exhausted(inst), answer.Value.Float()
	if answer.Proven && math.Abs(want) < 1e9 && math.Abs(got-want) > 1e-9*math.Abs(want)+1e-9 && *answer.Report.Gap == 0 {
		c.add("wrong", "found %v, expected %v", got, want)
	}
	return c
}

// filledProgram is a binary program as a program fills it.
func filledProgram(r *rand.Rand) *quboproblem.Instance {
	n := r.IntN(6)
	b := quboproblem.NewBuilder(n)
	b.Form([]quboproblem.Form{quboproblem.QUBO, quboproblem.Ising, quboproblem.MaxCut}[r.IntN(3)])
	if b.Maximize(); r.IntN(2) == 0 {
		b.Minimize()
	}
	part := []float64{1, 0.5}[r.IntN(2)]
	inst, err := b.Build()
	if err != nil {
		panic(err)
	}
	for i := range n {
		if inst.Form != quboproblem.MaxCut {
			b.Linear(i, float64(r.IntN(21)-10)*part)
		}
		for j := range i {
			b.Pair(i, j, float64(r.IntN(21)-10)*part)
		}
	}
	if inst, err = b.Build(); err != nil {
		panic(err)
	}
	return inst
}

// exhausted is the best value by all solutions, of which some fix variables.
func exhausted(inst *quboproblem.Instance) float64 {
	best := math.Inf(1)
	for x := range uint64(1) << inst.N {
		fits := true
		for i, v := range inst.Fixed {
			fits = fits && (v < 0 || x>>i&1 == uint64(v))
		}
		if !fits {
			continue
		}
		value := inst.Amount([]uint64{x}).Float()
		if inst.Sense == quboproblem.Maximize {
			value = -value
		}
		best = min(best, value)
	}
	if inst.Sense == quboproblem.Maximize {
		return -best
	}
	return best
}
