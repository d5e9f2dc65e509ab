package assignment

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/coreprice"
	"coalesce/solvers/assignment/internal/draw"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/families"
	"coalesce/solvers/assignment/internal/verify"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/cores"
	"coalesce/solvers/solve"
)

// Options of Solve: the settings of all solvers, and what matchings add. Several Devices are of one
// kind and share the rows of a dense instance. So do Ranks, whose Devices, one each, are GPUs or
// emulated, of costs that are dense or distances of points; all get the answer.
type Options struct {
	solve.Settings `option:"" algorithm.words:"Algorithms()" target.refused:"the value of a matching is not known before the end" seed.refused:"no algorithm draws random numbers"`
	// add the duals u and v to the result
	Duals bool `option:"duals"`
	// check the answer against the costs, without which nothing is proven
	Unchecked bool `option:"check" negated:"true"`
	// find so many matchings, the best first
	KBest int `option:"k_best" min:"1" max:"2147483647" default:"1"`
	// make the worst cost of a matched pair as good as possible, in place of the sum
	Bottleneck bool `option:"bottleneck"`

	// Rows is set where the instance that a rank of Ranks gives has that rank's rows alone
	// (OwnRows): those of the whole instance. 0: each rank gives the whole instance, and of
	// dense costs with at most as many rows as columns looks at its own rows alone.
	Rows int

	lent bool // the caller has the costs on the device: no memory is taken for them
}

// check refuses options that are not as they are declared, or do not go together.
func (o *Options) check() error {
	if _, err := o.LeadDevice(); err != nil && !(o.Bottleneck && len(o.Devices) == 0) {
		return err
	}
	if err := solve.CheckOptions(o.Fields()); err != nil {
		return err
	}
	if _, err := o.start(); err != nil {
		return err
	}
	if o.KBest > 1 && o.RankCount() > 1 {
		return solve.InvalidInput("KBest", "found %d on %d ranks, expected 1: one process ranks matchings", o.KBest, o.RankCount())
	}
	if o.Bottleneck {
		return o.checkBottleneck()
	}
	return nil
}

// checkBest is check where only a matching of the best sum is looked for.
func (o *Options) checkBest() error {
	switch {
	case o.Bottleneck:
		return solve.InvalidInput("Bottleneck", "found true, expected false: Solve, Session and SolveBatch look for the worst pair")
	case o.KBest > 1:
		return solve.InvalidInput("KBest", "found %d, expected 1: Solve, Session and SolveBatch rank matchings", o.KBest)
	}
	return o.check()
}

// Solve finds an optimal matching of an instance on o's devices and checks it:
// the result's certificate holds matching and duals against the instance's own
// costs. ctx and the time limit end it between steps, with the best matching so far,
// which is not proven, and its bound; where no full matching was found, with an error.
//
// Of several optimal matchings any may be found; where there is only one it is
// the one that SciPy's linear_sum_assignment gives.
//
// With KBest of 2 or more it finds that many matchings, fewer where the instance has no more (Murty
// 1968, with duals handed on as in Miller, Stone and Cox 1997). The best is found as without, the
// others on this machine's processor, each from the duals of one before. Under a limit the order is
// that of costs with the limit for each row left unmatched. ctx and the time limit end it with the
// beginning of the ranking.
//
// With Bottleneck it finds a matching whose worst pair is the best that can be (Gross 1959;
// Burkard, Dell'Amico and Martello 2009, section 6.2), on this machine's processor, whatever o's
// devices are, and checks it: CheckBottleneck says how. Costs are compared and never added, so that
// the answer is exact for floats too. A limit of the instance is an error. ctx and the time limit
// end it without an answer.
//
// An instance without a full matching is an InfeasibleError, and the result
// carries the proof. Errors of costs wrap ErrCost, those of memory
// device.ErrMemory, and name the size that fits on several devices; those of a wrong
// answer wrap ErrCheck.
func Solve(ctx context.Context, inst *problem.Instance, o Options) (r *Result, err error) {
	err = solve.WithSession(Open, o, func(s *Session) error {
		r, err = s.Solve(ctx, inst)
		return err
	})
	return r, err
}

// refute checks the proof that no full matching exists, and keeps the proof.
func (r *Result) refute(inst *problem.Instance, e *engine.Infeasible) error {
	check := problem.CheckHall
	if inst.Transports() {
		check = problem.CheckCut
	}
	h, err := check(inst, e.Rows)
	if err != nil {
		return fmt.Errorf("%s: %w", r.Variant, err)
	}
	return r.setInfeasible(h)
}

// setInfeasible keeps a proof that was checked.
func (r *Result) setInfeasible(h problem.Hall) error {
	r.setCertificate(&problem.Certificate{By: "host", Hall: &h})
	return &problem.InfeasibleError{Hall: h, Amounts: r.inst.Transports()}
}

// A job is a problem on its way through an engine, or through a method of the
// host.
type job struct {
	device  device.Device
	options Options
	p       *problem.Normal
	plan    plan
	facts   device.Facts
	stream  device.Stream
	matrix  *engine.Matrix
	engine  engine.Engine
	relays  map[string]relay // by family
	checker *verify.Checker
	spread  *shardedCosts // instead of matrix, engine and checker where several devices share the costs
	held    device.Scope
}

// prepare plans, allocates the memory that solving needs on one device or on several, and copies
// the costs there, or draws a drawing there.
func prepare(ctx context.Context, p *problem.Normal, o Options, drawing *draw.Drawing) (*job, error) {
	if len(o.Devices) > 1 || o.RankCount() > 1 {
		return prepareSharded(ctx, p, o, drawing)
	}
	d, err := o.LeadDevice()
	if err != nil {
		return nil, err
	}
	c, err := planFor(d.Facts(), p, o)
	if err != nil {
		return nil, err
	}
	return prepareOne(ctx, d, p, c, o, drawing)
}

// prepareOne is prepare for a plan on one device.
func prepareOne(ctx context.Context, d device.Device, p *problem.Normal, c plan, o Options, drawing *draw.Drawing) (_ *job, err error) {
	j := &job{device: d, options: o, p: p, plan: c, facts: d.Facts()}
	if c.method != nil {
		return j, nil
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, j.Close())
		}
	}()
	if p.Instance.Dense() {
		j.engine, err = c.family.Open(d, o.Tuning, c.variant, p.Rows, p.Cols)
		if err == nil {
			j.engine.LimitSteps(0) // core gives up on ties: others go on
		}
	} else {
		j.engine, err = c.family.Implicit(d, o.Tuning, c.variant, p)
	}
	if err != nil {
		return nil, err
	}
	j.held.CloseLater(j.engine)
	if j.stream, err = j.held.NewStream(d); err != nil {
		return nil, err
	}
	if p.Instance.Dense() {
		if err = j.loadCosts(ctx, drawing); err != nil {
			return nil, err
		}
	}
	if o.Unchecked || p.Rows == 0 || p.Instance.Sparse != nil {
		return j, nil
	}
	if j.checker, err = openChecker(d, p, o); err != nil {
		return nil, err
	}
	j.held.CloseLater(j.checker)
	return j, nil
}

// openChecker takes the kernels that check dense costs, or points.
func openChecker(d device.Device, p *problem.Normal, o Options) (*verify.Checker, error) {
	if p.Instance.Points != nil {
		return verify.OpenPoints(d, o.Tuning, p)
	}
	v, err := checkerFor(d.Facts(), p, o)
	if err != nil {
		return nil, err
	}
	return verify.Open(d, v, p.Rows, p.Cols)
}

// loadCosts copies the problem's costs to the device, in parts so that ctx can end
// that, or draws them there; those that are lent come with each solve.
func (j *job) loadCosts(ctx context.Context, drawing *draw.Drawing) (err error) {
	const part = 1 << 28
	p, m := j.p, &engine.Matrix{Rows: j.p.Rows, Cols: j.p.Cols}
	if j.options.lent {
		j.matrix = m
		return nil
	}
	if m.Costs, err = j.held.Alloc(j.device, int64(p.Rows)*int64(p.Cols)*int64(p.Instance.Type.Size())); err != nil {
		return fmt.Errorf("%d x %d costs of type %s: %w", p.Rows, p.Cols, p.Instance.Type, err)
	}
	j.matrix = m
	if drawing != nil {
		return drawing.DrawOnDevice(j.device, j.stream, m, 0)
	}
	costs := p.Instance.Bytes()
	for off := 0; off < len(costs); off += part {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := j.stream.Upload(m.Costs, int64(off), costs[off:min(len(costs), off+part)]); err != nil {
			return err
		}
	}
	return nil
}

// solve runs the method or the engine. Where an engine has met the bound on
// its steps, the next family goes on from the beginning, and the counts say so.
func (j *job) solve(ctx context.Context, start *problem.Prices) (*engine.Solution, error) {
	switch {
	case j.p.Rows == 0:
		return &engine.Solution{Column: []int32{}, Prices: problem.Prices{U: []int64{}, V: make([]int64, j.p.Cols)}}, nil
	case j.spread != nil:
		return j.solveSharded(ctx, start)
	case j.plan.method != nil:
		return j.plan.method.Solve(ctx, j.p, start, engine.Host{Threads: max(1, j.facts.SMs), Tuning: j.options.Tuning, Telling: j.reporter()})
	}
	if j.plan.bound > 0 {
		j.engine.LimitSteps(j.plan.bound)
	}
	var gaveUp *engine.ExhaustedError
	attempt := func(e engine.Engine, c plan) solve.Attempt[*engine.Solution] {
		return solve.Attempt[*engine.Solution]{Name: c.String(), Run: func() (*engine.Solution, error) {
			e.SetReporter(j.reporter())
			sol, err := e.Solve(ctx, j.stream, j.p, j.matrix, start)
			errors.As(err, &gaveUp)
			return sol, err
		}}
	}
	return j.relay(func(yield func(solve.Attempt[*engine.Solution]) bool) {
		if !yield(attempt(j.engine, j.plan)) {
			return
		}
		for _, next := range j.successors(gaveUp) {
			e, c, err := j.other(next.family)
			if err != nil {
				continue // not for this problem
			}
			e.LimitSteps(next.bound)
			if !yield(attempt(e, c)) {
				return
			}
		}
		j.byHost(ctx, start, yield)
	})
}

// relay runs algorithms in turn; where one went on after another, the counts say so.
func (j *job) relay(attempts iter.Seq[solve.Attempt[*engine.Solution]]) (*engine.Solution, error) {
	r, err := solve.Relay(attempts)
	if errors.Is(err, solve.ErrGaveUp) && j.apart() {
		err = fmt.Errorf("%w; no host has the costs", err)
	}
	if err == nil && r.After != "" {
		r.Answer.Counts.Switch = r.By + " after " + r.After
	}
	return r.Answer, err
}

// apart reports whether no host has all costs.
func (j *job) apart() bool { return j.p.Source != nil || j.options.RankCount() > 1 }

// byHost yields the host's first method, which needs the costs there.
func (j *job) byHost(ctx context.Context, start *problem.Prices, yield func(solve.Attempt[*engine.Solution]) bool) {
	if j.apart() {
		return
	}
	host := families.HostMethods()[0]
	yield(solve.Attempt[*engine.Solution]{Name: host.Name, Run: func() (*engine.Solution, error) {
		return host.Solve(ctx, j.p, start, engine.Host{Tuning: j.options.Tuning, Telling: j.reporter()})
	}})
}

// tellEvery is the time between two tellings of Progress.
const tellEvery = 250 * time.Millisecond

// reporter calls the user's Progress with the share of matched rows and, on a host, with a bound on
// the value of all full matchings. No value is known before the end.
func (j *job) reporter() engine.Reporter {
	if j.options.Progress == nil {
		return engine.Reporter{}
	}
	clock := time.Now()
	return engine.Reporter{Every: tellEvery, Report: func(s engine.Progress) {
		now := solve.Incumbent{Seconds: time.Since(clock).Seconds(), Share: float64(s.Matched) / float64(j.p.Rows)}
		if s.Dual != nil {
			now.Bound = boundOf(j.p, s.Dual)
		}
		j.options.Progress(now)
	}}
}

// probe is the number of steps that the tree variant may take on tied costs where the
// algorithm to begin with was not chosen by measurement. Of
// 2,000 rows it needs 38 where costs have 200 values. Where it needs many more, as
// with two values and a number for each row and column, the classical variant takes a
// ninth to a fifteenth of its time, and each step here adds a hundredth to that
// (bench/results/assignment-kinds.json, an H200).
const probe = 50

// A successor is a family with the bound after which it gives up.
type successor struct {
	family string
	bound  uint64
}

// successors are the families to go on with where one gave up: after core found
// ties, a short try of the tree variant, then the classical one; after a short
// try of that, core, then scaling of many rows, or what the classical one takes.
func (j *job) successors(gaveUp *engine.ExhaustedError) []successor {
	switch {
	case gaveUp.Tied && j.plan.probe == 0:
		return []successor{{"classical", 0}}
	case gaveUp.Tied:
		return []successor{{"tree", j.plan.probe}, {"classical", 0}}
	case j.plan.bound > 0 && j.p.Rows >= coreprice.ScalingRows:
		return []successor{{"core", 0}, {"scaling", 0}, {"classical", 0}}
	case j.plan.bound > 0:
		return []successor{{"core", 0}, {"classical", 0}}
	}
	all := families.DeviceFamilies()
	at := slices.IndexFunc(all, func(f families.Family) bool { return f.Name == j.plan.family.Name })
	var rest []successor
	for _, f := range all[at+1:] {
		rest = append(rest, successor{family: f.Name})
	}
	return rest
}

// other opens the engine of another family, once.
func (j *job) other(name string) (engine.Engine, plan, error) {
	if name == j.plan.family.Name {
		return j.engine, j.plan, nil
	}
	if r, ok := j.relays[name]; ok {
		return r.engine, r.plan, nil
	}
	c, err := planFor(j.facts, j.p, Options{Settings: solve.Settings{Algorithm: name, Tuning: j.options.Tuning}})
	if err != nil {
		return nil, c, err
	}
	e, err := c.family.Open(j.device, j.options.Tuning, c.variant, j.p.Rows, j.p.Cols)
	if err != nil {
		return nil, c, err
	}
	if j.relays == nil {
		j.relays = map[string]relay{}
	}
	j.held.CloseLater(e)
	j.relays[name] = relay{e, c}
	return e, c, nil
}

// A relay is an engine that goes on where another gave up.
type relay struct {
	engine engine.Engine
	plan   plan
}

// checksOnDevice reports whether kernels check solutions, where the costs are.
func (j *job) checksOnDevice() bool {
	return j.checker != nil || j.spread != nil && (len(j.spread.checks) > 0 || j.spread.group.SpansProcesses())
}

// check holds a solution against the costs where they are, and lists the near pairs of rounded ones.
func (j *job) check(ctx context.Context, sol *engine.Solution) (problem.Certificate, []problem.Pair, error) {
	switch {
	case j.options.RankCount() > 1:
		return j.checkParts(context.WithoutCancel(ctx), sol)
	case j.spread != nil:
		return verify.CheckShards(ctx, j.p, j.spread.checks, sol)
	}
	if sol.Low != nil {
		cert, err := j.checker.CheckExact(ctx, j.stream, j.p, j.matrix, sol)
		return cert, nil, err
	}
	return j.checker.Check(ctx, j.stream, j.p, j.matrix, sol)
}

// Close gives back what prepare took.
func (j *job) Close() error { return j.held.Close() }

// start is Settings.Start: duals to begin from, nil: a cold start.
func (o *Options) start() (*problem.Duals, error) { return solve.StartAs[*problem.Duals](&o.Settings) }

// warm makes given duals feasible for p: v is kept, but lowered to at most 0 where columns may
// stay unmatched, and u is each row's least reduced cost. Duals of costs with another scale are
// rounded. Errors name duals of another size, and values beyond 2^60 units.
func warmPrices(p *problem.Normal, d *problem.Duals) (*problem.Prices, error) {
	if d == nil {
		return nil, nil
	}
	given := d.V
	if p.Transposed {
		given = d.U
	}
	if len(given) != p.Cols || !(d.Scale*p.Unit() > 0) {
		return nil, solve.InvalidInput("Start", "duals to begin from: found %d of scale %v, expected %d for this instance's longer side", len(given), d.Scale, p.Cols)
	}
	s := &problem.Prices{U: make([]int64, p.Rows), V: make([]int64, p.Cols)}
	bound := float64(int64(1) << 60)
	for j, v := range given {
		s.V[j] = v
		if d.Scale != p.Unit() {
			s.V[j] = int64(math.RoundToEven(float64(v) / d.Scale * p.Unit()))
		}
		if x := float64(v) / d.Scale * p.Unit(); math.Abs(x) > bound {
			return nil, solve.InvalidInput("Start", "duals to begin from: column %d: found %v units, expected at most 2^60", j, x)
		}
		if p.Rows < p.Cols || p.Limit != problem.Infinity {
			s.V[j] = min(s.V[j], 0)
		}
	}
	cores.Split(p.Rows, max(1, 1<<14/max(1, p.Cols)), func(low, high int) {
		buf := make([]int64, p.Cols)
		for i := low; i < high; i++ {
			s.U[i] = p.Limit
			for j, c := range p.Row(i, buf) {
				if c != problem.Infinity {
					s.U[i] = min(s.U[i], c-s.V[j])
				}
			}
			if s.U[i] == problem.Infinity { // nothing is allowed to the row
				s.U[i] = 0
			}
		}
	})
	return s, nil
}
