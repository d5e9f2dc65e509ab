package assignment

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/families"
	"coalesce/solvers/assignment/internal/formats"
	"coalesce/solvers/assignment/internal/simplex"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// A Shipment is a part of a flow: so much from a row to a column.
type Shipment struct {
	Row    int32 `json:"row"`    // row, from 0
	Col    int32 `json:"column"` // column, from 0
	Amount int64 `json:"amount"` // units shipped, 1 or more
}

// transportMethod is the method for supplies and capacities, on this machine's processor.
var transportMethod = families.Method{Name: "simplex"}

// checkTransport refuses options that have no effect on a flow.
func (o *Options) checkTransport() error {
	switch {
	case o.KBest > 1:
		return solve.InvalidInput("KBest", "found %d with supplies or capacities, expected 1: matchings are ranked", o.KBest)
	case o.Bottleneck:
		return solve.InvalidInput("Bottleneck", "found true with supplies or capacities, expected false: the sum of costs counts")
	case o.Start != nil:
		return solve.InvalidInput("Start", "found duals with supplies or capacities, expected none")
	case o.Algorithm != "":
		return solve.InvalidInput("Algorithm", "found %s with supplies or capacities, expected none: one method finds flows", o.Algorithm)
	case o.RankCount() > 1:
		return solve.InvalidInput("Supply", "found supplies or capacities on %d ranks, expected none: one process finds flows", o.RankCount())
	}
	return o.RefuseVariant(transportMethod.Name)
}

// ship runs the network simplex method on the instance.
func (r *run) ship(ctx context.Context) (finding, error) {
	sol, err := simplex.Solve(ctx, r.p, engine.Host{Tuning: r.Tuning})
	switch {
	case err != nil:
		return finding{flow: sol}, r.failed(ctx, err)
	case sol.Cut != nil:
		return finding{none: &engine.Infeasible{Rows: sol.Cut}}, nil
	}
	return finding{flow: sol}, nil
}

// certifyFlow checks a flow by its duals, decides what rounding leaves open, and takes the flow over.
func (r *run) certifyFlow(ctx context.Context, sol *simplex.Solution) error {
	if r.Unchecked {
		return r.result.keepFlow(r.inst, r.p, sol)
	}
	cert, duals, err := decideFlow(ctx, r.inst, r.p, sol)
	switch {
	case solve.IsInterrupted(ctx, err):
		solve.MarkStopped(context.Cause(ctx), &r.result.Stopped, &r.result.Notes, "the flow is optimal for rounded costs")
	case errors.Is(err, simplex.ErrOpen):
		r.result.Notes = append(r.result.Notes, fmt.Sprintf("the flow is optimal for rounded costs: %v", err))
	case err != nil:
		return fmt.Errorf("%s: %w", r.result.Variant, err)
	}
	if err := r.result.keepFlow(r.inst, r.p, sol); err != nil {
		return err
	}
	if r.Duals {
		r.result.Duals = &duals
	}
	r.result.setCertificate(&cert)
	return nil
}

// decideFlow checks an optimal flow of p's scaled costs, and makes it optimal for the costs as given. The certificate has a gap where ctx
// ended that, or where too much was open: the error says so.
func decideFlow(ctx context.Context, inst *problem.Instance, p *problem.Normal, sol *simplex.Solution) (problem.Certificate, problem.Duals, error) {
	flow, duals := sol.Flow, problem.Duals{U: sol.U, V: sol.V, Scale: p.Unit()}
	if p.Transposed {
		flow, duals.U, duals.V = flow.Transpose(), sol.V, sol.U
	}
	cert, near, err := problem.CheckFlow(inst, &flow, duals, problem.FlowWidth(p))
	if err != nil || cert.Rounded == 0 {
		return cert, duals, err
	}
	if p.Transposed {
		for k, x := range near {
			near[k] = problem.Pair{Row: x.Col, Col: x.Row}
		}
	}
	pivots, err := simplex.Settle(ctx, p, &sol.Flow, sol.Prices, near)
	if cert.Rounds = min(pivots, 1); err == nil {
		cert.Gap = 0
	}
	return cert, duals, err
}

// keepFlow takes over a flow of the instance's normal problem, and adds its costs up.
func (r *Result) keepFlow(inst *problem.Instance, p *problem.Normal, sol *simplex.Solution) error {
	flow := sol.Flow
	if p.Transposed {
		flow = flow.Transpose()
	}
	r.Counts, r.Flow, r.Matched = sol.Counts, make([]Shipment, len(flow.Row)), len(flow.Row)
	for k, i := range flow.Row {
		r.Flow[k] = Shipment{i, flow.Col[k], flow.Amount[k]}
	}
	r.Value = formatValue(problem.FlowValue(inst, &flow), inst.Type.Integer() && inst.Points == nil)
	if x, _ := r.Value.Rat(); x == nil {
		return fmt.Errorf("%w: the best flow's add up to more than the largest float64", problem.ErrCost)
	}
	return nil
}

// HasAnswer reports whether a result has a matching or a flow.
func (r *Result) HasAnswer() bool { return r.Column != nil || r.Flow != nil }

// flowOf is the flow of a result.
func (r *Result) flowOf() *problem.Flow {
	f := &problem.Flow{}
	for _, x := range r.Flow {
		f.Row, f.Col, f.Amount = append(f.Row, x.Row), append(f.Col, x.Col), append(f.Amount, x.Amount)
	}
	return f
}

// transported checks a result whose answer is a flow, or that none exists.
func (x *readBack) transported(inst *problem.Instance, certificate, duals []byte, v *solve.Verdict) error {
	if certificate != nil {
		x.certificate = new(problem.Certificate)
		if err := json.Unmarshal(certificate, x.certificate); err != nil {
			return fmt.Errorf("result: certificate: %w", err)
		}
	}
	if x.Column != nil || x.Best != nil || x.Complete != nil || x.Objective != "" {
		v.Refute("the instance has supplies or capacities, the result a matching")
		return nil
	}
	if x.Flow == nil {
		if !x.Proven || x.Value != "" || x.certificate == nil || x.certificate.Hall == nil {
			v.Refute("the result has no flow, and no proof that none is feasible")
			return nil
		}
		h, err := problem.CheckCut(inst, membersOf(x.certificate.Hall))
		switch {
		case err != nil:
			v.Refute("%w", err)
		case !sameHall(x.certificate.Hall, &h):
			v.Refute("the proof names other %s or partners than the instance: %w", h.Side, &problem.InfeasibleError{Hall: h, Amounts: true})
		default:
			v.BoundChecked = true
			v.Note("proof carried: %v", &problem.InfeasibleError{Hall: h, Amounts: true})
		}
		return nil
	}
	flow := x.flowOf()
	err := problem.CheckMarginals(inst, flow)
	if err != nil {
		v.Refute("%w", err)
		return nil
	}
	v.Note("feasible: a flow of %d over %d allowed pairs", inst.Shipped(), len(flow.Row))
	solve.CheckEqual(v, "number of pairs with a flow", x.Matched, len(flow.Row), "")
	value := problem.FlowValue(inst, flow)
	v.CheckValue(formatValue(value, inst.Type.Integer() && inst.Points == nil), inst.Maximize)
	if x.certificate == nil {
		if x.Proven {
			v.Refute("the result has no certificate: nothing is proven")
		}
		v.NoteUnchecked()
		return nil
	}
	if duals == nil {
		duals = x.Duals
	}
	proof := "the instance was solved again, with duals that bound"
	if duals != nil && x.certificate.Exact {
		proof = "duals bound"
		err = x.boundedBy(inst, flow, duals)
	} else {
		err = x.solvedAgain(inst, value)
	}
	if err != nil && !errors.Is(err, problem.ErrCheck) {
		return err
	}
	if err != nil {
		v.Refute("the flow is not proven optimal: %w", err)
		return nil
	}
	v.CheckBound((&Result{Report: solve.Report{Value: v.Value}, Maximize: inst.Maximize, Certificate: x.certificate}).leastBound())
	v.BoundChecked = true
	v.Note("bound: proof carried: %s %d costs", proof, x.certificate.Pairs)
	return nil
}

// boundedBy holds the certificate against the duals that prove it. Errors of the check wrap ErrCheck.
func (x *readBack) boundedBy(inst *problem.Instance, flow *problem.Flow, duals []byte) error {
	d, err := formats.ParseDuals(duals, "the duals", inst, x.certificate.Scale)
	if err != nil {
		return err
	}
	found, _, err := problem.CheckFlow(inst, flow, *d, 0)
	return cmp.Or(err, x.sameCertificate(found))
}

// solvedAgain holds a flow's value and the certificate against those of another solve.
func (x *readBack) solvedAgain(inst *problem.Instance, value *big.Float) error {
	p, err := problem.Normalise(inst)
	if err != nil {
		return err
	}
	ctx := context.Background()
	sol, err := simplex.Solve(ctx, p, engine.Host{})
	if err != nil {
		return err
	}
	found, _, err := decideFlow(ctx, inst, p, sol)
	if err != nil {
		return err
	}
	flow := sol.Flow
	if p.Transposed {
		flow = flow.Transpose()
	}
	if best := problem.FlowValue(inst, &flow); best.Cmp(value) != 0 {
		return fmt.Errorf("%w: the flow's costs add up to %s, those of an optimal one to %s", problem.ErrCheck, value.Text('g', 20), best.Text('g', 20))
	}
	found.Rounds, found.Gap = x.certificate.Rounds, x.certificate.Gap // an unfinished solve leaves a gap
	return x.sameCertificate(found)
}

// sameCertificate refuses a stated certificate that differs from the one that was found.
func (x *readBack) sameCertificate(found problem.Certificate) error {
	if found.By = x.certificate.By; found != *x.certificate {
		return fmt.Errorf("%w: the certificate differs from the one that was found, of %d costs, %d of them rounded, and %s units", problem.ErrCheck, found.Pairs, found.Rounded, found.Dual)
	}
	return nil
}
