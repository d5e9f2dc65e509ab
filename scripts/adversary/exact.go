package main

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
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

func integerNumber(v int64) number { return wholeNumber(big.NewInt(v)) }

func wholeNumber(v *big.Int) number {
	exact := new(big.Rat).SetInt(v)
	near, _ := exact.Float64()
	return number{v.String(), near, exact, exact}
}

func floatNumber(v float64) number {
	n := number{text: strconv.FormatFloat(v, 'g', -1, 64), float: v}
	n.exact, n.digits = new(big.Rat), new(big.Rat)
	n.exact.SetFloat64(v)
	n.digits.SetString(n.text)
	return n
}

// toFloat32 is the float32 nearest to a number, as a number.
func (v number) toFloat32() number {
	near := float64(float32(v.float))
	if math.IsInf(near, 0) {
		near = math.Copysign(math.MaxFloat32, near)
	}
	return floatNumber(near)
}

// A family of numbers is hard on arithmetic in one way.
type family struct {
	name  string
	whole bool
	draw  func(r *rand.Rand) number
}

func wholes(name string, draw func(r *rand.Rand) int64) family {
	return family{name, true, func(r *rand.Rand) number { return integerNumber(draw(r)) }}
}

func floats(name string, draw func(r *rand.Rand) float64) family {
	return family{name, false, func(r *rand.Rand) number { return floatNumber(draw(r)) }}
}

// among is a family of some floats.
func among(name string, list ...float64) family {
	return floats(name, func(r *rand.Rand) float64 { return list[r.IntN(len(list))] })
}

// forbidding is a family of small costs, and one constant for what people want to forbid.
func forbidding(name string, constant float64) family {
	return floats(name, func(r *rand.Rand) float64 { return []float64{r.Float64() - 0.5, constant}[r.IntN(2)] })
}

// families are what instances draw from.
var families = []family{
	wholes("small", func(r *rand.Rand) int64 { return r.Int64N(19) - 9 }),
	wholes("ties", func(r *rand.Rand) int64 { return r.Int64N(2) }),
	wholes("int32", func(r *rand.Rand) int64 { return int64(int32(r.Uint32())) }),
	wholes("2^53", func(r *rand.Rand) int64 { return 1<<53 - 3 + r.Int64N(7) }),
	wholes("2^56", func(r *rand.Rand) int64 { return r.Int64N(1<<57) - 1<<56 }),
	// The largest of a type would forbid pairs.
	wholes("int64's ends", func(r *rand.Rand) int64 {
		return []int64{math.MaxInt64 - 1, math.MaxInt64 - 2, math.MinInt64 + 1, math.MinInt64 + 2, r.Int64() - 1<<62, 1}[r.IntN(6)]
	}),
	{"uint64's ends", true, func(r *rand.Rand) number {
		return wholeNumber(new(big.Int).SetUint64([]uint64{math.MaxUint64 - 1, math.MaxUint64 - 2, 1 << 63, 1<<63 + 1, r.Uint64(), 1, 0}[r.IntN(7)]))
	}},
	{"decimals", false, func(r *rand.Rand) number { // up to 19 digits, of which up to three follow the point
		v := float64(r.Int64N(int64(math.Pow10(1+r.IntN(16))))) * float64(1-2*r.IntN(8)/7)
		return floatNumber(v / math.Pow10(r.IntN(4)))
	}},
	floats("uniform", func(r *rand.Rand) float64 { return r.Float64()*2 - 1 }),
	floats("cents", func(r *rand.Rand) float64 { return float64(r.IntN(2001)-1000) / 100 }),
	floats("quarters", func(r *rand.Rand) float64 { return float64(r.IntN(41)-20) / 4 }),
	floats("close", func(r *rand.Rand) float64 { return 1 + float64(r.IntN(5))*0x1p-52 }),
	floats("spread", func(r *rand.Rand) float64 { return math.Ldexp(r.Float64()*2-1, r.IntN(120)-60) }),
	floats("any", finite),
	floats("subnormal", func(r *rand.Rand) float64 { return float64(r.IntN(9)-4) * 5e-324 }),
	floats("subnormal among others", func(r *rand.Rand) float64 {
		return []float64{float64(r.IntN(9)-4) * 5e-324, r.Float64() - 0.5, 0}[r.IntN(3)]
	}),
	among("1e308", 1e308, -1e308, 1.7e308, 1, -1, 1e290),
	among("float64's ends", math.MaxFloat64, -math.MaxFloat64, math.Nextafter(math.MaxFloat64, 0), 5e-324, -5e-324, 0x1p-1022, 1, 0),
	among("float32's ends", math.MaxFloat32, -math.MaxFloat32, math.MaxFloat32-0x1p104, 0x1p-149, -0x1p-149, 0x1p-126, 1, 0),
	floats("1e305", func(r *rand.Rand) float64 { return (r.Float64() - 0.5) * 1e305 }),
	floats("far apart", func(r *rand.Rand) float64 { // a unit of the large ones makes the small ones 0
		return []float64{0x1p770, -0x1p770, 0x1p-400, math.Ldexp(r.Float64()-0.5, r.IntN(1900)-1000), 1, 0}[r.IntN(6)]
	}),
	floats("constants", func(r *rand.Rand) float64 { // what people write for forbidden pairs and penalties
		return []float64{r.Float64(), r.Float64(), 1e10, 1e15, 1e18, 1e20, 1e300, math.MaxFloat32}[r.IntN(8)]
	}),
	forbidding("1e6 forbids", 1e6),
	forbidding("1e15 forbids", 1e15),
	forbidding("1e18 forbids", 1e18),
	forbidding("1e308 forbids", 1e308),
	floats("lognormal 5", func(r *rand.Rand) float64 { return math.Exp(5 * r.NormFloat64()) }),
	floats("lognormal 20", func(r *rand.Rand) float64 { return math.Exp(20 * r.NormFloat64()) }),
	floats("Pareto 0.5", func(r *rand.Rand) float64 { return math.Pow(1-r.Float64(), -2) }),
	floats("Pareto 0.1", func(r *rand.Rand) float64 { return math.Pow(1-r.Float64(), -10) }),
	floats("log-uniform", func(r *rand.Rand) float64 { return math.Pow(10, 600*r.Float64()-300) }),
	floats("signed log-uniform", func(r *rand.Rand) float64 {
		return math.Copysign(math.Pow(10, 600*r.Float64()-300), r.Float64()-0.5)
	}),
	among("signed zeros", 0, math.Copysign(0, -1), 1, -1),
}

// finite is any float64 that is a number.
func finite(r *rand.Rand) float64 {
	for {
		if v := math.Float64frombits(r.Uint64()); v-v == 0 {
			return v
		}
	}
}

// roundToFloats are numbers that a program reads as floats, where integers exceed int64.
func roundToFloats(list []number) []number {
	if !slices.ContainsFunc(list, func(v number) bool { return v.exact != nil && v.exact.IsInt() && !v.exact.Num().IsInt64() }) {
		return list
	}
	list = slices.Clone(list)
	for i, v := range list {
		list[i].exact = new(big.Rat).SetFloat64(v.float)
	}
	return list
}

// drawNumbers draws so many of one family.
func (f *family) drawNumbers(r *rand.Rand, count int) []number {
	list := make([]number, count)
	for i := range list {
		list[i] = f.draw(r)
	}
	return list
}

// commonUnits are rationals as whole numbers of one unit, 1/scale: sums of those are
// quick.
func commonUnits(list []*big.Rat) (whole []*big.Int, scale *big.Int) {
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
