package csg

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"coalesce/runtime/device"
	"coalesce/solvers/csg/internal/attempt"
	"coalesce/solvers/csg/internal/checkpoint"
	"coalesce/solvers/csg/internal/payoff"
	"coalesce/solvers/csg/internal/plan"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// Options of Solve. Algorithm is a Method. Unless one is asked for, large instances begin
// ByPrices, and go on with Apart where prices leave more work.
type Options struct {
	solve.Settings `option:"" algorithm.words:"Algorithms()" time_limit.default:"none, of a search among graphs 10s" target.about:"stop at this value or more; prices and searches find structures on their way, splittings only at the end" seed.refused:"no random numbers are drawn for a table of all coalitions" algorithm.about:"solve by prices or by splittings; dp and idp are the published programs"`
	// append finished levels of the tiles to this file, to go on with after an interruption; a process that ends loses the
	// level being computed and those that wait to be written
	Checkpoint string `option:"checkpoint" default:"no file"`
	// go on with the file of [Options.Checkpoint], on any device; without it the file must not exist
	Resume bool `option:"resume"`
	// divide the values of the best structure's blocks among their agents: shapley or banzhaf, a payoff of the core or the proof that there is none, or the
	// nucleolus of at most 16 agents; exact
	Payoff string `option:"payoff" words:"Payoffs()" default:"none"`
}

// Algorithms are the names that Options.Algorithm may have: all methods.
func Algorithms() []string { return []string{string(ByPrices), string(Apart), string(DP), string(IDP)} }

// Payoffs are the names that Options.Payoff may have.
func Payoffs() []string { return payoff.Concepts() }

// check returns an error of options that no solve takes.
func (o *Options) check() error {
	if o.Resume && o.Checkpoint == "" {
		return solve.InvalidInput("Resume", "found no checkpoint to go on with, expected its file in Checkpoint")
	}
	return solve.CheckOptions(o.Fields())
}

// checkpoint is the file of finished levels, nil where none is kept.
func (o *Options) checkpoint() *checkpoint.Spec {
	if o.Checkpoint == "" {
		return nil
	}
	return &checkpoint.Spec{Path: o.Checkpoint, Resume: o.Resume}
}

// Solve finds an optimal coalition structure of an instance on a device, or on several GPUs
// together, and checks it: the result's certificate recomputes the value from the instance.
//
// The end of ctx and the time limit end a solve within a second, with the best structure so far, and a
// bound where one is known; Stopped says so. Where none is known the error wraps that of ctx. Beside an error
// that wraps device.ErrLost the result, unless nil, is the best so far. Where every structure has a forbidden block
// the error wraps solve.ErrInfeasible, and the result says so. Errors of checkpoints that cannot be continued wrap
// ErrCheckpoint, those of memory
// device.ErrMemory, those of a wrong answer ErrCheck.
func Solve(ctx context.Context, inst *problem.Instance, o Options) (r *Result, err error) {
	err = solve.WithSession(Open, o, func(s *Session) error {
		r, err = s.Solve(ctx, inst)
		return err
	})
	return r, err
}

// ErrCheckpoint is wrapped by the errors of damaged files and of files that are not a checkpoint of
// the instance.
var ErrCheckpoint = checkpoint.ErrRefused

// A run is the solve of one instance: the plan names the algorithms, each is run until one does not give up, and its
// structure is certified.
type run struct {
	*Session
	inst   *problem.Instance // prepared, from Plan on
	began  time.Time
	plan   *plan.Plan
	task   *attempt.Task
	result *Result
}

// Plan implements solve.Work.
func (r *run) Plan(ctx context.Context) (*Result, iter.Seq[solve.Attempt[*attempt.Outcome]], error) {
	r.began = time.Now()
	o := &r.Settings
	d, err := o.LeadDevice()
	if err != nil {
		return nil, nil, err
	}
	if err := r.check(); err != nil {
		return nil, nil, err
	}
	inst := r.inst
	if d.Facts().Kind == device.Host {
		inst, err = inMemory(inst)
	} else {
		inst, err = inst.Prepared()
	}
	if err != nil {
		return nil, nil, err
	}
	if err := payoff.CheckAgents(inst.N, r.Payoff); err != nil {
		return nil, nil, err
	}
	if inst.IsMinimized() {
		if err := payoff.CheckMinimized(r.Payoff); err != nil {
			return nil, nil, err
		}
	}
	if r.plan, err = plan.New(o, inst, r.checkpoint()); err != nil {
		return nil, nil, err
	}
	if err := r.begin(inst, r.plan.Facts); err != nil {
		return nil, nil, err
	}
	r.result.Algorithm = string(r.plan.Method)
	switch {
	case !inst.Sizes.CanDivide(inst.N):
		r.result.Reason = "sums of the sizes that blocks may have"
		return r.result, nil, r.result.certifyInfeasible(inst)
	case inst.Blocks().Least > inst.N:
		r.result.Reason = "each block has an agent"
		return r.result, nil, r.result.certifyInfeasible(inst)
	}
	return r.result, r.attempts(ctx, r.algorithms()), r.plan.CheckCheckpoint()
}

// begin makes the task and the result of a prepared instance. The incumbent is the structure to begin with where that is the best known.
func (r *run) begin(inst *problem.Instance, facts device.Facts) error {
	r.inst, r.result = inst, NewResult(inst)
	r.task = &attempt.Task{Instance: inst, Settings: &r.Settings, Facts: facts, Incumbent: problem.NewIncumbent(inst)}
	blocks, _, err := problem.TakeStart(&r.Settings, inst.N)
	if err != nil || blocks == nil {
		return err
	}
	start := blocks.Structure()
	worth, err := problem.Check(inst, start, "-inf")
	if worth.Sum == "" {
		return solve.InvalidInput("Start", "%w", err)
	}
	for _, b := range worth.Blocks {
		if b.Value == "-inf" {
			return solve.InvalidInput("Start", "found the block {%s}, which is forbidden, expected blocks that are allowed", strings.Join(b.Agents, ", "))
		}
	}
	r.task.Incumbent.Offer(start, "")
	return nil
}

// algorithms are those of the plan, in the order in which they are tried.
func (r *run) algorithms() iter.Seq2[Method, attempt.Algorithm] {
	return func(yield func(Method, attempt.Algorithm) bool) {
		p := r.plan
		if r.inst.Blocks() != (problem.Counts{}) {
			if asked := r.Settings.Algorithm; asked != string(DP) && (!yield(ByPrices, attempt.PricedBlocks{Alone: asked != ""}) || asked != "") {
				return
			}
			yield(p.Method, attempt.Layers{})
			return
		}
		if r.inst.N == 0 {
			yield(p.Method, attempt.EmptyInstance{})
			return
		}
		if p.Prices != nil && (!yield(ByPrices, attempt.PriceAlgorithm{Limits: *p.Prices}) || p.Asked) {
			return
		}
		if p.Family == nil {
			yield(p.Method, attempt.HostDP{Method: p.Method})
			return
		}
		yield(p.Method, attempt.KernelAlgorithm{Family: p.Family, Method: p.Method, Pool: &r.pool, Checkpoint: r.checkpoint()})
	}
}

// attempts are the turns of algorithms. Each leaves in the result how it ran.
func (r *run) attempts(ctx context.Context, algorithms iter.Seq2[Method, attempt.Algorithm]) iter.Seq[solve.Attempt[*attempt.Outcome]] {
	return func(yield func(solve.Attempt[*attempt.Outcome]) bool) {
		for m, a := range algorithms {
			run := func() (*attempt.Outcome, error) {
				out := &attempt.Outcome{Algorithm: m}
				var err error
				if out.Met = r.task.Met(); !out.Met {
					finish := func() {}
					if m != ByPrices { // which prove bounds of their own
						after, wait := attempt.PassDelays(r.inst.N)
						finish = r.task.BoundBeside(ctx, after, wait)
					}
					err = a.Solve(ctx, r.task, out)
					finish()
				}
				if errors.Is(err, context.Canceled) && ctx.Err() == nil && r.task.Met() {
					out.Met, err = true, nil
				}
				if errors.Is(err, solve.ErrGaveUp) {
					r.Logf("%v", err)
				}
				if over := ctx.Err(); over != nil && err != nil && r.RankCount() > 1 && !errors.Is(err, problem.ErrCheck) {
					err = errors.Join(over, err) // exchanges fail where other ranks have ended
				}
				if r.plan != nil {
					out.Reason = r.plan.First.ReasonOf(out.Reason)
				}
				r.result.takeOutcome(r.inst, out)
				return out, err
			}
			if !yield(solve.Attempt[*attempt.Outcome]{Name: string(m), Run: run}) {
				return
			}
		}
	}
}

// Certify implements solve.Work.
func (r *run) Certify(ctx context.Context, found *attempt.Outcome) error {
	if err := r.certify(found); err != nil || r.Payoff == "" {
		return err
	}
	if found.Met {
		r.noPayoff()
		return nil
	}
	r.inst.DrawValues()
	p, err := payoff.Divide(ctx, r.inst, r.result.Structure, r.Payoff)
	if err != nil && ctx.Err() != nil {
		r.noPayoff()
		return nil
	}
	if p != nil && r.inst.IsMinimized() {
		p = p.Negated()
	}
	r.result.Payoff = p
	return err
}

// noPayoff notes that there are no payoffs, where they were asked for.
func (r *run) noPayoff() {
	if r.Payoff != "" {
		r.result.Notes = append(r.result.Notes, "payoffs are not known: the solve ended before")
	}
}

// certify is Certify without payoffs.
func (r *run) certify(found *attempt.Outcome) error {
	if found.Met {
		r.result.Reason = "a structure is worth the target"
		err := r.acceptIncumbent()
		r.markMet()
		return err
	}
	if found.Infeasible {
		return r.result.certifyInfeasible(r.inst)
	}
	err := r.result.Certify(r.inst, found.Claimed)
	r.markMet()
	if err != nil && found.Refuted != "" {
		return fmt.Errorf("%s: %w", found.Refuted, err)
	}
	return err
}

// markMet notes when the target was met, which Session.Solve has negated beside minimised values.
func (r *run) markMet() {
	held := solve.Report{Value: r.inst.Signed(r.result.Value)}
	held.MarkMet(r.Target, r.began)
	r.result.Met = held.Met
}

// Best implements solve.Work.
func (r *run) Best(context.Context, *attempt.Outcome) (answer string, err error) {
	if r.task.Incumbent.Value == "" {
		return "", nil
	}
	r.noPayoff()
	return "the structure is the best so far", r.acceptIncumbent()
}

// acceptIncumbent makes the incumbent, with its bound, the answer.
func (r *run) acceptIncumbent() error {
	best, res := r.task.Incumbent, r.result
	res.Structure, res.Prices, res.Splittings = best.Blocks, nil, 0
	res.Structure.Sort()
	c, err := problem.Check(r.inst, res.Structure, best.Value.String())
	if res.Certificate = c.Signed(r.inst); err != nil {
		return err
	}
	res.Value = best.Value
	if best.Bound == "" && r.inst.N <= problem.PassAgents {
		best.Bound = r.inst.PassBound(context.Background())
	}
	res.SetBound(best.Bound)
	res.Value, res.Bound = r.inst.Signed(res.Value), r.inst.Signed(res.Bound)
	return nil
}

// inMemory is an instance that is safe to add up, its values in this machine's memory.
func inMemory(inst *problem.Instance) (*problem.Instance, error) {
	if err := inst.Check(); err != nil {
		return nil, err
	}
	inst.DrawValues()
	return inst.Prepared()
}
