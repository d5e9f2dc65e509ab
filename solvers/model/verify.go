package model

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"sync/atomic"
	"time"

	"coalesce/solvers/model/internal/search"
	"coalesce/solvers/model/problem"
	"coalesce/solvers/solve"
)

// Verify holds a result, the JSON object of a Result, against a model: each variable has a value of its range, the sums of the
// constraints are the stated ones, the solution is feasible if the result says so, and its value is the stated one.
func Verify(m *problem.Model, result []byte) (*solve.Verdict, error) {
	var x Result
	if err := json.Unmarshal(result, &x); err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	v, err := solve.NewVerdict("model", &x.Report)
	if err != nil {
		return nil, err
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	if !v.SameSize(m.Size()) || !solve.CheckEqual(v, "sense", x.Sense, m.Sense, "") {
		return v, nil
	}
	if x.Proven && !x.Feasible && x.Value == "" && len(x.Solution) == 0 {
		return v, visitAgain(v, m, &x, nil)
	}
	if len(x.Solution) != len(m.Variables) {
		v.Refute("found %d values, expected %d", len(x.Solution), len(m.Variables))
		return v, nil
	}
	values, named := problem.Values(x.Solution), make(map[string]int64, len(x.Solution))
	for i := range m.Variables {
		if !m.Variables[i].Allows(values[i]) {
			v.Refute("the variable %s is %d, expected %d to %d", m.Variables[i].Name, values[i], m.Variables[i].Low, m.Variables[i].High)
			return v, nil
		}
		named[m.Variables[i].Name] = values[i]
	}
	if x.Assignment != nil && !maps.Equal(named, x.Assignment) {
		v.Refute("the values by name are not the values of the solution")
	}
	sums := constraintsOf(m, values)
	if len(x.Constraints) != len(sums) {
		v.Refute("found %d constraints, expected %d", len(x.Constraints), len(sums))
		return v, nil
	}
	for k, c := range sums {
		a, _ := c.Value.Rat()
		if b, ok := x.Constraints[k].Value.Rat(); !ok || a.Cmp(b) != 0 || x.Constraints[k].Name != c.Name || x.Constraints[k].Holds != c.Holds {
			v.Refute("the constraint %s is stated as %s (%s, holds: %t), recomputed it is %s (%t)", c.Name, x.Constraints[k].Value, x.Constraints[k].Name, x.Constraints[k].Holds, c.Value, c.Holds)
		}
	}
	feasible := m.Feasible(values)
	switch {
	case feasible != x.Feasible:
		v.Refute("the result says %t of whether the solution is feasible, the model %t", x.Feasible, feasible)
	case feasible:
		v.Note("feasible: %d variables are within their bounds, %d constraints hold", len(values), len(sums))
		v.CheckValue(solve.Number(problem.RatText(m.Value(values))), m.Sense == problem.Maximize)
		if x.Certificate.Scale == 0 {
			if err := visitAgain(v, m, &x, values); err != nil {
				return nil, err
			}
			break
		}
		f, err := problem.NewForm(m)
		if err != nil {
			return nil, err
		}
		bound, ok := search.New(f).Bound(x.Certificate.multipliers())
		if !ok {
			v.Refute("the multipliers do not fit the constraints")
			break
		}
		v.CheckBound(solve.Number(problem.RatText(f.ModelBound(bound))))
		v.BoundChecked = true
		v.Note("bound: recomputed from the constraints' multipliers")
	case x.Value != "":
		v.Refute("the result has the value %s and no feasible solution, expected none", x.Value)
	default:
		v.Note("no feasible solution is stated")
	}
	return v, nil
}

// treeLimit is the longest time for which a tree is visited again.
const treeLimit = 30 * time.Second

// visitAgain visits the tree that proved an answer, nil: that there is none, once more.
func visitAgain(v *solve.Verdict, m *problem.Model, x *Result, values problem.Values) error {
	if !x.Certificate.Tree || !x.Proven {
		v.NoteUnchecked()
		return nil
	}
	f, err := problem.NewForm(m)
	if err != nil {
		return err
	}
	limit, layout := &atomic.Int64{}, search.New(f)
	limit.Store(math.MaxInt64)
	if values != nil {
		limit.Store(f.Value(f.Bits(values)))
	}
	ctx, end := context.WithTimeout(context.Background(), treeLimit)
	defer end()
	better := false
	done := layout.Prove(ctx, layout.Multipliers(ctx, limit), limit, func(x []uint8) bool { return m.Feasible(f.Values(x)) }, func(value int64, _ []uint8) {
		better = true
		limit.Store(value)
	})
	switch {
	case better && values == nil:
		v.Refute("the result says that no solution is feasible, and one is")
	case values != nil && f.Rounded() || !done: // the tree's values are near the model's
		v.NoteUnchecked()
	case better:
		v.Refute("the result says that its solution is optimal, and a better one was found")
	case values == nil:
		v.Note("no solution is feasible: the tree was visited again")
	default:
		v.CheckBound(x.Value)
		v.BoundChecked = true
		v.Note("bound: the tree was visited again")
	}
	return nil
}
