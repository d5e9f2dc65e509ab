package formats

import (
	"cmp"
	"fmt"
	"math"

	"coalesce/solvers/csg/problem"
	"coalesce/solvers/formats"
)

// A file is a listing by size if a table of all coalitions would have this many times its rows, of this many agents or more.
const (
	sparse       = 64
	sparseAgents = 12
)

// The most digits behind the point of values that are a listing by size.
const decimalDigits = 9

// isListing reports whether the rows are a listing of allowed coalitions. Of Either, they are if a table has no room for the agents,
// or if coalitions without a row are forbidden, or worth 0, and rows are few.
func (t *table) isListing(n int) bool {
	switch {
	case t.opts.Form == Full, t.opts.Form == Listed:
		return t.opts.Form == Listed
	case n > problem.MaxAgents:
		return true
	case !t.fits(n):
		return false
	case t.opts.Form == Few && n <= FewAgents:
		rest, err := parseValue(cmp.Or(t.opts.Missing, "-inf"))
		return err == nil && math.IsInf(rest.f, -1)
	case t.opts.Missing == "" || n < sparseAgents || uint64(len(t.entries)) > uint64(1)<<n/sparse:
		return false
	}
	rest, err := parseValue(t.opts.Missing)
	if err != nil || math.IsInf(rest.f, -1) {
		return err == nil
	}
	for i := range t.entries {
		if e := &t.entries[i]; e.mask&(e.mask-1) == 0 && e.wide == 0 && e.f < 0 {
			return false
		}
	}
	return rest.f == 0
}

// fits reports whether values are decimals of few digits, such that their sums, with what makes every agent be in a block, stay far within 63 bits.
func (t *table) fits(n int) bool {
	scale, most := 0, 0.0
	for i := range t.entries {
		e := &t.entries[i]
		if math.IsInf(e.f, -1) {
			continue
		}
		if e.digits == noDecimal || e.fewestDigits() > decimalDigits {
			return false
		}
		scale, most = max(scale, e.fewestDigits()), max(most, math.Abs(e.f))
	}
	rows, agents := float64(len(t.entries)+n), float64(n)
	return most*math.Pow10(scale)*rows*(2*agents*agents+2) < 1<<60
}

// listing makes the listing of all rows but those of forbidden coalitions; of inst it takes the agents.
func (t *table) listing(inst *problem.Instance) (*problem.Listing, error) {
	l := &problem.Listing{N: inst.N, Names: inst.Names}
	if t.opts.Names != nil {
		if len(t.opts.Names) != l.N {
			return nil, fmt.Errorf("%s: found %s, expected %d, as many as there are names", t.file, formats.Count(l.N, "agent"), len(t.opts.Names))
		}
		l.Names = t.opts.Names
	}
	for i := range t.entries {
		if e := &t.entries[i]; e.digits != noDecimal {
			l.Scale = max(l.Scale, e.fewestDigits())
		}
	}
	for i := range t.entries {
		e := &t.entries[i]
		members := t.members(e.coalition)
		if math.IsInf(e.f, -1) && len(members) > 0 {
			continue
		}
		value, ok := e.units(l.Scale)
		switch {
		case !ok:
			return nil, t.errorf(e.line, "%w: found the value %v, expected a decimal of less than 2^63 units of 10^-%d", problem.ErrValue, e.f, l.Scale)
		case len(members) == 0 && value != 0:
			return nil, t.errorf(e.line, "%w: found the value %v of the empty coalition, expected 0", problem.ErrValue, e.f)
		case len(members) == 0:
			continue
		}
		for k := range members {
			members[k]++
		}
		l.Coalitions = append(l.Coalitions, problem.Listed{Agents: members, Value: value, Line: e.line})
	}
	if err := t.rest(l); err != nil {
		return nil, err
	}
	if err := l.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", t.file, err)
	}
	return l, nil
}

// rest adds what coalitions without a row are worth.
func (t *table) rest(l *problem.Listing) error {
	rows := 0
	for i := range t.entries {
		if t.entries[i].mask != 0 || t.entries[i].wide != 0 {
			rows++
		}
	}
	if t.opts.Missing == "" {
		if l.N >= 63 || rows < 1<<l.N-1 {
			return fmt.Errorf("%s: found %d of the 2^%d coalitions of %s, expected all; --missing=-inf forbids the others, and by --missing 0 they are worth 0", t.file, rows, l.N, formats.Count(l.N, "agent"))
		}
		return nil
	}
	e, err := parseValue(t.opts.Missing)
	switch {
	case err != nil:
		return fmt.Errorf("value of missing coalitions: %w", err)
	case math.IsInf(e.f, -1):
		return nil
	case e.f != 0:
		return fmt.Errorf("%s: found --missing %s, expected -inf or 0 where coalitions are listed", t.file, t.opts.Missing)
	}
	return l.AddZeros()
}

// fewestDigits are the digits behind the point that the value needs.
func (e *entry) fewestDigits() int {
	if e.digits == 1 && e.i%10 == 0 {
		return 0
	}
	return int(e.digits)
}

// units is the value in units of 10^-scale.
func (e *entry) units(scale int) (int64, bool) {
	if e.digits == noDecimal {
		return 0, false
	}
	x, digits := e.i, int(e.digits)
	if digits > scale { // a whole number with a digit behind the point
		x, digits = x/10, digits-1
	}
	for ; digits < scale; digits++ {
		if x > math.MaxInt64/10 || x < math.MinInt64/10 {
			return 0, false
		}
		x *= 10
	}
	return x, true
}
