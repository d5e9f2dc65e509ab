package problem

import (
	"slices"
	"strings"
	"testing"
)

func village(t testing.TB) *Auction {
	t.Helper()
	bids := []Bid{{Number: 3, Bidder: "ann", Price: 4, Goods: []int64{0}}, {Number: 1, Bidder: "ann", Price: 4, Goods: []int64{1}}, {Number: 7, Price: -3, Goods: []int64{1, 2}}}
	a, err := NewAuction(3, bids, []Reserve{{Price: 1, Goods: []int64{1, 2}}, {Price: 1, Goods: []int64{2}}})
	if err != nil {
		t.Fatal(err)
	}
	a.Limits = map[string]int{"ann": 1}
	return a
}

// Numbers and results name winning bids; errors name the file and the line.
func TestParseAllocation(t *testing.T) {
	a := village(t)
	for text, want := range map[string]Allocation{
		"7\n3": {0, 2}, `{"solution": [1]}`: {1}, "": {}, "{\n}": {},
	} {
		if got, err := ParseAllocation([]byte(text), "f", a); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: found %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"3\n\n4":                       "f:3: found bid 4, which the auction lacks",
		"3 x":                          `f:1: found "x", expected the number of a bid`,
		"3 1":                          "f: bidder ann wins more than 1 bids",
		"1 7":                          "f: good 1 is sold twice, to bid 1 and bid 7",
		"3 3":                          "f: bid 3 wins twice",
		"{\"solution\":\n [3, \"a\"]}": "f:2: ",
		`{"solution": [9]}`:            "f: found bid 9",
	} {
		if got, err := ParseAllocation([]byte(text), "f", a); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: found %v, %v, expected %s", text, got, err, want)
		}
	}
	if kept := a.KeptBeside([]int{0}); !slices.Equal(kept, []int{0}) {
		t.Errorf("beside bid 3: kept %v", kept)
	}
	if kept := a.KeptBeside([]int{1}); !slices.Equal(kept, []int{1}) {
		t.Errorf("beside bid 1: kept %v", kept)
	}
}

// Any text is bids that win together, or an error of the file.
func FuzzParseAllocation(f *testing.F) {
	for _, text := range []string{"7\n3", `{"solution": [1]}`, "3 1", "{", "-1"} {
		f.Add([]byte(text))
	}
	a := village(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		winners, err := ParseAllocation(text, "f", a)
		if err != nil && !strings.HasPrefix(err.Error(), "f:") {
			t.Errorf("the error %q does not begin with the file", err)
		}
		if err == nil && a.CheckKept(winners, a.KeptBeside(winners)) != nil {
			t.Errorf("found %v, which cannot win together", winners)
		}
	})
}
