package problem

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"sync"

	"coalesce/solvers/cores"
	"coalesce/solvers/solve"
)

// An Amount is a value: every digit of an integer, or a float64.
//
// JSON: float64, string
type Amount struct {
	whole bool
	i     int64
	f     float64
}

// Float is the amount, rounded where it is an integer beyond 2^53.
func (a Amount) Float() float64 {
	if a.whole {
		return float64(a.i)
	}
	return a.f
}

// String is the amount in digits.
func (a Amount) String() string {
	if a.whole {
		return strconv.FormatInt(a.i, 10)
	}
	switch {
	case math.IsInf(a.f, 1):
		return "inf"
	case math.IsInf(a.f, -1):
		return "-inf"
	}
	return strconv.FormatFloat(a.f, 'g', -1, 64)
}

// MarshalJSON writes a number, or inf or -inf in a string for values beyond all float64.
func (a Amount) MarshalJSON() ([]byte, error) {
	switch {
	case a.whole:
		return strconv.AppendInt(nil, a.i, 10), nil
	case math.IsInf(a.f, 0):
		return json.Marshal(a.String())
	}
	return json.Marshal(a.f)
}

// Bits are the values of n variables.
//
// JSON: string
type Bits struct {
	words []uint64
	n     int
}

// NewBits are the values of n variables, bit i%64 of word i/64; words is not
// copied.
func NewBits(words []uint64, n int) Bits { return Bits{words, n} }

// At is variable i.
func (b Bits) At(i int) int { return int(Bit(b.words, i)) }

// StartOf implements solve.Start.
func (Bits) StartOf() string { return "qubo" }

// CheckFor returns an error, which wraps solve.ErrInput, unless b are the values of n variables.
func (b Bits) CheckFor(n int) error {
	switch {
	case b.n != n || len(b.words) < Words(n):
		return solve.InvalidInput("Start", "found %d variables, expected %d", min(b.n, 64*len(b.words)), n)
	case n%64 != 0 && b.words[n/64]>>(n%64) != 0:
		return solve.InvalidInput("Start", "found bits that are 1 beyond those of %d variables, expected 0", n)
	}
	return nil
}

// Len is the number of variables.
func (b Bits) Len() int { return b.n }

// Words are the bits, bit i%64 of word i/64 for variable i; not a copy.
func (b Bits) Words() []uint64 { return b.words }

// String is a digit a variable.
func (b Bits) String() string {
	text := make([]byte, b.n)
	for i := range text {
		text[i] = '0' + byte(Bit(b.words, i))
	}
	return string(text)
}

// MarshalJSON writes the string.
func (b Bits) MarshalJSON() ([]byte, error) { return json.Marshal(b.String()) }

// ParseBits reads a string of 0 and 1, or of + and - for spins.
func ParseBits(text string) (Bits, bool) {
	b := Bits{make([]uint64, Words(len(text))), len(text)}
	for i := range len(text) {
		switch text[i] {
		case '1', '+':
			b.words[i>>6] |= 1 << (i & 63)
		case '0', '-':
		default:
			return Bits{}, false
		}
	}
	return b, true
}

// Amount is the value of x in the instance's own terms.
func (inst *Instance) Amount(x []uint64) Amount {
	if inst.Int != nil {
		return Amount{whole: true, i: inst.ValueInt(x)}
	}
	return Amount{f: inst.Value(x)}
}

// AmountOf is the value of an objective, or, where coefficients were rounded, one that solutions
// of this objective have at least.
func (inst *Instance) AmountOf(p *Normal, objective int64) Amount {
	switch {
	case inst.Int != nil:
		return Amount{whole: true, i: p.constant + int64(p.Sense)*objective}
	case p.Over > 0:
		return Amount{f: roundOutward(p.exactValue(objective, -p.scale.under), p.Sense < 0)}
	}
	return Amount{f: p.Original(objective)}
}

// BoundOf is a value that no solution beats where no objective is above bound. What rounding took
// is added, and a float64 rounded outward.
func (inst *Instance) BoundOf(p *Normal, bound int64) Amount {
	if inst.Int != nil {
		return inst.AmountOf(p, bound)
	}
	return Amount{f: roundOutward(p.exactValue(bound, p.Over), p.Sense > 0)}
}

// Bound is the value of x, as a bound: a float64 rounded outward.
func (inst *Instance) Bound(x []uint64) Amount {
	if inst.Int != nil {
		return inst.Amount(x)
	}
	return Amount{f: roundOutward(inst.Exact(x), inst.Sense == Maximize)}
}

// SignBound is a value of real coefficients that no solution beats, in exact arithmetic, a float64 rounded outward: the
// sum of the best that each term may be worth.
func (inst *Instance) SignBound() Amount {
	var mu sync.Mutex
	var sum Sum
	sum.Add(inst.Real.Offset)
	best := func(v float64) float64 {
		switch {
		case inst.Form == Ising && (v < 0) == (inst.Sense == Maximize):
			return -v
		case inst.Form != Ising && (v < 0) == (inst.Sense == Maximize):
			return 0
		}
		return v
	}
	cores.Split(inst.N, RowsPerCore(1+len(inst.Col)/max(1, inst.N)), func(low, high int) {
		var part Sum
		for i := low; i < high; i++ {
			if inst.Form != MaxCut {
				part.Add(best(inst.Real.Linear[i]))
			}
			from, to := inst.lowerRange(i)
			for _, v := range inst.Real.Pair[from:to] {
				part.Add(best(v))
			}
		}
		mu.Lock()
		defer mu.Unlock()
		sum.Join(&part)
	})
	return Amount{f: roundOutward(sum.Exact(), inst.Sense == Maximize)}
}

// Better reports whether a is better than b.
func (inst *Instance) Better(a, b Amount) bool {
	if inst.Sense == Minimize {
		a, b = b, a
	}
	if a.whole {
		return a.i > b.i
	}
	return a.f > b.f
}

// OutwardAmount is a bound, in the instance's own terms, as an amount, rounded so that it stays one.
func (inst *Instance) OutwardAmount(x *big.Float) Amount {
	if inst.Int == nil {
		return Amount{f: roundOutward(x, inst.Sense == Maximize)}
	}
	whole, accuracy := x.Int(nil)
	switch {
	case inst.Sense == Maximize && accuracy == big.Above: // towards zero
		whole.Sub(whole, big.NewInt(1))
	case inst.Sense == Minimize && accuracy == big.Below:
		whole.Add(whole, big.NewInt(1))
	}
	return Amount{whole: true, i: whole.Int64()}
}

// ObjectiveOf is the objective of an amount, of integer coefficients.
func (p *Normal) ObjectiveOf(a Amount) int64 { return int64(p.Sense) * (a.i - p.constant) }
