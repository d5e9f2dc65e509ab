package problem

import (
	"math/big"
	"strings"
	"testing"
)

func TestAmountString(t *testing.T) {
	tests := []struct {
		n     int64
		scale int
		want  string
	}{{0, 0, "0"}, {0, 3, "0"}, {5, 0, "5"}, {5, 3, "0.005"}, {-1250, 2, "-12.5"}, {100, 2, "1"}, {123456, 4, "12.3456"}}
	for _, test := range tests {
		if got := (Amount{big.NewInt(test.n), test.scale}).String(); got != test.want {
			t.Errorf("%d times 10^-%d: %s, want %s", test.n, test.scale, got, test.want)
		}
	}
}

// What is read as an amount is written as the same decimal, however it was put.
func TestParseAmount(t *testing.T) {
	for text, want := range map[string]string{
		"12.50": "12.5", "1e+06": "1000000", "25e-1": "2.5", "-.5": "-0.5", "+7.": "7", "0.000": "0", "00012": "12", "-0": "0",
		strings.Repeat("9", MaxDigits): strings.Repeat("9", MaxDigits),
	} {
		x, ok := ParseAmount(text)
		if !ok || x.String() != want {
			t.Errorf("%s: found %v, %t, expected %s", text, x, ok, want)
		}
		if up := x.InUnits(x.Scale + 2); ok && new(big.Int).Mul(x.Whole, big.NewInt(100)).Cmp(up) != 0 {
			t.Errorf("%s: %s in units of 10^-%d", text, up, x.Scale+2)
		}
	}
	for _, text := range []string{"", ".", "-", "--1", "1.2.3", "1e", "1e41", "1,5", "NaN", "inf", "0x10", "1_0", strings.Repeat("9", MaxDigits+1)} {
		if x, ok := ParseAmount(text); ok {
			t.Errorf("%q: found %v, expected no amount", text, x)
		}
	}
}

// The smallest unit that any price needs is that of all, of reserves too.
func TestSetPrices(t *testing.T) {
	amount := func(text string) Amount {
		x, ok := ParseAmount(text)
		if !ok {
			t.Fatal(text)
		}
		return x
	}
	a := &Auction{Goods: 1, Bids: []Bid{{Number: 0, Line: 3}, {Number: 1, Line: 4}}, Reserves: []Reserve{{Goods: []int64{0}, Line: 2}}}
	if err := a.SetPrices("file", []Amount{amount("2.5"), amount("-3")}, []Amount{amount("0.125")}); err != nil {
		t.Fatal(err)
	}
	if a.Scale != 3 || a.Bids[0].Price != 2500 || a.Bids[1].Price != -3000 || a.Reserves[0].Price != 125 {
		t.Errorf("found %+v", a)
	}
	if err := a.SetPrices("file", []Amount{amount("1e18"), amount("0.01")}, []Amount{amount("1")}); err == nil || !strings.HasPrefix(err.Error(), "file:3: found the price 1000000000000000000, expected less than 2^63 units") {
		t.Errorf("found %v", err)
	}
}
