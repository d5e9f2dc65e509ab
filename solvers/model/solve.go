package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/big"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
	"coalesce/solvers/formats"
	"coalesce/solvers/model/internal/polynomial"
	"coalesce/solvers/model/internal/search"
	"coalesce/solvers/model/problem"
	"coalesce/solvers/qubo"
	quboproblem "coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// DefaultLimit ends a solve that nothing else would end.
const DefaultLimit = 10 * time.Second

// The algorithms.
const (
	Search = "search" // moves that keep groups and cardinalities, and a tree that proves small models
	QUBO   = "qubo"   // of models of degree two without constraints, as solve qubo

	Polynomial = "polynomial" // of models of degree three and four without constraints, on devices with a search and the tree on the host beside them
)

// Algorithms are the names of the algorithms.
func Algorithms() []string { return []string{Search, QUBO, Polynomial} }

// Options of Solve. Without a TimeLimit, DefaultLimit holds, or none where Work is set.
type Options struct {
	solve.Settings `option:"" algorithm.words:"Algorithms()" time_limit.default:"10s, or none with {work}"`
	// stop after so many moves of one search, which the answer then depends on beside the seed
	Work int64 `option:"work" min:"1" default:"no limit"`
	// fix variables, each by its name: north=0
	Fix []string `option:"fix" default:"none"`

	Threads int // goroutines; 0: as many as there are cores
}

// Solve looks for the best solution of a model until a limit is met or its best is proven. The end of ctx and the time limit end it with
// the best so far. Where a model has no feasible solution the error wraps solve.ErrInfeasible, and the result says so. Where none was
// found in time, the result has no value and is not feasible.
func Solve(ctx context.Context, m *problem.Model, o Options) (*Result, error) {
	if o.TimeLimit == 0 && o.Work == 0 {
		o.TimeLimit = DefaultLimit
	}
	return solve.Run(ctx, &o.Settings, &run{model: m, o: o, limit: &atomic.Int64{}})
}

// A run is the solve of one model.
type run struct {
	o       Options
	model   *problem.Model
	form    *problem.Form
	out     *Result
	began   time.Time
	limit   *atomic.Int64 // the value of the best bits, math.MaxInt64 while there are none
	lock    sync.Mutex
	best    problem.Values // feasible
	nearest []uint8
	bound   *big.Rat // nil: none
	least   int64    // the same in the form's values, by the multipliers
	proven  bool
	reason  string
	met     context.CancelFunc

	multipliers *search.Multipliers // that prove the bound; nil: the tree, or another solver, does

	terms   *polynomial.Terms // of the devices' searches; nil: there are none
	variant tuned.Choice
}

// Plan implements solve.Work.
func (r *run) Plan(ctx context.Context) (*Result, iter.Seq[solve.Attempt[problem.Values]], error) {
	if err := r.o.Check(); err != nil {
		return nil, nil, err
	}
	if err := solve.CheckOptions(r.o.Fields()); err != nil {
		return nil, nil, err
	}
	if err := r.model.Check(); err != nil {
		return nil, nil, solve.AsInputError(err)
	}
	m, err := r.model.Fixing(r.o.Fix)
	if err != nil {
		return nil, nil, solve.InvalidInput("Fix", "%w", err)
	}
	if r.form, err = problem.NewForm(m); err != nil {
		return nil, nil, solve.AsInputError(err)
	}
	quadratic := len(r.form.Rows) == 0 && len(r.form.Products) == 0 && r.form.N > 0 && len(r.o.Devices) > 0
	if r.o.Algorithm == QUBO && !quadratic {
		return nil, nil, solve.InvalidInput("Algorithm", "found %s, expected %s for a model with constraints or of degree 3 and more", QUBO, Search)
	}
	r.model = m
	r.limit.Store(math.MaxInt64)
	r.out = &Result{Report: solve.Report{Problem: "model", Instance: m.Source, Size: m.Size(), Notes: slices.Clone(m.Notes)}, Format: m.Format, Sense: m.Sense,
		Degree: m.Degree(), Seed: r.o.Seed, Constraints: []Constraint{}, Solution: []int64{}, Assignment: map[string]int64{}, History: []Improvement{}, Certificate: Certificate{By: "host"}}
	r.describe()
	r.began = time.Now()
	name, method := Search, r.search
	switch {
	case r.o.Algorithm == Search:
	case quadratic:
		name, method = QUBO, r.quadratic
	default:
		if r.terms, err = r.polynomial(); err != nil {
			return nil, nil, err
		}
		if r.terms != nil {
			name = Polynomial
		}
	}
	if name == Search {
		if err := r.o.RefuseVariant(name); err != nil {
			return nil, nil, err
		}
	}
	r.out.Algorithm, r.out.Variant = name, name
	if name == Polynomial {
		r.out.Variant, r.out.Reason, r.out.Device = r.variant.Variant.Label, r.variant.Reason(), r.o.DeviceNames()
	}
	return r.out, slices.Values([]solve.Attempt[problem.Values]{{Name: name, Run: func() (problem.Values, error) { return nil, method(ctx) }}}), nil
}

// polynomial reads the form's terms and chooses a variant, where devices other than the host search them; nil: they do not.
func (r *run) polynomial() (*polynomial.Terms, error) {
	asked := r.o.Algorithm == Polynomial
	if !asked && (len(r.form.Products) == 0 || len(r.form.Rows) > 0) {
		return nil, nil
	}
	onDevice := len(r.o.Devices) > 0 && !slices.ContainsFunc(r.o.Devices, func(d device.Device) bool { return d.Facts().Kind == device.Host })
	if !onDevice {
		if asked {
			return nil, solve.InvalidInput("Algorithm", "found %s without a GPU, expected %s", Polynomial, Search)
		}
		return nil, nil
	}
	terms, err := polynomial.New(r.form)
	if err == nil {
		r.variant, err = terms.Choose(&r.o.Settings)
	}
	switch {
	case err == nil:
		return terms, nil
	case !errors.Is(err, polynomial.ErrUnfit):
		return nil, err
	case asked || r.o.Variant != "":
		return nil, solve.InvalidInput("Algorithm", "%w", err)
	}
	r.out.Notes = append(r.out.Notes, fmt.Sprintf("searched on the host: %v", err))
	return nil, nil
}

// describe notes which rows are groups, and what was rounded.
func (r *run) describe() {
	groups, cardinalities := 0, 0
	for k := range r.form.Rows {
		switch row := &r.form.Rows[k]; {
		case !row.Cardinality() || len(row.Bits) < 2:
		case row.Low == 1 && row.High == 1:
			groups++
		default:
			cardinalities++
		}
	}
	if groups+cardinalities > 0 {
		r.out.Notes = append(r.out.Notes, fmt.Sprintf("found %s and %s among the constraints", formats.Count(groups, "one-hot group"), formats.Count(cardinalities, "cardinality row")))
	}
	if bits := r.form.N; bits != len(r.model.Variables) {
		r.out.Notes = append(r.out.Notes, fmt.Sprintf("%s take %s", formats.Count(len(r.model.Variables), "variable"), formats.Count(bits, "bit")))
	}
	if !r.form.Exact {
		r.out.Notes = append(r.out.Notes, "the search rounds coefficients, the value is exact")
	}
}

// start is the solution to begin with as bits, nil where there is none. Variables that are fixed are as they are fixed.
func (r *run) start() ([]uint8, error) {
	given, err := solve.StartAs[problem.Values](&r.o.Settings)
	if err != nil || r.o.Start == nil {
		return nil, err
	}
	if len(given) != len(r.model.Variables) {
		return nil, solve.InvalidInput("Start", "found %d values, expected %d", len(given), len(r.model.Variables))
	}
	given = slices.Clone(given)
	for i := range given {
		given[i] = min(max(given[i], r.model.Variables[i].Low), r.model.Variables[i].High)
	}
	return r.form.Bits(given), nil
}

// search runs the walks and the tree beside them.
func (r *run) search(ctx context.Context) error {
	ctx, r.met = context.WithCancel(ctx)
	defer r.met()
	f := r.form
	start, err := r.start()
	if err != nil {
		return err
	}
	if start != nil && r.model.Feasible(f.Values(start)) {
		r.found(f.Value(start), start)
	}
	layout := search.New(f)
	r.boundBy(layout, search.Multipliers{Scale: 1})
	threads := r.o.Threads
	if threads <= 0 && len(r.o.Devices) > 0 && r.o.Devices[0].Facts().Kind == device.Host {
		threads = r.o.Devices[0].Facts().SMs
	}
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	if r.o.Work > 0 {
		threads = 1
	}
	walk := func(k int) {
		near, moves := layout.Walk(ctx, start, r.o.Seed+uint64(k), r.o.Work, r.limit, r.found)
		r.lock.Lock()
		defer r.lock.Unlock()
		if r.out.Moves += moves; near != nil {
			r.nearest = near
		}
	}
	var group sync.WaitGroup
	var failed error
	if r.terms != nil {
		walks, err := r.openWalks()
		if err != nil {
			return err
		}
		for k, w := range walks {
			group.Go(func() {
				moves, err := w.Search(ctx, start, r.o.Seed+uint64(k)<<32, r.o.Work, r.found)
				r.lock.Lock()
				defer r.lock.Unlock()
				r.out.Moves += moves
				if failed = errors.Join(failed, err, w.Close()); failed != nil {
					r.met()
				}
			})
		}
		if r.o.Work > 0 {
			threads = 0 // the host's moves have another measure
		}
	}
	if r.o.Work == 0 {
		group.Go(func() {
			m := layout.Multipliers(ctx, r.limit)
			r.boundBy(layout, m)
			done := layout.Prove(ctx, m, r.limit, func(x []uint8) bool { return r.model.Feasible(f.Values(x)) }, r.found)
			if done {
				r.close(r.limit.Load())
				return
			}
			// the proof would not end in time
			part, end := context.WithTimeout(ctx, r.o.TimeLimit/3)
			r.boundBy(layout, layout.Products(part, m, r.limit))
			if end(); threads > 1 {
				walk(threads - 1)
			}
		})
	}
	for k := range max(min(1, threads), threads-1) {
		group.Go(func() { walk(k) })
	}
	group.Wait()
	if failed != nil {
		return failed
	}
	if !r.proven && r.out.Met == nil && r.o.Work == 0 {
		return solve.InterruptedError(solve.Cause(ctx))
	}
	return nil
}

// openWalks opens the searches of all devices.
func (r *run) openWalks() (walks []*polynomial.Walks, err error) {
	for _, d := range r.o.Devices {
		w, err := r.terms.Open(d, r.variant.Variant)
		if err != nil {
			for _, w := range walks {
				err = errors.Join(err, w.Close())
			}
			return nil, err
		}
		walks = append(walks, w)
	}
	return walks, nil
}

// boundBy takes the bound of multipliers where it is the best so far.
func (r *run) boundBy(layout *search.Layout, m search.Multipliers) {
	bound, ok := layout.Bound(m)
	r.lock.Lock()
	if ok && (r.bound == nil || bound > r.least) {
		r.least, r.bound = bound, r.form.ModelBound(bound)
		r.multipliers = &m
		if r.best != nil && r.o.Progress != nil {
			r.o.Progress(solve.NewIncumbent(time.Since(r.began).Seconds(), solve.Number(problem.RatText(r.model.Value(r.best))), solve.Number(problem.RatText(r.bound)), 0))
		}
	}
	closed := r.limit.Load() <= r.least
	r.lock.Unlock()
	if closed {
		r.close(r.least)
	}
}

// close ends the solve: no solution is below a value of the form.
func (r *run) close(least int64) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.proven = true
	if r.best != nil && (r.bound == nil || least > r.least) {
		r.bound, r.multipliers = r.form.ModelBound(least), nil
	}
	r.met()
}

// found keeps better bits.
func (r *run) found(value int64, x []uint8) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if value >= r.limit.Load() {
		return
	}
	values, exact := r.form.Values(x), r.form.ModelBound(value)
	if r.form.Rounded() {
		if !r.model.Feasible(values) {
			return
		}
		exact = r.model.Value(values)
	}
	r.limit.Store(value)
	r.best = values
	if r.bound != nil && value <= r.least && r.met != nil {
		r.proven = true
		r.met()
	}
	seconds := time.Since(r.began).Seconds()
	text := solve.Number(problem.RatText(exact))
	r.out.History = append(r.out.History, Improvement{seconds, text})
	if r.o.Progress != nil {
		bound := solve.Number("")
		if r.bound != nil {
			bound = solve.Number(problem.RatText(r.bound))
		}
		r.o.Progress(solve.NewIncumbent(seconds, text, bound, 0))
	}
	if v, _ := exact.Float64(); r.o.Target != nil && r.out.Met == nil && (r.model.Sense == problem.Maximize && v >= *r.o.Target || r.model.Sense == problem.Minimize && v <= *r.o.Target) {
		r.out.Met = &seconds
		if r.met != nil {
			r.met()
		}
	}
}

// shrink is what coefficients are divided by so that their sum is at most 2^55, which solvers of binary quadratic programs take, and
// the most that values change by rounding the quotients.
func shrink(f *problem.Form) (part, slack int64) {
	total := 0.0
	for _, c := range f.Linear {
		total += math.Abs(float64(c))
	}
	for _, p := range f.Pairs {
		total += math.Abs(float64(p.Coefficient))
	}
	for part = 1; total/float64(part) > 1<<55; part *= 2 {
	}
	if part > 1 {
		slack = part / 2 * int64(len(f.Linear)+len(f.Pairs))
	}
	return part, slack
}

// asQUBO is a form of degree two without rows, its coefficients divided.
func asQUBO(f *problem.Form, by int64) (*quboproblem.Instance, error) {
	b := quboproblem.NewBuilder(f.N)
	b.Minimize()
	for i, c := range f.Linear {
		b.LinearInt(i, nearest(c, by))
	}
	for _, p := range f.Pairs {
		b.PairInt(int(p.I), int(p.J), nearest(p.Coefficient, by))
	}
	return b.Build()
}

// nearest is the integer nearest to a quotient.
func nearest(c, by int64) int64 {
	if c < 0 {
		return -nearest(-c, by)
	}
	return (c + by/2) / by
}

// quadratic has binary quadratic programs solve the form.
func (r *run) quadratic(ctx context.Context) error {
	f := r.form
	part, slack := int64(1), int64(0)
	inst, err := asQUBO(f, part)
	if errors.Is(err, quboproblem.ErrCoefficient) {
		part, slack = shrink(f)
		inst, err = asQUBO(f, part)
	}
	if err != nil {
		return err
	}
	o := qubo.Options{Settings: r.o.Settings, Work: r.o.Work, Threads: r.o.Threads}
	o.Algorithm, o.Target, o.Start, o.Progress = "", nil, nil, nil
	if r.o.Target != nil {
		target := new(big.Rat).SetFloat64(*r.o.Target)
		if r.model.Sense == problem.Maximize {
			target.Neg(target)
		}
		target.Mul(target, f.Scale)
		target.Sub(target, new(big.Rat).SetInt64(f.Offset))
		target.Quo(target, new(big.Rat).SetInt64(part))
		v, _ := target.Float64()
		o.Target = &v
	}
	if bits, err := r.start(); err != nil {
		return err
	} else if bits != nil {
		for i := range bits {
			bits[i] += '0'
		}
		if o.Start, err = qubo.ParseStart(bits, "start", f.N); err != nil {
			return err
		}
	}
	res, err := qubo.Solve(ctx, inst, o)
	if res == nil {
		return err
	}
	x := make([]uint8, f.N)
	for i := range x {
		x[i] = uint8(res.Solution.At(i))
	}
	r.found(f.Value(x), x)
	r.out.Variant, r.out.Reason, r.out.Device, r.out.Moves = res.Variant, res.Reason, res.Device, res.Work.Flips
	if bound, ok := res.Bound.Rat(); ok {
		low := new(big.Int).Quo(bound.Num(), bound.Denom()).Int64()
		r.bound = f.ModelBound(low*part - slack + f.Offset)
	}
	r.proven, r.reason = res.Proven, res.Proof
	if res.Stopped {
		return solve.InterruptedError(solve.Cause(ctx))
	}
	return err
}

// Certify implements solve.Work.
func (r *run) Certify(context.Context, problem.Values) error {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.best == nil && r.proven {
		r.out.ProveInfeasible()
		r.out.Certificate.Reason, r.out.Certificate.Tree = "all solutions were visited, and none keeps the constraints", len(r.o.Fix) == 0
		return fmt.Errorf("the constraints allow no solution: %w", solve.ErrInfeasible)
	}
	r.complete()
	return nil
}

// Best implements solve.Work.
func (r *run) Best(context.Context, problem.Values) (string, error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.complete()
	if r.best == nil {
		return "no feasible solution was found; the values break some constraints", nil
	}
	return "the solution is the best so far", nil
}

// complete fills the result from the best values, or from the nearest bits.
func (r *run) complete() {
	x := r.best
	if r.out.Feasible = x != nil; !r.out.Feasible {
		if r.nearest == nil {
			r.nearest = make([]uint8, r.form.N)
		}
		x = r.form.Values(r.nearest)
	}
	r.out.Solution = x
	for i := range r.model.Variables {
		r.out.Assignment[r.model.Variables[i].Name] = x[i]
	}
	r.out.Constraints = constraintsOf(r.model, x)
	if !r.out.Feasible {
		r.out.Certificate.Reason = "no feasible solution was found"
		return
	}
	value := r.model.Value(x)
	r.out.Value = solve.Number(problem.RatText(value))
	reason := "all solutions that could be better were visited"
	if r.multipliers != nil {
		reason = "the bound is that of the constraints' multipliers"
		if r.multipliers.Shares != nil {
			reason = "the bound is that of the multipliers of the constraints, alone and times each bit"
		}
		if len(r.o.Fix) == 0 { // the check knows the whole model
			r.out.Certificate.prove(r.multipliers)
		}
	}
	r.out.Certificate.Reason = cmp.Or(r.reason, reason)
	r.out.Certificate.Tree = r.proven && r.multipliers == nil && r.reason == "" && len(r.o.Fix) == 0
	if r.bound == nil {
		return
	}
	if beats := r.bound.Cmp(value); r.model.Sense == problem.Maximize && beats < 0 || r.model.Sense == problem.Minimize && beats > 0 {
		return // of rounded coefficients
	}
	bound := solve.Number(problem.RatText(r.bound))
	if r.proven || r.bound.Cmp(value) == 0 { // of rounded coefficients within a gap
		r.out.SetProvenBound(bound)
		return
	}
	r.out.SetBound(bound)
}
