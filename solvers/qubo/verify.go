package qubo

import (
	"encoding/json"
	"fmt"
	"slices"

	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

// Verify holds a result, the JSON object that MarshalJSON writes, against an instance: every
// variable has a value, each fixed variable its own, and every solution has the value stated in the
// result. A semidefinite bound is checked, and one by frustration where the result has its proof. Variables that the result
// says are fixed count as the instance's. Errors are those of an object that cannot be read.
func Verify(inst *problem.Instance, result []byte) (*solve.Verdict, error) {
	type solution struct {
		Value solve.Number `json:"value"`
		Bits  string       `json:"solution"`
	}
	var x struct {
		solve.Report
		Form        problem.Form  `json:"form"`
		Sense       problem.Sense `json:"sense"`
		Solution    string        `json:"solution"`
		Names       []string      `json:"names"`
		Fixed       map[int]int   `json:"fixed"`
		BoundKind   BoundKind     `json:"bound_kind"`
		Certificate statedProof   `json:"certificate"`
		Solutions   []solution    `json:"solutions"`
	}
	if err := json.Unmarshal(result, &x); err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	v, err := solve.NewVerdict("qubo", &x.Report)
	if err != nil {
		return nil, err
	}
	if err := inst.Check(); err != nil {
		return nil, fmt.Errorf("a malformed instance: %w", err)
	}
	if !v.SameSize(map[string]int{"variables": inst.N, "pairs": int(inst.Pairs())}) {
		return v, nil
	}
	p, err := inst.Normal()
	if err != nil {
		return nil, err
	}
	form := solve.CheckEqual(v, "form", x.Form, inst.Form, " (--form says how to read it)")
	sense := solve.CheckEqual(v, "sense", x.Sense, inst.Sense, " (--sense says how to read it)")
	if !form || !sense {
		return v, nil
	}
	if x.Names != nil && !slices.Equal(x.Names, inst.Names) {
		v.Refute("the result's names of variables are not the instance's")
	}
	if x.Certificate.Exact != p.Exact {
		v.Refute("the result says %t of whether the search's coefficients were exact, the instance's are: %t", x.Certificate.Exact, p.Exact)
	}
	if x.Proven && x.Gap != nil && (inst.Int != nil && *x.Gap != 0 || !isGapClosed(&x.Report)) {
		v.Refute("proven optimal, with the gap %v: expected none, or of a real value at most 2^-50 of it", *x.Gap)
	}
	x.Solutions = append([]solution{{x.Value, x.Solution}}, x.Solutions...)
	for k, s := range x.Solutions {
		bits, err := checked(inst, s.Bits, x.Fixed)
		if err != nil {
			v.Refute("solution %d: %w", k, err)
			return v, nil
		}
		value := solve.Number(inst.Amount(bits.Words()).String())
		if k == 0 {
			v.Note("feasible: %d variables have a value, %d of them the one that they are fixed to", inst.N, len(x.Fixed))
			v.CheckValue(value, inst.Sense == problem.Maximize)
		} else if !equal(s.Value, value) {
			v.Refute("the stated value of solution %d of several is %s, recomputed from the instance it is %s", k, s.Value, value)
		}
	}
	checkBound(v, inst, p, x.Fixed, x.BoundKind, x.Certificate)
	return v, nil
}

// equal reports whether two numbers are the same, however they are written.
func equal(a, b solve.Number) bool {
	x, ok := a.Rat()
	y, too := b.Rat()
	return a == b || ok && too && x.Cmp(y) == 0
}

// checked are the values of an instance's variables, those that are fixed among them.
func checked(inst *problem.Instance, text string, fixed map[int]int) (problem.Bits, error) {
	bits, ok := problem.ParseBits(text)
	if !ok || bits.Len() != inst.N {
		return bits, fmt.Errorf("found %.20q, expected %d digits, 0 or 1", text, inst.N)
	}
	for i, value := range fixed {
		if i < 0 || i >= inst.N || bits.At(i) != value {
			return bits, fmt.Errorf("variable %d is fixed to %d, expected one of %d with this value", i, value, inst.N)
		}
	}
	for i, value := range inst.Fixed {
		if stated, ok := fixed[i]; value >= 0 && (!ok || stated != int(value)) {
			return bits, fmt.Errorf("variable %d is fixed to %d, and the result does not say so", i, value)
		}
	}
	return bits, nil
}
