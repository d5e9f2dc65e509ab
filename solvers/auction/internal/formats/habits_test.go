package formats

import (
	"fmt"
	"math/big"
	"math/rand/v2"
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
		"0 and 1":     {Header: []string{"price", "bidder", "barn", "mill"}, Rows: [][]string{{"14", "Ida", "1", "1"}, {"9", "Olaf", "0", "1"}}, Kinds: []habits.Kind{n, w, n, n}, Index: true},
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
		`[{"bidder": "Ann", "price": 4, "goods": ["barn", "mill"]}, {"bidder": "Bo", "price": 2.5, "goods": ["mill"]}]`,
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

// Goods as columns of 0 and 1, and a list of bids in JSON, are the auction that lists of goods say.
func TestSameInOtherForms(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 4))
	for range 2000 {
		goods := 2 + r.IntN(6)
		columns, lists, object := "price,bidder", "goods:,", ""
		for g := range goods {
			columns += fmt.Sprintf(",g%d", g)
			lists += fmt.Sprintf("g%d ", g)
		}
		columns, lists = columns+"\n", strings.TrimSpace(lists)+"\nprice,bidder,goods\n"
		for k := range 1 + r.IntN(8) {
			price, bidder := fmt.Sprintf("%d.%d", r.IntN(50), r.IntN(10)), fmt.Sprintf("b%d", r.IntN(4))
			row, list := "", []string{}
			for g := range goods {
				if r.IntN(3) == 0 {
					row, list = row+",1", append(list, fmt.Sprintf("g%d", g))
				} else {
					row += ",0"
				}
			}
			columns += price + "," + bidder + row + "\n"
			lists += price + "," + bidder + "," + strings.Join(list, " ") + "\n"
			if k > 0 {
				object += ","
			}
			object += fmt.Sprintf(`{"price": %s, "bidder": %q, "goods": ["%s"]}`, price, bidder, strings.Join(list, `", "`))
		}
		object = strings.ReplaceAll(object, `[""]`, "[]")
		same := func(name, a, nameB, b string) {
			x, err := reader(name)(a)
			y, other := reader(nameB)(b)
			if err != nil || other != nil || x != y {
				t.Fatalf("%s\n%v: %s\n%s\n%v: %s", a, err, x, b, other, y)
			}
		}
		same("a.csv", columns, "b.csv", lists)
		same("a", "["+object+"]", "b.json", `{"bids": [`+object+`]}`)
	}
}
