package formats

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"coalesce/solvers/formats/habits"
)

// Every table of bids is read as what it is, or refused, in whatever way it is written.
func TestHabits(t *testing.T) {
	const n, w, l = habits.Number, habits.Name, habits.List
	for name, table := range map[string]habits.Table{
		"all columns": {Header: []string{"bid", "bidder", "price", "goods", "xor"}, Rows: [][]string{{"1", "Ida", "14", "mill barn", "x"}, {"2", "Olaf", "9", "barn", ""}, {"3", "Ida", "4.5", "field", "x y"}},
			Kinds: []habits.Kind{n, w, n, l, l}, Index: true},
		"two columns": {Header: []string{"price", "goods"}, Rows: [][]string{{"14", "a b c"}, {"9", "b"}, {"4", "c"}}, Kinds: []habits.Kind{n, l}, Index: true},
		"numbers":     {Header: []string{"goods", "price"}, Rows: [][]string{{"0 1", "14"}, {"1", "9"}, {"2", "4"}}, Kinds: []habits.Kind{l, n}, Index: true},
	} {
		t.Run(name, func(t *testing.T) {
			habits.Check(t, table, reader("a.csv"))
		})
	}
}

// Every object of bids is read as what it is, or refused, in whatever way it is written.
func TestHabitsOfJSON(t *testing.T) {
	for _, object := range []string{
		`{"bids": [{"price": 4, "goods": ["barn", "mill"]}, {"price": 2.5, "goods": ["mill"], "bidder": "Ann"}]}`,
		`{"goods": 3, "bids": [{"price": 4, "goods": [0, 1]}, {"bid": 7, "price": 2, "goods": [2]}]}`,
		`{"goods": ["a", "b"], "reserves": [{"price": 4.5, "goods": ["a"]}], "bidders": [{"name": "Ida", "most": 1, "bids": [{"bid": 7, "price": 5, "goods": ["a", "b"], "xor": "x"},
			{"bid": 8, "price": 5, "goods": ["a"], "xor": ["x", "y"]}]}]}`,
	} {
		habits.CheckJSON(t, object, reader("a.json"))
	}
}

// reader reads an auction of a name, and returns all that it holds.
func reader(name string) func(data string) (string, error) {
	return func(data string) (string, error) {
		a, err := ReadFrom(strings.NewReader(data), name, 0)
		if err != nil {
			return "", err
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%d %q %d %v", a.Goods, a.Names, a.Dummies, a.Limits)
		for _, bid := range a.Bids {
			fmt.Fprintf(&b, " | %d %q %s %d", bid.Number, bid.Bidder, a.FormatPrice(big.NewInt(bid.Price)), bid.Goods)
		}
		for _, r := range a.Reserves {
			fmt.Fprintf(&b, " | %s %d", a.FormatPrice(big.NewInt(r.Price)), r.Goods)
		}
		return b.String(), nil
	}
}
