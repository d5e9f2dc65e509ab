package formats

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"

	"coalesce/solvers/qubo/problem"
)

// parseInto adds a coefficient from text. Its error unwraps to ErrCoefficient.
func parseInto(d *problem.Entries, i, j int, word []byte) error {
	if v, ok := digits(word); ok {
		return d.Add(i, j, v)
	}
	if v, err := strconv.ParseInt(string(word), 10, 64); err == nil {
		return d.Add(i, j, v)
	}
	f, err := strconv.ParseFloat(string(word), 64)
	if bytes.ContainsAny(word, "xX_") || err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Errorf("%w: found %q, expected a number", problem.ErrCoefficient, brief(word))
	}
	return d.AddReal(i, j, f)
}

// digits reads short whole numbers without allocating.
func digits(word []byte) (int64, bool) {
	s, negative := word, false
	if len(s) > 0 && s[0] == '-' {
		s, negative = s[1:], true
	}
	if len(s) == 0 || len(s) > 18 {
		return 0, false
	}
	v := int64(0)
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int64(c-'0')
	}
	if negative {
		v = -v
	}
	return v, true
}

// brief shortens a word for an error.
func brief(word []byte) string {
	if len(word) > 40 {
		return string(word[:40]) + "…"
	}
	return string(word)
}

// number reads a whole number from low to high.
func number(word []byte, what string, low, high int64) (int, error) {
	n, err := strconv.ParseInt(string(word), 10, 64)
	if err != nil || n < low || n > high {
		if errors.Is(err, strconv.ErrRange) || err == nil {
			return 0, fmt.Errorf("found the %s %s, expected %d to %d", what, brief(word), low, high)
		}
		return 0, fmt.Errorf("found the %s %q, expected a whole number from %d to %d", what, brief(word), low, high)
	}
	return int(n), nil
}
