package solve

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// SetBound sets the bound, a value that no solution beats, and the gap, which follows
// from the bound and from Value, set before: the least float64 whose decimals are at
// least |Bound - Value|. Without a finite value and a finite bound neither is set.
func (r *Report) SetBound(bound Number) {
	if r.Value == bound && bound.isFinite() { // in no time
		r.Bound, r.Gap = bound, new(float64)
		return
	}
	apart, err := distance(r.Value, bound)
	if err != nil {
		return
	}
	gap, _ := apart.Float64()
	for {
		if decimals, ok := NumberOf(gap).Rat(); !ok || decimals.Cmp(apart) >= 0 {
			break
		}
		gap = math.Nextafter(gap, math.Inf(1))
	}
	if !math.IsInf(gap, 0) {
		r.Bound, r.Gap = bound, &gap
	}
}

// SetProvenBound is SetBound for a solution whose certificate proves bound. Proven becomes true
// where CheckClaims finds no fault: it stays false without a finite value, bound and gap.
func (r *Report) SetProvenBound(bound Number) {
	r.SetBound(bound)
	r.Proven = r.Bound != "" && r.CheckClaims() == nil
}

// ProveInfeasible sets the report of an instance whose certificate proves that no solution is feasible.
func (r *Report) ProveInfeasible() {
	r.Value, r.Bound, r.Gap, r.Proven = "", "", nil, true
}

// CheckClaims returns the fault in the claims of a report, whoever wrote it; nil: none. Proven
// needs a finite value and a bound; proven without both claims that no solution is
// feasible. A bound needs a finite value and a gap, and a gap a bound. The gap is
// finite and at least |Bound - Value|, computed without rounding from the decimals
// that the report prints, and no larger than the least float64 which is.
func (r *Report) CheckClaims() error {
	switch {
	case r.Proven && (r.Value == "") != (r.Bound == ""):
		return fmt.Errorf("proven with the value %s and the bound %s: expected both, or neither where no solution is feasible", cmp.Or(r.Value, "null"), cmp.Or(r.Bound, "null"))
	case (r.Bound == "") != (r.Gap == nil):
		return fmt.Errorf("the bound is %s and the gap %s: expected both or neither", cmp.Or(r.Bound, "null"), r.gapText())
	case r.Gap == nil:
		return nil
	case math.IsNaN(*r.Gap) || math.IsInf(*r.Gap, 0) || *r.Gap < 0:
		return fmt.Errorf("the gap is %v: expected a finite number of at least 0", *r.Gap)
	}
	expected := Report{Value: r.Value}
	expected.SetBound(r.Bound)
	if expected.Gap == nil {
		_, err := distance(r.Value, r.Bound)
		return errors.Join(err, fmt.Errorf("the bound %s and the value %s are not a finite number apart", cmp.Or(r.Bound, "null"), cmp.Or(r.Value, "null")))
	}
	if *r.Gap != *expected.Gap {
		return fmt.Errorf("the gap is %s: expected %s, as the bound is %s and the value %s", r.gapText(), expected.gapText(), r.Bound, r.Value)
	}
	return nil
}

func (r *Report) gapText() string {
	if r.Gap == nil {
		return "null"
	}
	return strconv.FormatFloat(*r.Gap, 'g', -1, 64)
}

// distance is |a - b|, of finite decimals.
func distance(a, b Number) (*big.Rat, error) {
	x, ok := a.Rat()
	y, too := b.Rat()
	if !ok || !too {
		return nil, fmt.Errorf("found the value %s and the bound %s, expected finite numbers", cmp.Or(a, "null"), cmp.Or(b, "null"))
	}
	x.Sub(x, y)
	return x.Abs(x), nil
}

// Limits of a Number that Rat reads: a float64 has exponents of 3 digits, and an
// exact sum of them some 1,400 digits.
const (
	maxDigits   = 1 << 12
	maxExponent = 1 << 11
)

// isDecimal reports whether n has the characters of decimals alone, and not too many.
func (n Number) isDecimal() bool {
	return len(n) > 0 && len(n) <= maxDigits && strings.Trim(string(n), "+-.0123456789eE") == ""
}

// isFinite reports whether n is a number in the range of float64; false may be wrong.
func (n Number) isFinite() bool {
	_, err := strconv.ParseFloat(string(n), 64)
	return err == nil && n.isDecimal()
}

// Rat is the number that the decimals say, without rounding; false for no value, for
// infinities, and for decimals longer than a sum of float64 can be.
func (n Number) Rat() (*big.Rat, bool) {
	text := string(n)
	if !n.isDecimal() {
		return nil, false
	}
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		if e, err := strconv.Atoi(text[at+1:]); err != nil || e > maxExponent || e < -maxExponent {
			return nil, false
		}
	}
	return new(big.Rat).SetString(text)
}
