package problem

import (
	"encoding/json"
	"strconv"
)

// An Amount is a value: every digit of an integer, or a float64.
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
	return strconv.FormatFloat(a.f, 'g', -1, 64)
}

// MarshalJSON writes a number.
func (a Amount) MarshalJSON() ([]byte, error) {
	if a.whole {
		return strconv.AppendInt(nil, a.i, 10), nil
	}
	return json.Marshal(a.f)
}

// Bits are the values of n variables.
type Bits struct {
	words []uint64
	n     int
}

// NewBits are the values of n variables, bit i%64 of word i/64; words is not
// copied.
func NewBits(words []uint64, n int) Bits { return Bits{words, n} }

// At is variable i.
func (b Bits) At(i int) int { return int(Bit(b.words, i)) }

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

// AmountOf is the value of a scaled objective.
func (inst *Instance) AmountOf(p *Normal, objective int64) Amount {
	if inst.Int == nil {
		return Amount{f: p.Original(objective)}
	}
	if inst.Sense == Minimize {
		objective = -objective
	}
	return Amount{whole: true, i: p.constant + objective}
}
