package formats

import (
	"fmt"
	"math"

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

// parse reads a coefficient; decimals of a whole number below 2^53 are that number.
// Its error unwraps to ErrCoefficient.
func parse(word []byte) (value, error) {
	if v, ok := text.Int(word); ok {
		return value{whole: v}, nil
	}
	if v, ok := text.Float(word); ok {
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return value{whole: int64(v)}, nil
		}
		return value{real: v, float: true}, nil
	}
	return value{}, fmt.Errorf("%w: found %s, expected a number", problem.ErrCoefficient, formats.Quote(word))
}

// addTo adds a coefficient to entries.
func (v value) addTo(d *problem.Entries, i, j int) error {
	if v.float {
		return d.AddReal(i, j, v.real)
	}
	return d.Add(i, j, v.whole)
}

// parseInto adds a coefficient from text. Its error unwraps to ErrCoefficient.
func parseInto(d *problem.Entries, i, j int, word []byte) error {
	v, err := parse(word)
	if err != nil {
		return err
	}
	return v.addTo(d, i, j)
}
