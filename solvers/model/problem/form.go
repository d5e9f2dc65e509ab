package problem

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
)

// A Form is a model in bits, which minimises integers: what searches and proofs see. Spins are bits too, 0 for -1. An integer from
// low to high is low and a weighted sum of bits, the weights 1, 2, 4 and so on and one that makes the sum high-low, so that all bits
// give a value between the bounds.
type Form struct {
	N        int // bits
	Offset   int64
	Linear   []int64 // of each bit
	Pairs    []Pair  // of each two bits once
	Products []Product
	Rows     []Row

	// Objective of the model, times -1 where it is maximised, is (value of the form) / Scale, give or take Error / Scale, which is 0 where Exact.
	Scale *big.Rat
	Error int64
	Exact bool

	codes []code // of the model's variables
	model *Model
}

// A Pair is a coefficient times the product of two bits.
type Pair struct {
	I, J        int32
	Coefficient int64
}

// A Product is a coefficient times the product of three or more bits, or of spins.
type Product struct {
	Bits        []int32
	Coefficient int64
	Spins       bool // of 2 times a bit minus 1 each
}

// A Row is Low <= sum of coefficients times bits <= High. Where coefficients were rounded, sums that are up to Slack beyond the bounds
// may keep the constraint and others do for sure.
type Row struct {
	Bits         []int32
	Coefficients []int64
	Low, High    int64
	Slack        int64
	Constraint   int // of the model
}

// Unbounded stands for a bound of a row that is none, with either sign.
const Unbounded = math.MaxInt64 / 2

// Rounded reports whether values or rows of bits may differ from the model's.
func (f *Form) Rounded() bool {
	return !f.Exact || slices.ContainsFunc(f.Rows, func(r Row) bool { return r.Slack > 0 })
}

// Cardinality reports whether all coefficients of a row are 1 and rounded nowhere.
func (r *Row) Cardinality() bool {
	return r.Slack == 0 && !slices.ContainsFunc(r.Coefficients, func(a int64) bool { return a != 1 })
}

// A code is a variable in bits: base plus weights times bits, the first of which is first.
type code struct {
	base    int64
	first   int32
	weights []int64
}

// most is the largest size of the variable.
func (c *code) most() float64 {
	sum := math.Abs(float64(c.base))
	for _, w := range c.weights {
		sum += float64(w)
	}
	return sum
}

// scaleLimit is the most that all coefficients of a form, or of a row, add up to.
const scaleLimit = 1 << 60

// NewForm is the form of a model, which passed its Check. Its error is that of too many bits.
func NewForm(m *Model) (*Form, error) {
	f := &Form{model: m, codes: make([]code, len(m.Variables))}
	for i := range m.Variables {
		v, c := &m.Variables[i], &f.codes[i]
		c.base, c.first = v.Low, int32(f.N)
		switch {
		case v.Low == v.High:
		case v.Kind == Spin:
			c.weights = []int64{2}
		default:
			left := v.High - v.Low
			for w := int64(1); left > 0; w *= 2 {
				c.weights = append(c.weights, min(w, left))
				left -= min(w, left)
			}
		}
		f.N += len(c.weights)
		if f.N > MaxVariables {
			return nil, fmt.Errorf("found variables that take more than %d bits, expected at most so many", MaxVariables)
		}
	}
	f.objective()
	for k := range m.Constraints {
		f.row(k)
	}
	return f, nil
}

// A scale is what decimals are multiplied with to be integers.
type scale struct {
	factor *big.Rat
	power  int32 // of ten, where it is exact
	exact  bool  // no decimal is rounded
}

// scaleOf is the scale of decimals, which with their weights add up to scaleLimit at most.
func scaleOf(decimals func(yield func(Decimal, float64))) scale {
	total, least := 0.0, int32(math.MaxInt32)
	decimals(func(d Decimal, weight float64) {
		if d.Digits != 0 {
			total += math.Abs(d.Float()) * weight
			least = min(least, d.Exponent)
		}
	})
	if least == math.MaxInt32 {
		return scale{big.NewRat(1, 1), 0, true}
	}
	factor := Decimal{1, -least}.Rat()
	if size, _ := factor.Float64(); total*size < scaleLimit {
		return scale{factor, -least, true}
	}
	_, exponent := math.Frexp(total)
	return scale{new(big.Rat).SetFloat64(math.Ldexp(1, 59-exponent)), 0, false}
}

// times is a decimal times the scale, rounded where that is needed.
func (s *scale) times(d Decimal) int64 {
	if s.exact {
		x := d.Digits
		for e := d.Exponent + s.power; e > 0; e-- {
			x *= 10
		}
		return x
	}
	product := new(big.Rat).Mul(d.Rat(), s.factor)
	product.Add(product, big.NewRat(1, 2))
	return rounded(product, false)
}

// objective makes the terms of bits.
func (f *Form) objective() {
	m := f.model
	by := scaleOf(func(yield func(Decimal, float64)) {
		for k := range m.Objective {
			yield(m.Objective[k].Coefficient, f.weight(&m.Objective[k]))
		}
	})
	f.Scale, f.Exact = by.factor, by.exact
	f.Linear = make([]int64, f.N)
	e := expansion{form: f, higher: map[string]int{}}
	slack := 0.0
	for k := range m.Objective {
		t := &m.Objective[k]
		c := by.times(t.Coefficient)
		if m.Sense == Maximize {
			c = -c
		}
		if !f.Exact {
			slack += f.weight(t)
		}
		e.add(t.Variables, c)
	}
	f.Error = int64(math.Ceil(slack))
	f.Pairs = mergePairs(f.Pairs)
	f.Products = slices.DeleteFunc(f.Products, func(p Product) bool { return p.Coefficient == 0 })
}

// weight is the most that a term of coefficient 1 is in size.
func (f *Form) weight(t *Term) float64 {
	product := 1.0
	for _, i := range t.Variables {
		product *= f.codes[i].most()
	}
	return product
}

// An expansion turns products of variables into products of bits.
type expansion struct {
	form   *Form
	higher map[string]int // products by their bits
	key    []byte
	bits   []int32
}

// add adds a coefficient times the product of variables.
func (e *expansion) add(variables []int32, c int64) {
	if len(variables) > 1 {
		list := slices.Sorted(slices.Values(variables))
		variables = list[:0:0]
		for k := 0; k < len(list); k++ { // powers of binary variables and of spins are few
			again := k > 0 && list[k] == list[k-1]
			switch e.form.model.Variables[list[k]].Kind {
			case Binary:
				if again {
					continue
				}
			case Spin:
				if again && len(variables) > 0 && variables[len(variables)-1] == list[k] {
					variables = variables[:len(variables)-1]
					continue
				}
			}
			variables = append(variables, list[k])
		}
	}
	spins := len(variables) > 2
	for _, i := range variables {
		spins = spins && e.form.model.Variables[i].Kind == Spin
	}
	if spins {
		e.spins(variables, c)
		return
	}
	e.bits = e.bits[:0]
	e.expand(variables, c)
}

// spins adds a product of spins as it is, but for those that are fixed.
func (e *expansion) spins(variables []int32, c int64) {
	var bits []int32
	for _, i := range variables {
		if code := &e.form.codes[i]; len(code.weights) == 0 {
			c *= code.base
		} else {
			bits = append(bits, code.first)
		}
	}
	if len(bits) > 2 {
		e.product(bits, c, true)
		return
	}
	free := slices.DeleteFunc(slices.Clone(variables), func(i int32) bool { return len(e.form.codes[i].weights) == 0 })
	e.bits = e.bits[:0]
	e.expand(free, c)
}

// expand adds a coefficient times the product of e.bits and of variables.
func (e *expansion) expand(variables []int32, c int64) {
	if c == 0 {
		return
	}
	if len(variables) == 0 {
		e.monomial(c)
		return
	}
	code := &e.form.codes[variables[0]]
	e.expand(variables[1:], c*code.base)
	for k, w := range code.weights {
		bit := code.first + int32(k)
		again := slices.Contains(e.bits, bit)
		if !again {
			e.bits = append(e.bits, bit)
		}
		e.expand(variables[1:], c*w)
		if !again {
			e.bits = e.bits[:len(e.bits)-1]
		}
	}
}

// monomial adds a coefficient times the product of e.bits.
func (e *expansion) monomial(c int64) {
	f := e.form
	switch len(e.bits) {
	case 0:
		f.Offset += c
	case 1:
		f.Linear[e.bits[0]] += c
	case 2:
		f.Pairs = append(f.Pairs, Pair{min(e.bits[0], e.bits[1]), max(e.bits[0], e.bits[1]), c})
	default:
		e.product(slices.Sorted(slices.Values(e.bits)), c, false)
	}
}

// product adds a product of three bits and more, or of spins.
func (e *expansion) product(bits []int32, c int64, spins bool) {
	e.key = append(e.key[:0], 0)
	if spins {
		e.key[0] = 1
	}
	for _, b := range bits {
		e.key = append(e.key, byte(b), byte(b>>8), byte(b>>16))
	}
	k, ok := e.higher[string(e.key)]
	if !ok {
		k = len(e.form.Products)
		e.higher[string(e.key)] = k
		e.form.Products = append(e.form.Products, Product{Bits: bits, Spins: spins})
	}
	e.form.Products[k].Coefficient += c
}

// mergePairs adds up the coefficients of equal pairs.
func mergePairs(list []Pair) []Pair {
	slices.SortFunc(list, func(a, b Pair) int { return cmp.Or(cmp.Compare(a.I, b.I), cmp.Compare(a.J, b.J)) })
	out := list[:0]
	for _, p := range list {
		if last := len(out) - 1; last >= 0 && out[last].I == p.I && out[last].J == p.J {
			out[last].Coefficient += p.Coefficient
		} else {
			out = append(out, p)
		}
	}
	return slices.DeleteFunc(out, func(p Pair) bool { return p.Coefficient == 0 })
}

// row makes the row of constraint k.
func (f *Form) row(k int) {
	c := &f.model.Constraints[k]
	by := scaleOf(func(yield func(Decimal, float64)) {
		for _, t := range c.Terms {
			yield(t.Coefficient, f.codes[t.Variable].most())
		}
	})
	sums := map[int32]int64{}
	base, slack, total := int64(0), 0.0, 0.0
	for _, t := range c.Terms {
		code := &f.codes[t.Variable]
		a := by.times(t.Coefficient)
		if !by.exact {
			slack += code.most()
		}
		base += a * code.base
		total += math.Abs(float64(a)) * code.most()
		for b, w := range code.weights {
			sums[code.first+int32(b)] += a * w
		}
	}
	row := Row{Low: -Unbounded, High: Unbounded, Slack: int64(math.Ceil(slack)), Constraint: k}
	bound := func(d *Decimal, up bool) int64 { // within what the sum can be
		x := new(big.Rat).Mul(d.Rat(), by.factor)
		if size, _ := x.Float64(); math.Abs(size) > 2*total+4 {
			return int64(math.Copysign(2*total+4, size))
		}
		return rounded(x, up)
	}
	if c.Low != nil {
		row.Low = bound(c.Low, true) - base + row.Slack
	}
	if c.High != nil {
		row.High = bound(c.High, false) - base - row.Slack
	}
	var common int64
	for bit, a := range sums {
		if a != 0 {
			row.Bits = append(row.Bits, bit)
			common = Divisor(common, a)
		}
	}
	slices.Sort(row.Bits)
	if row.Slack > 0 || common == 0 {
		common = 1
	}
	negative := !slices.ContainsFunc(row.Bits, func(b int32) bool { return sums[b] > 0 })
	if negative && len(row.Bits) > 0 {
		row.Low, row.High = -row.High, -row.Low
		for _, b := range row.Bits {
			sums[b] = -sums[b]
		}
	}
	for _, b := range row.Bits {
		row.Coefficients = append(row.Coefficients, sums[b]/common)
	}
	if common > 1 {
		if row.Low > -Unbounded {
			row.Low = -floorDivide(-row.Low, common)
		}
		if row.High < Unbounded {
			row.High = floorDivide(row.High, common)
		}
	}
	f.Rows = append(f.Rows, row)
}

// Divisor is the greatest common divisor.
func Divisor(a, b int64) int64 {
	for a, b = max(a, -a), max(b, -b); b != 0; {
		a, b = b, a%b
	}
	return a
}

func floorDivide(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Values are the values of the model's variables.
func (f *Form) Values(x []uint8) Values {
	out := make(Values, len(f.codes))
	for i := range f.codes {
		c := &f.codes[i]
		out[i] = c.base
		for k, w := range c.weights {
			out[i] += w * int64(x[int(c.first)+k])
		}
	}
	return out
}

// Bits are bits of values, which are within the bounds.
func (f *Form) Bits(v Values) []uint8 {
	x := make([]uint8, f.N)
	for i := range f.codes {
		c := &f.codes[i]
		left := v[i] - c.base
		for k := len(c.weights) - 1; k >= 0; k-- { // each weight is at most one more than those before it add up to, but for the last
			if left >= c.weights[k] {
				x[int(c.first)+k], left = 1, left-c.weights[k]
			}
		}
	}
	return x
}

// Value is the objective of bits.
func (f *Form) Value(x []uint8) int64 {
	sum := f.Offset
	for i, c := range f.Linear {
		sum += c * int64(x[i])
	}
	for _, p := range f.Pairs {
		sum += p.Coefficient * int64(x[p.I]&x[p.J])
	}
	for k := range f.Products {
		sum += f.Products[k].value(x)
	}
	return sum
}

func (p *Product) value(x []uint8) int64 {
	zeros := 0
	for _, b := range p.Bits {
		zeros += int(1 - x[b])
	}
	switch {
	case p.Spins:
		return p.Coefficient * int64(1-2*(zeros&1))
	case zeros > 0:
		return 0
	}
	return p.Coefficient
}

// ModelBound is the bound on the model's objective that a bound of the form's is.
func (f *Form) ModelBound(bound int64) *big.Rat {
	x := new(big.Rat).SetInt64(bound - f.Error)
	x.Quo(x, f.Scale)
	if f.model.Sense == Maximize {
		x.Neg(x)
	}
	return x
}
