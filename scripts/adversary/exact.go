package main

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
)

// A number has the text of a number in a file, and the exact values of the text. The text of a float can
// be read as the nearest float64 or as an exact decimal; both values are kept where they differ.
type number struct {
	text   string
	float  float64  // the nearest
	exact  *big.Rat // of float
	digits *big.Rat // of the text
}

func integer(v int64) number {
	exact := new(big.Rat).SetInt64(v)
	return number{strconv.FormatInt(v, 10), float64(v), exact, exact}
}

func float(v float64) number {
	n := number{text: strconv.FormatFloat(v, 'g', -1, 64), float: v}
	n.exact, n.digits = new(big.Rat), new(big.Rat)
	n.exact.SetFloat64(v)
	n.digits.SetString(n.text)
	return n
}

// A family of numbers is hard on arithmetic in one way.
type family struct {
	name  string
	whole bool
	draw  func(r *rand.Rand) float64
	drawn func(r *rand.Rand) int64 // of integers
}

// families are what instances draw from.
var families = []family{
	{name: "small", whole: true, drawn: func(r *rand.Rand) int64 { return r.Int64N(19) - 9 }},
	{name: "ties", whole: true, drawn: func(r *rand.Rand) int64 { return r.Int64N(2) }},
	{name: "int32", whole: true, drawn: func(r *rand.Rand) int64 { return int64(int32(r.Uint32())) }},
	{name: "2^53", whole: true, drawn: func(r *rand.Rand) int64 { return 1<<53 - 3 + r.Int64N(7) }},
	{name: "2^56", whole: true, drawn: func(r *rand.Rand) int64 { return r.Int64N(1<<57) - 1<<56 }},
	{name: "2^63", whole: true, drawn: func(r *rand.Rand) int64 {
		return []int64{math.MaxInt64 - 1, math.MinInt64 + 1, r.Int64() - 1<<62, 1}[r.IntN(4)]
	}},
	{name: "uniform", draw: func(r *rand.Rand) float64 { return r.Float64()*2 - 1 }},
	{name: "cents", draw: func(r *rand.Rand) float64 { return float64(r.IntN(2001)-1000) / 100 }},
	{name: "quarters", draw: func(r *rand.Rand) float64 { return float64(r.IntN(41)-20) / 4 }},
	{name: "close", draw: func(r *rand.Rand) float64 { return 1 + float64(r.IntN(5))*0x1p-52 }},
	{name: "spread", draw: func(r *rand.Rand) float64 { return math.Ldexp(r.Float64()*2-1, r.IntN(120)-60) }},
	{name: "any", draw: func(r *rand.Rand) float64 { return finite(r) }},
	{name: "denormal", draw: func(r *rand.Rand) float64 { return float64(r.IntN(9)-4) * 5e-324 }},
	{name: "denormal beside", draw: func(r *rand.Rand) float64 {
		return []float64{float64(r.IntN(9)-4) * 5e-324, r.Float64() - 0.5, 0}[r.IntN(3)]
	}},
	{name: "1e308", draw: func(r *rand.Rand) float64 { return []float64{1e308, -1e308, 1.7e308, 1, -1, 1e290}[r.IntN(6)] }},
	{name: "1e305", draw: func(r *rand.Rand) float64 { return (r.Float64() - 0.5) * 1e305 }},
	{name: "far apart", draw: func(r *rand.Rand) float64 { // a unit of the large ones makes the small ones 0
		return []float64{0x1p770, -0x1p770, 0x1p-400, math.Ldexp(r.Float64()-0.5, r.IntN(1900)-1000), 1, 0}[r.IntN(6)]
	}},
	{name: "constants", draw: func(r *rand.Rand) float64 { // what people write for forbidden pairs and penalties
		return []float64{r.Float64(), r.Float64(), 1e10, 1e15, 1e18, 1e20, 1e300, math.MaxFloat32}[r.IntN(8)]
	}},
	{name: "one constant", draw: func(r *rand.Rand) float64 { return []float64{r.Float64() - 0.5, 1e15}[r.IntN(2)] }},
	{name: "lognormal", draw: func(r *rand.Rand) float64 { return math.Exp(20 * r.NormFloat64()) }},
	{name: "Pareto", draw: func(r *rand.Rand) float64 { return math.Pow(r.Float64(), -10) }},
	{name: "log-uniform", draw: func(r *rand.Rand) float64 { return math.Pow(10, 600*r.Float64()-300) }},
	{name: "signed log-uniform", draw: func(r *rand.Rand) float64 {
		return math.Copysign(math.Pow(10, 600*r.Float64()-300), r.Float64()-0.5)
	}},
	{name: "signed zeros", draw: func(r *rand.Rand) float64 { return []float64{0, math.Copysign(0, -1), 1, -1}[r.IntN(4)] }},
}

// finite is any float64 that is a number.
func finite(r *rand.Rand) float64 {
	for {
		if v := math.Float64frombits(r.Uint64()); v-v == 0 {
			return v
		}
	}
}

// numbers draws so many of one family.
func (f *family) numbers(r *rand.Rand, count int) []number {
	list := make([]number, count)
	for i := range list {
		if f.whole {
			list[i] = integer(f.drawn(r))
		} else {
			list[i] = float(f.draw(r))
		}
	}
	return list
}

// units are rationals as whole numbers of one unit, 1/scale: sums of those are
// quick.
func units(list []*big.Rat) (whole []*big.Int, scale *big.Int) {
	scale = big.NewInt(1)
	for _, v := range list {
		if v != nil {
			common := new(big.Int).GCD(nil, nil, scale, v.Denom())
			scale = new(big.Int).Mul(scale, new(big.Int).Quo(v.Denom(), common))
		}
	}
	whole = make([]*big.Int, len(list))
	for i, v := range list {
		if v != nil {
			whole[i] = new(big.Int).Mul(v.Num(), new(big.Int).Quo(scale, v.Denom()))
		}
	}
	return whole, scale
}
