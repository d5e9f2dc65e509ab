package assignment

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/families"
	"coalesce/solvers/assignment/internal/formats"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// Verify holds a result, the JSON object that MarshalJSON writes, against an instance:
// each row has at most one column, of its own and allowed to it, as many are matched
// as there have to be, and the costs add up to the stated value. Duals, those of the
// result or the text of a file as ReadDuals takes it (nil: none), are held against
// every cost (Check), with the unit that the result's certificate states: they prove
// the bound. That no full matching exists is proven by the result's certificate
// (CheckHall). Of a ranking each matching is held against the instance, and its value
// and its place in the order against those of the others. Where the worst cost of a
// pair counts, the certificate proves it (CheckBottleneck). Errors are those of objects
// that cannot be read.
func Verify(inst *problem.Instance, result, duals []byte) (*solve.Verdict, error) {
	var x readBack
	if err := json.Unmarshal(result, &x); err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	v, err := solve.NewVerdict("assignment", &x.Report)
	if err != nil {
		return nil, err
	}
	if err := inst.Check(); err != nil {
		return nil, err
	}
	if !v.SameSize(map[string]int{"rows": inst.Rows, "columns": inst.Cols}) {
		return v, nil
	}
	sense := solve.CheckEqual(v, "sense", x.Sense, senseOf(inst.Maximize), " (--maximize says so)")
	same := solve.CheckEqual(v, "type", x.Type, inst.Type, "")
	if !slices.Equal(x.RowNames, inst.RowNames) || !slices.Equal(x.ColNames, inst.ColNames) {
		v.Refute("the names of rows or columns differ from the instance's")
	}
	if !sense || !same {
		return v, nil
	}
	if inst.Transports() {
		return v, x.transported(inst, certificateOf(x.Certificate), duals, v)
	}
	if x.Flow != nil {
		v.Refute("the result has a flow, the instance neither supplies nor capacities (--supply and --capacity give them)")
		return v, nil
	}
	switch x.Objective {
	case "":
	case worstCost:
		if inst.Limit != nil || duals != nil {
			return nil, solve.InvalidInput("result", "found the worst cost of a pair as its value, expected neither a limit nor duals: they are for sums of costs")
		}
		if x.Best != nil || x.Duals != nil {
			v.Refute("the value is the worst cost of a pair, beside a ranking or duals of sums")
		}
	default:
		v.Refute("found the objective %.40q, expected %q, or none for the sum", x.Objective, worstCost)
		return v, nil
	}
	certificate := certificateOf(x.Certificate)
	if x.Objective != "" && x.Column != nil {
		return v, x.worstPair(inst, certificate, v)
	}
	if certificate != nil {
		x.certificate = new(problem.Certificate)
		if err := json.Unmarshal(certificate, x.certificate); err != nil {
			return nil, fmt.Errorf("result: certificate: %w", err)
		}
	}
	if x.Column == nil {
		x.infeasible(inst, v)
		return v, nil
	}
	if err := checkMatching(inst, x.Column); err != nil {
		v.Refute("%w", err)
		return v, nil
	}
	value, matched := totalCost(inst, x.Column)
	v.Note("feasible: a matching of %d allowed pairs", matched)
	solve.CheckEqual(v, "number of matched pairs", x.Matched, matched, "")
	v.CheckValue(value, inst.Maximize)
	if err := x.ranking(inst, v); err != nil {
		return nil, err
	}
	if x.certificate == nil {
		if x.Proven || duals != nil {
			v.Refute("the result has no certificate: nothing is proven, and duals have no unit")
		}
		v.NoteUnchecked()
		return v, nil
	}
	if duals == nil {
		duals = x.Duals
	}
	if duals == nil {
		if c := x.certificate; c.Primal != c.Dual || c.Exact != (c.Rounded == 0) || c.Exact && (c.Gap != 0 || c.Rounds != 0) {
			v.Refute("the certificate contradicts itself: costs of %s and duals of %s units, exact %t, gap %v", c.Primal, c.Dual, c.Exact, c.Gap)
		}
		v.CheckBound((&Result{Report: solve.Report{Value: value}, Maximize: inst.Maximize, Certificate: x.certificate}).leastBound())
		v.NoteUnchecked()
		return v, nil
	}
	d, err := formats.ParseDuals(duals, "the duals", inst, x.certificate.Scale)
	if err != nil && !errors.Is(err, problem.ErrCheck) {
		return nil, err
	}
	var c problem.Certificate
	if err == nil {
		if c = *x.certificate; c.Exact {
			c, err = problem.Check(inst, x.Column, *d)
		} else {
			err = x.proveRounded(inst, *d, &c)
		}
	}
	if err != nil {
		v.Refute("the duals are no proof: %w", err)
		return v, nil
	}
	if c.By = x.certificate.By; c != *x.certificate {
		v.Refute("the certificate differs from that of the duals, which leave a gap of %v with %d costs rounded", c.Gap, c.Rounded)
	}
	v.CheckBound((&Result{Report: solve.Report{Value: value}, Maximize: inst.Maximize, Certificate: &c}).leastBound())
	v.BoundChecked = true
	v.Note("bound: proof carried: duals that bound %d costs add up to %s units of %v", c.Pairs, c.Dual, 1/c.Scale)
	if c.Rounded > 0 {
		v.Note("%d costs were rounded to units: the pairs whose slack is at most a unit a row decide, and were solved again", c.Rounded)
	}
	return v, nil
}

// certificateOf is a stated certificate, nil for null.
func certificateOf(text json.RawMessage) json.RawMessage {
	if bytes.Equal(text, []byte("null")) {
		return nil
	}
	return text
}

// proveRounded proves a matching of rounded costs optimal by duals that are feasible for these. It solves
// the instance again from the duals, decides as Solve does, and compares. c is the stated
// certificate; it becomes the one that was found. Errors wrap ErrCheck.
func (x *readBack) proveRounded(inst *problem.Instance, d problem.Duals, c *problem.Certificate) error {
	ctx := context.Background()
	p, err := problem.Normalise(inst)
	if err != nil {
		return err
	}
	if d.Scale != p.Unit() {
		return fmt.Errorf("%w: found units of 1/%v, expected 1/%v", problem.ErrCheck, d.Scale, p.Unit())
	}
	start, err := warmPrices(p, &d)
	if err != nil {
		return err
	}
	given, sum := problem.Prices{U: d.U, V: d.V}, problem.Int128{}
	if p.Transposed {
		given.U, given.V = d.V, d.U
	}
	for j, v := range given.V {
		if sum.Add(v); v > start.V[j] {
			return fmt.Errorf("%w: found the dual %d of column %d of the longer side, expected at most %d", problem.ErrCheck, v, j, start.V[j])
		}
	}
	for i, u := range given.U {
		if sum.Add(u); u > start.U[i] {
			return fmt.Errorf("%w: found the dual %d of row %d of the shorter side, expected at most %d", problem.ErrCheck, u, i, start.U[i])
		}
	}
	sol, err := families.HostMethods()[0].Solve(ctx, p, start, engine.Host{})
	if err != nil {
		return err
	}
	r := newResult(inst)
	duals, err := r.setSolution(inst, p, sol)
	if err != nil {
		return err
	}
	found, near, err := checkNear(inst, p, r.Column, *duals)
	if err == nil {
		err = r.decideExactly(ctx, p, sol, &found, near, Options{})
	}
	if err == nil {
		_, err = r.setSolution(inst, p, sol)
	}
	if err != nil {
		return err
	}
	if found.Dual != sum.String() {
		return fmt.Errorf("%w: the duals add up to %s units, those of an optimal matching to %s", problem.ErrCheck, sum.String(), found.Dual)
	}
	if a, b := objective(p, inst, x.Column), objective(p, inst, r.Column); a.Cmp(b) != 0 {
		return fmt.Errorf("%w: the matching's costs add up to %s, those of an optimal one to %s", problem.ErrCheck, a.Text('g', 20), b.Text('g', 20))
	}
	found.Rounds = c.Rounds // another optimum of the rounded costs can need other rounds
	*c = found
	return nil
}

// objective is the sum of a matching's costs, and of the limit for each row of the shorter side that
// it leaves unmatched, without rounding.
func objective(p *problem.Normal, inst *problem.Instance, column []int32) *big.Float {
	sum, matched := sumOf(inst, column)
	if inst.Limit != nil {
		left := new(big.Float).SetPrec(exactBits).SetFloat64(p.LeftOut())
		sum.Add(sum, left.Mul(left, new(big.Float).SetInt64(int64(p.Rows-matched))))
	}
	return sum
}

// ranking checks a list of the best matchings.
func (x *readBack) ranking(inst *problem.Instance, v *solve.Verdict) error {
	if x.Best == nil {
		if x.Complete != nil {
			v.Refute("the result says whether its ranking is complete, and has none")
		}
		return nil
	}
	p, err := problem.Normalise(inst)
	if err != nil {
		return err
	}
	if len(x.Best) == 0 || !slices.Equal(x.Best[0].Column, x.Column) {
		v.Refute("the first matching of the ranking is not the solution")
		return nil
	}
	failures, place := len(v.Failures), map[string]int{} // of each matching
	var before *big.Float
	for k, m := range x.Best {
		if err := checkMatching(inst, m.Column); err != nil {
			v.Refute("matching %d of the ranking: %w", k+1, err)
			return nil
		}
		text := fmt.Sprint(m.Column)
		if at, found := place[text]; found {
			v.Refute("matchings %d and %d of the ranking are the same", at+1, k+1)
		}
		place[text] = k
		exact, _ := totalCost(inst, m.Column)
		if found, ok := exact.Rat(); ok {
			if stated, ok := m.Exact.Rat(); !ok || stated.Cmp(found) != 0 {
				v.Refute("matching %d of the ranking: the stated value is %s, recomputed from the instance it is %s", k+1, m.Exact, exact)
			}
		}
		worth := objective(p, inst, m.Column)
		if inst.Maximize {
			worth.Neg(worth)
		}
		if before != nil && worth.Cmp(before) < 0 {
			v.Refute("matching %d of the ranking is better than the one before it", k+1)
		}
		before = worth
	}
	if len(v.Failures) == failures {
		v.Note("ranking of %d: each is a matching of the stated value, no two are the same, and the best stand first; that no other belongs among them was not checked", len(x.Best))
	}
	return nil
}

// worstPair checks a result whose value is the worst cost of a pair.
func (x *readBack) worstPair(inst *problem.Instance, certificate json.RawMessage, v *solve.Verdict) error {
	if err := checkMatching(inst, x.Column); err != nil {
		v.Refute("%w", err)
		return nil
	}
	_, matched := sumOf(inst, x.Column)
	v.Note("feasible: a matching of %d allowed pairs", matched)
	solve.CheckEqual(v, "number of matched pairs", x.Matched, matched, "")
	if matched == 0 {
		if v.Feasible = true; x.Value != "" || x.Bound != "" || x.Proven || certificate != nil {
			v.Refute("found a value or a proof, expected none of no pairs")
		}
		v.NoteUnchecked()
		return nil
	}
	row := worstRow(inst, x.Column)
	exact := solve.Number(inst.CostDecimals(row, int(x.Column[row])))
	v.CheckValue(exact, inst.Maximize)
	if certificate == nil {
		if x.Proven {
			v.Refute("the result has no certificate: nothing is proven")
		}
		v.NoteUnchecked()
		return nil
	}
	var stated problem.Hall
	if err := json.Unmarshal(certificate, &stated); err != nil {
		return fmt.Errorf("result: certificate: %w", err)
	}
	h, _, err := CheckBottleneck(inst, x.Column, membersOf(&stated))
	if err != nil {
		v.Refute("the certificate is no proof: %w", err)
		return nil
	}
	if !sameHall(&stated, &h) {
		v.Refute("the certificate names other %s or partners than the instance: %d members have %d partners at better costs", h.Side, len(h.Members), len(h.Partners))
		return nil
	}
	v.CheckBound(exact)
	v.BoundChecked = true
	v.Note("bound: proof carried: %d of the %s have together %d partners at better costs", len(h.Members), h.Side, len(h.Partners))
	return nil
}

// readBack is a result as it was printed.
type readBack struct {
	Result
	Objective   objectiveName   `json:"objective"`
	Sense       senseName       `json:"sense"`
	Duals       json.RawMessage `json:"duals"`
	Certificate json.RawMessage `json:"certificate"`
	Complete    *bool           `json:"complete"`

	certificate *problem.Certificate
}

// infeasible checks the proof that no full matching exists.
func (x *readBack) infeasible(inst *problem.Instance, v *solve.Verdict) {
	if !x.Proven || x.Value != "" || x.certificate == nil || x.certificate.Hall == nil || inst.Limit != nil {
		v.Refute("the result has no solution, and no proof that none is feasible")
		return
	}
	h, err := problem.CheckHall(inst, membersOf(x.certificate.Hall))
	if err != nil {
		v.Refute("%w", err)
		return
	}
	if !sameHall(x.certificate.Hall, &h) {
		v.Refute("the proof names other %s or partners than the instance: %w", h.Side, &problem.InfeasibleError{Hall: h})
		return
	}
	if x.Best != nil || x.Complete != nil {
		v.Refute("the result has a ranking, and no solution")
	}
	v.BoundChecked = true
	v.Note("proof carried: %v", &problem.InfeasibleError{Hall: h})
}

// membersOf are a stated proof's members; those that an int32 does not hold are no members of any instance.
func membersOf(h *problem.Hall) []int32 {
	members := make([]int32, len(h.Members))
	for k, member := range h.Members {
		members[k] = int32(max(-1, min(member, problem.MaxSide)))
	}
	return members
}

// sameHall reports whether two proofs name the same.
func sameHall(a, b *problem.Hall) bool {
	return a.Side == b.Side && slices.Equal(a.Members, b.Members) && slices.Equal(a.Partners, b.Partners)
}

// checkMatching checks the columns of all rows, -1 where one is unmatched.
func checkMatching(inst *problem.Instance, column []int32) error {
	if len(column) != inst.Rows {
		return fmt.Errorf("found %d columns, one a row, expected %d", len(column), inst.Rows)
	}
	taken, matched := make([]bool, inst.Cols), 0
	for i, j := range column {
		switch {
		case j == -1:
			continue
		case j < 0 || int(j) >= inst.Cols:
			return fmt.Errorf("row %d: found column %d, expected one below %d", i, j, inst.Cols)
		case taken[j]:
			return fmt.Errorf("column %d: found two rows matched to it, the second is %d", j, i)
		case !inst.Allowed(i, int(j)):
			return fmt.Errorf("row %d: found it matched to column %d, which is forbidden to it", i, j)
		}
		taken[j] = true
		matched++
	}
	if full := min(inst.Rows, inst.Cols); inst.Limit == nil && matched != full {
		return fmt.Errorf("found %d matched pairs, expected %d (--limit leaves rows unmatched)", matched, full)
	}
	return nil
}
