package csg

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"coalesce/solvers/csg/internal/price"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// Verify holds a result, the JSON object that MarshalJSON writes, against an instance:
// the blocks are a partition of its agents, their values add up to the stated value,
// and bound, gap and certificate are what Certify makes of the solver's total. That
// no structure exceeds this total is proven by prices alone, whose proof is checked; other
// algorithms leave none. An instance that is not restricted is restricted to the sizes
// of blocks that the result names, and minimised where the result is. Errors are those of an object that cannot be read.
func Verify(inst *problem.Instance, result []byte) (*solve.Verdict, error) {
	var x struct {
		Result
		Solution [][]int `json:"solution"`
	}
	if err := json.Unmarshal(result, &x); err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	v, err := solve.NewVerdict("csg", &x.Report)
	if err != nil {
		return nil, err
	}
	if inst, err = inMemory(inst); err != nil {
		return nil, err
	}
	if x.Constraints != nil && inst.Constraints() == nil && !inst.IsMinimized() && inst.Sizes == 0 {
		if err := inst.Constrain(*x.Constraints); err != nil {
			return nil, err
		}
	}
	if x.Minimize && !inst.IsMinimized() {
		if err := inst.Minimize(); err != nil {
			return nil, err
		}
	}
	if x.Sizes != 0 && inst.Sizes == 0 {
		if err := inst.Restrict(x.Sizes); err != nil {
			return nil, err
		}
	}
	claimed := inst.Signed(solve.Number(x.Certificate.Claimed)).String()
	r := NewResult(inst)
	r.Prices, r.Solved = x.Prices, x.Solved
	if !v.SameSize(r.Size) {
		return v, nil
	}
	if x.Solved != "" {
		if as := inst.ConvertTo(x.Solved); !as.Changed() || as.Type != x.Solved {
			v.Refute("the result was solved in %s, which does not hold the instance's sums", x.Solved)
		}
	}
	solve.CheckEqual(v, "sizes", x.Sizes, inst.Sizes, "")
	if !sameConstraints(x.Constraints, inst.Constraints()) {
		v.Refute("the result's constraints are not those of the instance")
	}
	solve.CheckEqual(v, "minimize", x.Minimize, inst.IsMinimized(), "")
	solve.CheckEqual(v, "type", x.Type, inst.Type, "")
	if !slices.Equal(x.Names, inst.Names) {
		v.Refute("the result's agents are %.80q, the instance's %.80q", x.Names, inst.Names)
	}
	if x.Solution == nil {
		verifyInfeasible(v, inst, &x.Report)
		for _, b := range x.Certificate.Blocks { // a structure as good as any, which has a forbidden block
			r.Structure = append(r.Structure, b.Mask)
		}
		if err := r.Certify(inst, claimed); len(x.Certificate.Blocks) > 0 && (!errors.Is(err, solve.ErrInfeasible) || !reflect.DeepEqual(x.Certificate, r.Certificate)) {
			v.Refute("the certificate differs from that of the instance's values")
		}
		return v, nil
	}
	if r.Structure, err = structure(inst, x.Solution); err == nil {
		err = r.Certify(inst, claimed)
	}
	switch {
	case errors.Is(err, solve.ErrInfeasible):
		v.Refute("a block of the structure is forbidden")
		return v, nil
	case err != nil:
		v.Refute("%w", err)
	}
	if !r.Certificate.Partition {
		return v, nil
	}
	v.Note("feasible: the blocks are a partition of the agents")
	v.CheckValue(solve.Number(r.Certificate.Sum), !x.Minimize)
	if err != nil {
		return v, nil
	}
	if x.Proven {
		v.CheckBound(r.Bound)
	}
	if !reflect.DeepEqual(x.Certificate, r.Certificate) {
		v.Refute("the certificate differs from that of the instance's values, which add up to %s", r.Certificate.Sum)
	}
	if x.Payoff != nil {
		held := x.Payoff
		if x.Minimize {
			held = held.Negated()
		}
		if shown, err := held.Check(context.Background(), inst, r.Structure); err != nil {
			v.Refute("%w", err)
		} else {
			v.Note("payoffs: %s", shown)
		}
	}
	switch {
	case r.Prices != nil:
		verifyPrices(v, inst, r)
	case !x.Proven && x.Bound != "":
		verifyPass(v, inst, x.Bound)
	default:
		v.NoteUnchecked()
	}
	return v, nil
}

// verifyPass computes the bound by a pass over the values, and refutes a stated bound that is better.
func verifyPass(v *solve.Verdict, inst *problem.Instance, stated solve.Number) {
	most := inst.PassBound(context.Background())
	bound, ok := most.Rat()
	claimed, too := inst.Signed(stated).Rat()
	if !ok || !too || claimed.Cmp(bound) < 0 {
		v.NoteUnchecked()
		return
	}
	v.BoundChecked = true
	if inst.IsMinimized() {
		v.Note("bound: no structure is worth less than %s, by each agent's least equal share of a coalition, and by the least values of coalitions of each size", inst.Signed(most))
		return
	}
	v.Note("bound: no structure exceeds %s, by each agent's largest equal share of a coalition, and by the largest values of coalitions of each size", most)
}

// sameConstraints reports whether constraints are written alike.
func sameConstraints(a, b *problem.Constraints) bool {
	one, errOne := json.Marshal(a)
	other, errOther := json.Marshal(b)
	return errOne == nil && errOther == nil && bytes.Equal(one, other)
}

// structure is what lists of agents 1..n say. Errors wrap ErrCheck.
func structure(inst *problem.Instance, lists [][]int) (problem.Structure, error) {
	s := make(problem.Structure, len(lists))
	for k, list := range lists {
		for _, agent := range list {
			if agent < 1 || agent > inst.N || s[k]>>(agent-1)&1 == 1 {
				return nil, fmt.Errorf("%w: found agent %d in block %d, expected different ones from 1 to %d", problem.ErrCheck, agent, k+1, inst.N)
			}
			s[k] |= 1 << (agent - 1)
		}
	}
	return s, nil
}

// verifyInfeasible looks for a structure without a forbidden block, where the result says that there is none.
func verifyInfeasible(v *solve.Verdict, inst *problem.Instance, stated *solve.Report) {
	if stated.Value != "" {
		v.Refute("the result has a value and no solution")
		return
	}
	switch found, known := inst.FindFeasible(); {
	case !stated.Proven && known && found == nil:
		v.Refute("the result does not say that no structure is feasible, which a search of all shows")
	case !stated.Proven:
		v.Note("the result has no solution, and does not say that none is feasible")
	case found != nil:
		names := make([]string, len(found))
		for k, block := range found {
			names[k] = inst.Coalition(block)
		}
		v.Refute("a structure is feasible: %s", strings.Join(names, ", "))
	case !known:
		v.Refute("that no structure is feasible takes longer to check than a proven result may")
	case inst.Blocks().Least > inst.N:
		v.BoundChecked = true
		v.Note("no structure is feasible: each of %d blocks has an agent, and there are %d", inst.Blocks().Least, inst.N)
	case !inst.Sizes.CanDivide(inst.N):
		v.BoundChecked = true
		v.Note("no structure is feasible: the number of agents, %d, is no sum of the sizes %s", inst.N, inst.Sizes)
	default:
		v.BoundChecked = true
		v.Note("no structure is feasible: no allowed coalitions are a partition of the agents, by a search of all")
	}
}

// verifyPrices checks a result's proof, and notes what was found.
func verifyPrices(v *solve.Verdict, inst *problem.Instance, r *Result) {
	limits := price.Settings{Steps: 1 << 36, Columns: 1 << 25}
	var steps int64
	var err error
	if counts := inst.Blocks(); counts != (problem.Counts{}) {
		given := inst
		if r.Prices.Blocks == nil || !r.Prices.Blocks.Proves(counts, len(r.Structure)) {
			v.Refute("the prices prove nothing of structures of so many blocks")
			return
		}
		as := inst.ConvertTo(problem.Int32, problem.Int64)
		if !as.Type.Integer() {
			v.Refute("the prices are those of whole values, which these are not")
			return
		}
		if inst, err = as.Priced(*r.Prices.Blocks, func(mask uint64) bool { return !math.IsInf(given.Value64(mask), -1) }); err != nil {
			v.Refute("%w", err)
			return
		}
	} else if r.Solved != "" {
		inst = inst.ConvertTo(r.Solved).Instance
	} else {
		inst = inst.Widen().Instance
	}
	switch inst.Type {
	case problem.Int32:
		steps, err = price.Verify(context.Background(), inst.I32, r.Structure, &r.Prices.Proof, limits)
	case problem.Int64:
		steps, err = price.Verify(context.Background(), inst.I64, r.Structure, &r.Prices.Proof, limits)
	case problem.Float32:
		steps, err = price.Verify(context.Background(), inst.F32, r.Structure, &r.Prices.Proof, limits)
	default:
		steps, err = price.Verify(context.Background(), inst.F64, r.Structure, &r.Prices.Proof, limits)
	}
	switch {
	case errors.Is(err, price.ErrProof):
		v.Refute("%w", err)
	case err != nil:
		v.Note("bound not checked: %v", err)
	default:
		v.BoundChecked = true
		more := "more"
		if inst.IsMinimized() {
			more = "less"
		}
		v.Note("bound: no coalition is worth %s than its agents' prices; coalitions from which a better structure could be made: %d, and none is (looked at: %d)", more, r.Prices.Survivors, steps)
	}
}
