package solve

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
)

// A Verdict is the check of a written result against its instance. The
// Verify of each problem makes one.
type Verdict struct {
	Problem      string   `json:"problem"`
	Feasible     bool     `json:"feasible"`      // the solution is one of the instance's
	Value        Number   `json:"value"`         // of the solution, recomputed; empty where it is not feasible
	Stated       Number   `json:"stated_value"`  // as the result says
	BoundChecked bool     `json:"bound_checked"` // a proof of the bound, or that no solution is feasible, was held against the instance
	Proven       bool     `json:"proven"`        // the result says so, and no check refutes anything that it says
	Messages     []string `json:"messages"`      // what was checked and holds, and what could not be checked
	Failures     []string `json:"failures"`      // checks that failed

	stated *Report
}

// NewVerdict begins with the claims of the stated report, which need no instance. Its
// error is that of a result of another problem.
func NewVerdict(problem string, stated *Report) (*Verdict, error) {
	if stated.Problem != problem {
		return nil, fmt.Errorf("found a result of the problem %.20q, expected %q", stated.Problem, problem)
	}
	v := &Verdict{Problem: problem, Stated: stated.Value, Proven: stated.Proven, Messages: []string{}, Failures: []string{}, stated: stated}
	if err := stated.CheckClaims(); err != nil {
		v.Refute("%w", err)
	}
	return v, nil
}

// Note adds a sentence to the messages.
func (v *Verdict) Note(format string, args ...any) {
	v.Messages = append(v.Messages, fmt.Sprintf(format, args...))
}

// Refute adds a sentence to the failures: nothing is proven then.
func (v *Verdict) Refute(format string, args ...any) {
	v.Failures, v.Proven = append(v.Failures, fmt.Errorf(format, args...).Error()), false
}

// CheckEqual refutes a part of the result that differs from the instance's, and says
// whether it is the same. hint says how it may have come about; empty: nothing.
func CheckEqual[T comparable](v *Verdict, what string, stated, found T, hint string) bool {
	if stated != found {
		v.Refute("the result's %s is %v, the instance's %v%s", what, stated, found, hint)
	}
	return stated == found
}

// SameSize refutes another size than the instance's, and says whether it is the same.
func (v *Verdict) SameSize(found map[string]int) bool {
	same := maps.Equal(v.stated.Size, found)
	if !same {
		v.Refute("the result's size is %s, the instance's %s", text(v.stated.Size), text(found))
	}
	return same
}

func text(size map[string]int) string {
	s, _ := json.Marshal(size) // maps of integers cannot fail
	return string(s)
}

// CheckValue holds the value of a feasible solution, computed from the instance,
// against the stated value, and that against the bound, which no solution beats.
func (v *Verdict) CheckValue(value Number, maximize bool) {
	v.Feasible, v.Value = true, value
	x, ok := value.Rat()
	stated, too := v.Stated.Rat()
	switch {
	case !ok || !too || x.Cmp(stated) != 0:
		v.Refute("the stated value is %s, recomputed from the instance it is %s", cmp.Or(v.Stated, "null"), cmp.Or(value, "null"))
		return
	case v.stated.Bound == "":
	default:
		bound, ok := v.stated.Bound.Rat()
		if beats := map[bool]int{true: 1, false: -1}[maximize]; !ok || stated.Cmp(bound) == beats {
			v.Refute("the value %s is better than the bound %s, which none is to be", v.Stated, v.stated.Bound)
		}
	}
	v.Note("value: %s, as recomputed from the instance", value)
}

// CheckBound holds the bound that a certificate gives against the stated bound.
func (v *Verdict) CheckBound(bound Number) {
	if v.stated.Bound == "" {
		return
	}
	limit, ok := bound.Rat()
	stated, too := v.stated.Bound.Rat()
	if !ok || !too || stated.Cmp(limit) != 0 {
		v.Refute("the stated bound is %s, the certificate gives %s", v.stated.Bound, cmp.Or(bound, "null"))
	}
}

// NoteUnchecked notes the part of the bound that could not be checked.
func (v *Verdict) NoteUnchecked() {
	switch {
	case v.stated.Bound != "":
		v.Note("bound not checked: the result carries no proof")
	case v.stated.Proven && v.Stated == "":
		v.Note("that no solution is feasible was not checked: the result carries no proof")
	default:
		v.Note("no bound is stated")
	}
}

// Err is nil where every check holds, else the failures.
func (v *Verdict) Err() error {
	errs := make([]error, len(v.Failures))
	for k, text := range v.Failures {
		errs[k] = errors.New(text)
	}
	return errors.Join(errs...)
}
