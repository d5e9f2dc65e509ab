package formats

import (
	"fmt"
	"math"
	"strconv"

	"coalesce/solvers/formats"
	"coalesce/solvers/formats/text"
	"coalesce/solvers/qubo/problem"
)

// A value is a coefficient.
type value struct {
	whole int64
	real  float64
	float bool // real is the coefficient, else whole
}

// parseCoefficient reads a coefficient; decimals of a whole number below 2^53 are that number.
// Its error unwraps to ErrCoefficient.
func parseCoefficient(word []byte) (value, error) {
	if v, ok := text.ParseInt(word); ok {
		return value{whole: v}, nil
	}
	if v, ok := text.ParseFloat(word); ok {
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return value{whole: int64(v)}, nil
		}
		return value{real: v, float: true}, nil
	}
	return value{}, fmt.Errorf("%w: found %s, expected a number", problem.ErrCoefficient, formats.Quote(word))
}

// float64 is the coefficient as a float.
func (v value) float64() float64 {
	if v.float {
		return v.real
	}
	return float64(v.whole)
}

// String is the coefficient in decimals.
func (v value) String() string {
	if v.float {
		return shortestText(v.real)
	}
	return strconv.FormatInt(v.whole, 10)
}

// negative is the negative of a coefficient that text writes.
func (v value) negative() value {
	if !v.float && v.whole == math.MinInt64 {
		return value{real: -float64(v.whole), float: true}
	}
	return value{-v.whole, -v.real, v.float}
}

// timesTwo is twice a coefficient of an instance, which is less than 2^58.
func (v value) timesTwo() value { return value{2 * v.whole, 2 * v.real, v.float} }

// addTo adds a coefficient to entries.
func (v value) addTo(d *problem.Entries, i, j int) error {
	if v.float {
		return d.AddReal(i, j, v.real)
	}
	return d.Add(i, j, v.whole)
}

// parseInto adds a coefficient from text. Its error unwraps to ErrCoefficient.
func parseInto(d *problem.Entries, i, j int, word []byte) error {
	v, err := parseCoefficient(word)
	if err != nil {
		return err
	}
	return v.addTo(d, i, j)
}
