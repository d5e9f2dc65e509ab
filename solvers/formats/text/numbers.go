package text

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"sync/atomic"
	"unsafe"

	"coalesce/solvers/cores"
	"coalesce/solvers/formats"
)

// ParseInt reads a whole number of 64 bits: digits behind a sign or none.
func ParseInt(word []byte) (int64, bool) {
	digits, negative := word, false
	if len(digits) > 0 && (digits[0] == '-' || digits[0] == '+') {
		negative, digits = digits[0] == '-', digits[1:]
	}
	v, ok := uint64(0), false
	switch n := len(digits); {
	case n > 16 || n < 8 && cap(digits) < 8:
		return intByBytes(word, digits)
	case n >= 8:
		first := (loadWord(digits, 0) ^ '0'*ones) << (128 - 8*uint(n)) // zeros, then all digits but the last 8
		last := loadWord(digits, n-8) ^ '0'*ones
		v, ok = joinDigits(first)*1e8+joinDigits(last), markNonDigits(first)|markNonDigits(last) == 0
	case n > 0:
		v, ok = parseShort(digits)
	}
	if negative {
		v = -v
	}
	return int64(v), ok
}

// intByBytes is ParseInt of a word with these digits behind the sign.
func intByBytes(word, digits []byte) (int64, bool) {
	for _, c := range digits {
		if c-'0' > 9 {
			return 0, false
		}
	}
	v, err := strconv.ParseInt(letters(word), 10, 64)
	return v, err == nil
}

// letters is a word as a string, without a copy: strconv copies what it keeps.
func letters(word []byte) string { return unsafe.String(unsafe.SliceData(word), len(word)) }

// ParseFloat reads a finite decimal, rounded to the nearest float64. It returns false for infinities, NaN,
// hexadecimal digits, underscores, and decimals beyond float64.
func ParseFloat(word []byte) (float64, bool) {
	if d, ok := parseDecimal(word); ok {
		if v, ok := d.float(); ok {
			return v, true
		}
	}
	for _, c := range word {
		if c-'0' > 9 && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(letters(word), 64)
	return v, err == nil
}

// ParseInfinity reads inf and infinity, in any case, behind a sign or none: 1, -1,
// or 0 for other words.
func ParseInfinity(word []byte) int {
	sign := 1
	if len(word) > 0 && (word[0] == '-' || word[0] == '+') {
		if word[0] == '-' {
			sign = -1
		}
		word = word[1:]
	}
	if len(word) != 3 && len(word) != 8 {
		return 0
	}
	for k, c := range word {
		if c|0x20 != "infinity"[k] {
			return 0
		}
	}
	return sign
}

// DecimalComma reports a number that is written with a comma for its point.
func DecimalComma(word []byte) bool {
	return bytes.Count(word, []byte(",")) == 1 && !bytes.HasPrefix(word, []byte(",")) && !bytes.HasSuffix(word, []byte(",")) &&
		IsNumber(bytes.Replace(word, []byte(","), []byte("."), 1))
}

// PointFor is err, about a word that is no number (nil for one that is), with a hint where the word has a decimal comma.
func PointFor(word []byte, err error) error {
	if err != nil && DecimalComma(word) {
		return fmt.Errorf("%w: the comma is a decimal comma, write a point", err)
	}
	return err
}

// IsNumber reports whether a word is written like a number: a decimal of any
// size, an infinity, or NaN.
func IsNumber(word []byte) bool {
	if len(word) > 0 && len(word) < 19 && word[0]-'0' < 10 {
		if _, ok := ParseInt(word); ok {
			return true
		}
	}
	for _, c := range word {
		if c == 'x' || c == 'X' || c == '_' {
			return false
		}
	}
	_, err := strconv.ParseFloat(letters(word), 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// ParseWhole reads a whole number from low to high; `what` names the number in the error.
func ParseWhole(word []byte, what string, low, high int64) (int64, error) {
	v, ok := ParseInt(word)
	if !ok || v < low || v > high {
		return 0, fmt.Errorf("found the %s %s, expected a whole number from %d to %d", what, formats.Quote(word), low, high)
	}
	return v, nil
}

// Numbers collects numbers: as exact integers while all are whole numbers of 64 bits, else all as
// float64. At the first other number, the integers before it become floats in the same memory.
//
// Infinite, where it is not 0, is the infinity that may be among the numbers. The slice Whole holds
// that infinity as math.MaxInt64. Integers of 2^63 to 2^64-1 are exact then too, where none is negative. The
// largest number that Whole can hold and an infinity together make all numbers floats.
type Numbers struct {
	Whole    []int64   // all numbers, while they are whole
	Real     []float64 // else all numbers
	Unsigned bool      // Whole holds the numbers less 2^63
	Every    bool      // math.MaxInt64 in Whole is a number, no infinity
	Floats   bool      // Real holds the numbers
	Rounded  int       // whole numbers that no float64 holds, among Real
	Infinite float64   // +Inf, -Inf, or 0: none may come
	Integral bool      // decimals of whole numbers below 2^53, such as 2.0 and 1e3, are those numbers

	infinite bool // Whole holds an infinity
}

// Len is how many numbers there are.
func (n *Numbers) Len() int { return len(n.Whole) + len(n.Real) }

// Add reads a number; false where the word is none. It grows without a budget:
// it is for the numbers of one block.
func (n *Numbers) Add(word []byte) bool {
	if v, ok := ParseInt(word); ok && (n.Infinite == 0 || v != math.MaxInt64) {
		n.AddInt(v)
		return true
	}
	if n.addLarge(word) {
		return true
	}
	if v, ok := ParseFloat(word); ok {
		if n.Integral && v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			n.AddInt(int64(v))
			return true
		}
		n.AddFloat(v)
		if v >= 1<<63 || v <= -1<<63 {
			n.Rounded += roundsWord(word, v)
		}
		return true
	}
	if sign := ParseInfinity(word); sign != 0 && float64(sign)*n.Infinite > 0 {
		if n.Every && (!n.unsign() || n.Every) {
			n.widen()
		}
		if n.Floats {
			n.Real = append(n.Real, n.Infinite)
		} else {
			n.Whole = append(n.Whole, math.MaxInt64)
			n.infinite = true
		}
		return true
	}
	return false
}

// addLarge reads a whole number of 2^63-1 to 2^64-1 and adds it; false where the word is none, or the number
// does not fit beside the others.
func (n *Numbers) addLarge(word []byte) bool {
	if n.Floats || n.Infinite == 0 {
		return false
	}
	v, err := strconv.ParseUint(letters(bytes.TrimPrefix(word, []byte("+"))), 10, 64)
	if err != nil || v < math.MaxInt64 {
		return false
	}
	switch {
	case v == math.MaxInt64 && !n.Unsigned && !n.infinite:
		n.Every = true
		n.Whole = append(n.Whole, math.MaxInt64)
		return true
	case v == math.MaxUint64 && n.infinite || !n.unsign():
		return false
	case v == math.MaxUint64:
		n.Every = true
	}
	n.Whole = append(n.Whole, int64(v^1<<63))
	return true
}

// AddInt adds a whole number, which is not the largest where an infinity may come.
func (n *Numbers) AddInt(v int64) {
	if !n.Floats && !n.Unsigned {
		n.Whole = append(n.Whole, v)
		return
	}
	n.addConverted(v)
}

// addConverted is AddInt where Whole does not hold signed integers.
func (n *Numbers) addConverted(v int64) {
	if n.Unsigned && v >= 0 {
		n.Whole = append(n.Whole, v^math.MinInt64)
		return
	}
	n.widen()
	n.Real = append(n.Real, float64(v))
	n.Rounded += rounds(v)
}

// AddFloat adds a number as a float.
func (n *Numbers) AddFloat(v float64) {
	n.widen()
	n.Real = append(n.Real, v)
}

// Append adds the numbers of a part, whose Infinite is the same. Memory comes
// from the budget.
func (n *Numbers) Append(b *formats.Budget, part *Numbers) error {
	if !n.Floats && !part.Floats {
		n.align(part)
	}
	if part.Floats {
		n.widen()
		n.Rounded += part.Rounded
	}
	var err error
	if !n.Floats {
		n.Whole, err = formats.Append(b, n.Whole, part.Whole...)
		return err
	}
	if part.Floats {
		n.Real, err = formats.Append(b, n.Real, part.Real...)
		return err
	}
	if n.Real, err = formats.Grow(b, n.Real, len(part.Whole)); err != nil {
		return err
	}
	part.widen()
	n.Real = append(n.Real, part.Real...)
	n.Rounded += part.Rounded
	return nil
}

// Reserve makes room for more numbers, so that memory is allocated once.
func (n *Numbers) Reserve(b *formats.Budget, more int) (err error) {
	if n.Floats {
		n.Real, err = formats.Grow(b, n.Real, more)
	} else {
		n.Whole, err = formats.Grow(b, n.Whole, more)
	}
	return err
}

// GrowAhead makes room for need numbers, and for others that are likely to follow, as formats.GrowAhead does.
func (n *Numbers) GrowAhead(b *formats.Budget, need, follow int) (err error) {
	if n.Floats {
		n.Real, err = formats.GrowAhead(b, n.Real, need, follow)
	} else {
		n.Whole, err = formats.GrowAhead(b, n.Whole, need, follow)
	}
	return err
}

// Reset forgets the numbers and keeps the memory.
func (n *Numbers) Reset() {
	whole := n.Whole
	if cap(n.Real) > 0 {
		real := n.Real[:cap(n.Real)]
		whole = unsafe.Slice((*int64)(unsafe.Pointer(&real[0])), len(real))
	}
	*n = Numbers{Whole: whole[:0], Infinite: n.Infinite, Integral: n.Integral}
}

// align makes the integers of a part, and those before it, of one kind: signed, unsigned, or floats.
func (n *Numbers) align(part *Numbers) {
	clash := func() bool {
		return n.Unsigned != part.Unsigned || n.Every && part.infinite || n.infinite && part.Every
	}
	if clash() && (!n.unsign() || !part.unsign() || clash()) {
		n.widen()
		part.widen()
		return
	}
	n.Every, n.infinite = n.Every || part.Every, n.infinite || part.infinite
}

// unsign makes unsigned integers of signed ones, and reports whether it could: where none is negative.
func (n *Numbers) unsign() bool {
	if n.Unsigned {
		return true
	}
	if n.Floats || slices.ContainsFunc(n.Whole, func(v int64) bool { return v < 0 }) {
		return false
	}
	cores.Split(len(n.Whole), 1<<16, func(from, to int) {
		for k := from; k < to; k++ {
			if n.Whole[k] != math.MaxInt64 || n.Every {
				n.Whole[k] ^= math.MinInt64
			}
		}
	})
	n.Unsigned, n.Every = true, false
	return true
}

// MakeFloats makes floats of unsigned integers, so that their negatives fit beside them.
func (n *Numbers) MakeFloats() {
	if n.Unsigned {
		n.widen()
	}
}

// widen converts the integers to floats in the same memory: both take 8 bytes.
func (n *Numbers) widen() {
	if n.Floats {
		return
	}
	whole, infinite, unsigned := n.Whole, n.Infinite != 0 && !n.Every, n.Unsigned
	n.Floats, n.Whole, n.Every, n.Unsigned = true, nil, false, false
	if cap(whole) == 0 {
		return
	}
	all := whole[:cap(whole)]
	n.Real = unsafe.Slice((*float64)(unsafe.Pointer(&all[0])), len(all))[:len(whole)]
	var rounded atomic.Int64
	cores.Split(len(whole), 1<<16, func(from, to int) {
		count := 0
		for k, v := range whole[from:to] {
			switch {
			case v == math.MaxInt64 && infinite:
				n.Real[from+k] = n.Infinite
				continue
			case unsigned && v >= 0:
				u := uint64(v) ^ 1<<63
				f := float64(u)
				if n.Real[from+k] = f; f >= 1<<64 || uint64(f) != u {
					count++
				}
				continue
			case unsigned:
				v ^= math.MinInt64
			}
			n.Real[from+k] = float64(v)
			count += rounds(v)
		}
		rounded.Add(int64(count))
	})
	n.Rounded += int(rounded.Load())
}

// roundsWord is 1 if a word is an integer of more than 64 bits that is not v, else 0.
func roundsWord(word []byte, v float64) int {
	whole, ok := new(big.Int).SetString(string(word), 10)
	if held, _ := new(big.Float).SetFloat64(v).Int(nil); !ok || whole.Cmp(held) == 0 {
		return 0
	}
	return 1
}

// rounds is 1 if no float64 equals an integer, else 0.
func rounds(v int64) int {
	if f := float64(v); f >= 1<<63 || int64(f) != v {
		return 1
	}
	return 0
}
