package problem

import "math/big"

// A ScaleForTest shows a scale.
type ScaleForTest struct {
	Ten, Over, Under float64
	Bands            int
	Value            func(int64) *big.Float
	Units            func(float64) *big.Float
}

// Scaled is scaled, for tests.
func Scaled(t *Terms[float64], worse float64) (*Terms[int64], ScaleForTest) {
	u, s := scaleToIntegers(t, worse)
	return u, ScaleForTest{s.ten, s.over, s.under, len(s.bands), s.value, func(x float64) *big.Float { return s.units(newExact().SetFloat64(x)) }}
}

// Sum is the value of an objective, without rounding.
func (p *Normal) Sum(objective int64) *big.Float { return p.exactValue(objective, 0) }
