package solve

// An Incumbent is how a solve stands while it runs: the best solution so far, and
// a bound on better ones.
type Incumbent struct {
	Seconds float64  // since the start of the solve
	Value   Number   // of the best solution so far; empty: there is none
	Bound   Number   // no solution is better; empty: nothing is known
	Gap     *float64 // between Value and Bound, as in a Report; nil: not known
	Share   float64  // of the work, done so far, 0 to 1; 0 where the whole is not known
	Work    int64    // done so far, in the problem's unit: flips of binary quadratic programs
}

// NewIncumbent computes the gap as Report.SetBound does: without a finite value and a
// finite bound, the bound and the gap stay empty.
func NewIncumbent(seconds float64, value, bound Number, work int64) Incumbent {
	r := Report{Value: value}
	r.SetBound(bound)
	return Incumbent{Seconds: seconds, Value: value, Bound: r.Bound, Gap: r.Gap, Work: work}
}

// String says value, bound and gap, or that there is none.
func (i Incumbent) String() string {
	r := Report{Gap: i.Gap}
	switch {
	case i.Value == "" && i.Bound == "":
		return "no solution yet"
	case i.Value == "":
		return "no solution yet, the bound is " + i.Bound.String()
	case i.Gap == nil:
		return i.Value.String() + ", no bound is known"
	}
	return i.Value.String() + ", the bound is " + i.Bound.String() + ", the gap " + r.gapText()
}
