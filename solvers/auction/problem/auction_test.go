package problem

import (
	"errors"
	"strings"
	"testing"

	"coalesce/solvers/solve"
)

// A program's bids make an auction with the dummies that they ask for, or an error that names the field.
func TestNewAuction(t *testing.T) {
	bids := []Bid{{Number: 0, Price: 3, Goods: []int64{0, 1}}, {Number: 1, Price: 2, Goods: []int64{-7, 1, 4}}, {Number: 2, Price: 1}}
	a, err := NewAuction(2, bids, []Reserve{{Price: 1, Goods: []int64{1}}})
	if err != nil || a.Dummies != 3 || len(a.Bids) != 3 || len(a.Reserves) != 1 {
		t.Fatalf("found %+v, %v", a, err)
	}
	if err := a.CheckWinners([]int{0, 2}); err != nil {
		t.Error(err)
	}
	if err := a.CheckKept([]int{0}, []int{0}); err == nil || !strings.Contains(err.Error(), "good 1 is sold twice, to bid 0 and reserve 0") {
		t.Errorf("found %v", err)
	}
	for want, wrong := range map[string]func() (*Auction, error){
		"Goods: found -1":             func() (*Auction, error) { return NewAuction(-1, bids, nil) },
		"Bids[1].Number: found 0":     func() (*Auction, error) { return NewAuction(1, []Bid{{}, {}}, nil) },
		"Bids[0].Goods[1]: found":     func() (*Auction, error) { return NewAuction(3, []Bid{{Goods: []int64{2, 1}}}, nil) },
		"Dummies: found":              func() (*Auction, error) { return NewAuction(3, []Bid{{Goods: []int64{1 << 40}}}, nil) },
		"Reserves[0].Goods[0]: found": func() (*Auction, error) { return NewAuction(1, nil, []Reserve{{Goods: []int64{1}}}) },
	} {
		if a, err := wrong(); a != nil || !errors.Is(err, solve.ErrInput) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("found %v, %v, expected %q", a, err, want)
		}
	}
	if a, err := NewAuction(0, nil, nil); err != nil || a.CheckWinners(nil) != nil {
		t.Errorf("no goods and no bids: %v", err)
	}
}
