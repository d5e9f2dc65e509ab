package text

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// Decimals are the float64 that strconv reads, to the bit: random ones, ones near and at the middle of two
// float64, and all exponents that the arithmetic of 128 bits covers.
func TestDecimals(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	quick := 0
	check := func(word string) {
		d, ok := parseDecimal([]byte(word))
		if !ok {
			t.Fatalf("%s: no decimal of at most 19 digits", word)
		}
		got, ok := d.float()
		if ok {
			quick++
		} else if got, ok = ParseFloat([]byte(word)); !ok {
			t.Fatalf("%s: not read", word)
		}
		if want, err := strconv.ParseFloat(word, 64); err != nil || math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%s: found %v (%x), expected %v (%x), %v", word, got, math.Float64bits(got), want, math.Float64bits(want), err)
		}
	}
	for range 20000 {
		m := rng.Uint64N(1e19) / powers[rng.IntN(19)]
		e := rng.IntN(61) - 30
		check(fmt.Sprintf("%de%d", m, e))
		word := strconv.FormatUint(m, 10)
		k := rng.IntN(len(word) + 1)
		check([]string{"", "-", "+", "-000"}[rng.IntN(4)] + word[:k] + "." + word[k:] + []string{"", "e-3", "E+12", "e0007"}[rng.IntN(4)])
		check("0." + strings.Repeat("0", rng.IntN(12)) + word)
		// A number of 54 bits, an odd one, is the middle of two float64; 5^j·10^-j makes that exact in decimals.
		j := rng.IntN(4)
		middle := (1<<53 + 2*rng.Uint64N(1<<52) + 1) * fives[j]
		check(fmt.Sprintf("%de-%d", middle, j))
		check(fmt.Sprintf("%de-%d", middle+1, j))
		check(fmt.Sprintf("%de-%d", middle-1, j))
		check(strconv.FormatFloat(rng.Float64(), 'g', -1, 64))
	}
	for _, word := range []string{"0.0", "-0.0", "-0e5", "0e9999", "5e-324", "2.2250738585072011e-308", "1e22", "1e23", "9007199254740993", "9007199254740993.0", "18014398509481985e-1", ".5", "5."} {
		check(word)
	}
	if quick < 100000 {
		t.Errorf("%d decimals were read without strconv, expected most", quick)
	}
	for _, word := range []string{"", ".", "-", "e5", "1e", "1e+", "1.2.3", "1e5.", "0x1", "1_0", "inf", "12345678901234567890", "1e12345", "--1", "1 ", "1-2", "\x801"} {
		if d, ok := parseDecimal([]byte(word)); ok {
			t.Errorf("%q: %v", word, d)
		}
	}
}

// Words end where a scan byte by byte ends them, whatever bytes they have.
func TestWordEnd(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	text := make([]byte, 40)
	for range 100000 {
		for k := range text {
			text[k] = "0123456789 \t\n\x00\x01\x08\x0e\x1f!\x7f\x80\xa0\xff"[rng.IntN(23)]
		}
		at := rng.IntN(len(text) + 1)
		want := at
		for want < len(text) && !isBlank(text[want]) {
			want++
		}
		if got := WordEnd(text, at); got != want {
			t.Fatalf("%q from %d on: %d, expected %d", text, at, got, want)
		}
	}
}

// Int is strconv's, for words of every length, also where the memory ends with the word.
func TestInts(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 100000 {
		word := make([]byte, rng.IntN(22))
		for k := range word {
			word[k] = byte('0' + rng.IntN(10))
		}
		if len(word) > 0 && rng.IntN(3) == 0 {
			word[0] = "-+"[rng.IntN(2)]
		}
		if len(word) > 0 && rng.IntN(3) == 0 {
			word[rng.IntN(len(word))] = byte(rng.IntN(256))
		}
		want, err := strconv.ParseInt(string(word), 10, 64)
		behind := append(append(make([]byte, 0, 64), word...), "123456789"...)
		for _, w := range [][]byte{word[:len(word):len(word)], behind[:len(word)]} {
			if got, ok := ParseInt(w); ok != (err == nil) || ok && got != want {
				t.Fatalf("%q: %d %v, expected %d %v", w, got, ok, want, err)
			}
		}
	}
}
