package auction

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coalesce/solvers/auction/problem"
	"coalesce/solvers/solve"
	"coalesce/solvers/solve/inputtest"
)

// village is a small auction as CSV, and as JSON.
func village(t interface{ Fatal(...any) }) (csv, json string) {
	read := func(name string) string {
		data, err := os.ReadFile("internal/formats/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	return read("village.csv"), read("village.json")
}

// The same auction in both formats, solved by hand: Bob has barn and field for 20, Anna
// the well for 7.25.
func TestNamedFormats(t *testing.T) {
	village, villageJSON := village(t)
	for _, text := range []string{village, villageJSON, strings.NewReplacer(";", "", ",", ";", "Anna, widow", "Anna; widow").Replace(village), "\ufeff" + village, "sep=,\r\n" + village, "#a sale\n" + strings.ReplaceAll(village, "barn field,a", "\"['barn', 'field']\",a"), "\ufeff" + villageJSON, strings.ReplaceAll(village, "\n", "\r\n"),
		// pandas and R number the rows, under nothing.
		strings.NewReplacer("bid,bidder", ",bid,bidder", "1,\"", "9,1,\"", "2,\"", ",2,\"", "3,Bob", "x,3,Bob", "4,Bob", "0,4,Bob", "5,,", "0,5,,", "6,Cora", "0,6,Cora", "12,\"barn", "12,\"barn").Replace(village)} {
		a, err := read(text)
		if err != nil {
			t.Fatal(err)
		}
		if a.Goods != 3 || a.Dummies != 3 || a.Scale != 2 || len(a.Bids) != 6 || len(a.Reserves) != 2 || a.SellAll || len(a.Limits) != 1 {
			t.Fatalf("read as %+v", a)
		}
		res := paid(t, a, VCG)
		if res.Value != "27.25" || len(res.Winners) != 2 || len(res.Kept) != 0 {
			t.Errorf("%s", res)
		}
		// Without Bob Anna has the well for 7.25 and Cora the field for 2, the barn is
		// kept for 10.5; without Anna the others have 20 and 3.
		pays := map[string]string{}
		for _, w := range res.Payments.State(a).Winners {
			pays[w.Bidder[:3]] = w.Pays
		}
		if fmt.Sprint(pays) != "map[Ann:3 Bob:12.5]" {
			t.Errorf("payments %v", pays)
		}
		verifyResult(t, res)
	}
}

// Small auctions as programs and people write them, and their optima, by hand.
func TestWritten(t *testing.T) {
	want := map[string]string{"goods_comma.csv": "11.75", "goods_python_list.csv": "11.75", "goods_json_list.csv": "11.75", "xor_comma.csv": "11.5", "reserve_comma.csv": "20",
		"blank_name.json": "3", "trailing_comment.txt": "50.75", "header_order.txt": "50.75", "bidder_key.json": "8", "wdp_header.txt": "50.75",
		"wdp_header_sandholm.txt": "50.75", "cats_short_header.txt": "50.75", "ids.csv": "23", "comments.txt": "50.75", "columns_bool.csv": "11.75",
		"columns.txt": "11.75", "columns.json": "11.75", "records.jsonl": "11.75", "one_record.jsonl": "7.5", "header_reversed.txt": "8"}
	files, err := os.ReadDir("testdata/written")
	if err != nil || len(files) != len(want) {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		a, err := Read(filepath.Join("testdata/written", file.Name()))
		if err != nil {
			t.Error(err)
			continue
		}
		if res, err := Reference(a); err != nil || string(res.Value) != want[file.Name()] {
			t.Errorf("%s: %v %v, want %s", file.Name(), res, err, want[file.Name()])
		}
	}
}

// Files that are nearly right are errors with their line.
func TestWrittenWrong(t *testing.T) {
	for text, want := range map[string]string{
		"3 2\n5 1 2\n3 4\n":                                     "a:3: found \"4\" in a bid, expected a good from 1 to 3",
		"3 3\n5 1 2\n3 3\n":                                     "a:3: found the end of the file after 2 bids",
		"goods 2\nbids 1\ndummy 0\n0 5 0 1\n":                   "a:4: found the end of the file in bid 0",
		"goods 2\nbids 1\n# no dummies\n0 5 0 #\n":              "a:4: found \"0\", expected \"dummy\"",
		"goods 2\nbids 2\ndummy 0\n0 5 0 # 1 3 x #\n":           "a:4: found \"x\" in bid 1",
		"price,a,b\n5,1,2\n":                                    "a:2: column 3: found \"2\", expected 0 or 1",
		"price,a,b\n5,1,yes\n":                                  "a:2: column 3: found \"yes\", expected 0 or 1",
		"{\"price\": 5, \"goods\": [1]}\n{\"prize\": 3}\n":      "a:2: found the key \"prize\" of a bid",
		"[{\"price\": 5, \"a\": 1, \"b\": \"yes\"}]":            "a:1: found \"yes\", expected 0 or 1",
		"[{\"price\": 5, \"a\": 1},\n{\"price\": 5, \"a\": 1}]": "a:2: found one key of bids",
		"[{\"price\": 5, \"a\": 1, \"goods\": [1]}]":            "a:1: found the key \"goods\" beside the key \"a\"",
		"[{\"price\": 5, \"goods\": [1], \"a\": 1}]":            "a:1: found the key \"a\" of a bid",
		"[{\"price\": 5, \"goods\": [1]},\n{\"goods\": [1]}]":   "a:2: found \"\", expected a price",
		"[{\"price\": 5,\n \"goods\": \"ab\"}]":                 "a:2: found \"ab\", expected a list of goods",
	} {
		if _, err := ReadFrom(strings.NewReader(text), "a"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: found %v, expected %s", text, err, want)
		}
	}
}

// Records with goods as keys mean the same bids: exhaustion and solves find the same values in both forms.
func TestRecordsOfColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 34))
	words := [2][]string{{"0", "0.0", "false"}, {"1", "1.0", "true"}}
	for range inputtest.Draws(2000) {
		goods, bids := 2+r.IntN(4), 1+r.IntN(8)
		want := &problem.Auction{Goods: int64(goods), Source: "drawn"}
		text := ""
		for i := range bids {
			b := problem.Bid{Number: int64(i), Price: 1 + r.Int64N(20)}
			record := fmt.Sprintf(`{"price": %d`, b.Price)
			for g := range goods {
				has := r.IntN(2)
				if has == 1 {
					b.Goods = append(b.Goods, int64(g))
				}
				if i == 0 || has == 1 || r.IntN(2) == 0 {
					record += fmt.Sprintf(`, "g%d": %s`, g, words[has][r.IntN(3)])
				}
			}
			if len(b.Goods) == 0 {
				b.Goods, record = []int64{0}, fmt.Sprintf(`{"g0": 1, "price": %d`, b.Price)
				if i == 0 {
					record += `, "g1": 0`
				}
			}
			want.Bids = append(want.Bids, b)
			text += record + "}\n"
		}
		if bids > 1 && r.IntN(2) == 0 {
			text = "[" + strings.ReplaceAll(strings.TrimSpace(text), "\n", ",\n") + "]"
		} else if bids == 1 {
			text = "[" + text + "]"
		}
		a, err := ReadFrom(strings.NewReader(text), "a")
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		best, err := Reference(want)
		if err != nil {
			t.Fatal(err)
		}
		if found, err := Reference(a); err != nil || found.Value != best.Value {
			t.Fatalf("%s: found %v, %v, expected %s", text, found, err, best.Value)
		}
		if found, err := Solve(context.Background(), a, Options{Settings: solve.Settings{Algorithm: Branch}}); err != nil || found.Value != best.Value || !found.Proven {
			t.Fatalf("%s: solved: %v, %v, expected %s", text, found, err, best.Value)
		}
	}
}

// Auctions stay the same through every format, in every language.
func TestWriteAndRead(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	refused := 0
	for range 300 {
		a := drawnLanguages(r, r.IntN(4) == 0)
		want, err := Reference(a)
		infeasible := errors.Is(err, solve.ErrInfeasible)
		if err != nil && !infeasible {
			t.Fatal(err)
		}
		for _, format := range Formats() {
			var text bytes.Buffer
			notes, err := Write(&text, a, format)
			if format == CATS && (len(a.BindingLimits()) > 0 || len(a.Reserves) > 0 || a.SellAll) {
				if refused++; err == nil {
					t.Fatalf("%+v is written as %s", a, format)
				}
				continue
			}
			if a.SellAll && err != nil && strings.Contains(err.Error(), "of several bidders") {
				continue
			}
			if err != nil {
				t.Fatalf("%+v as %s: %v", a, format, err)
			}
			back, err := ReadFrom(bytes.NewReader(text.Bytes()), "back")
			if err != nil {
				t.Fatalf("%s\n%v", text.String(), err)
			}
			order := map[int64]int{}
			for i, b := range back.Bids {
				order[b.Number] = i
			}
			found, err := Reference(back)
			if infeasible {
				if !errors.Is(err, solve.ErrInfeasible) {
					t.Fatalf("%s\n%v, expected that not all goods can be sold", text.String(), err)
				}
				continue
			}
			if err != nil || found.Value != want.Value {
				t.Fatalf("%+v\n%s\n%v, %v, expected %s", a, text.String(), found, err, want.Value)
			}
			if format == CATS {
				if (len(notes) == 0) != (!a.HasBidderNames() && a.Names == nil) {
					t.Fatalf("%+v: notes %v", a, notes)
				}
				continue
			}
			before, after := a.BidderNumbers(), back.BidderNumbers()
			for i, b := range a.Bids {
				k := order[b.Number]
				if back.FormatPrice(big.NewInt(back.Bids[k].Price)) != a.FormatPrice(big.NewInt(b.Price)) {
					t.Fatalf("%s\nbid %d has another price", text.String(), b.Number)
				}
				for j, other := range a.Bids {
					if (before[i] == before[j]) != (after[k] == after[order[other.Number]]) {
						t.Fatalf("%+v\n%s\nthe bids %d and %d have other bidders", a, text.String(), b.Number, other.Number)
					}
				}
			}
		}
	}
	if refused == 0 {
		t.Error("CATS holds everything: too easy")
	}
}

// Files of CATS stay what they are, byte for byte of their bids, by way of the others.
func TestConversionsOfCATS(t *testing.T) {
	for _, name := range []string{"L2_g24_b100_s61.txt", "paths_g25_b100_s31.txt", "scheduling_g20_b100_s51.txt"} {
		a, err := Read(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		want := paid(t, a, VCG)
		for _, format := range Formats() {
			var text bytes.Buffer
			if _, err := Write(&text, a, format); err != nil {
				t.Fatal(err)
			}
			back, err := ReadFrom(&text, "back")
			if err != nil {
				t.Fatal(err)
			}
			if got := paid(t, back, VCG); got.Value != want.Value || got.Payments.Revenue().Cmp(want.Payments.Revenue()) != 0 {
				t.Errorf("%s as %s: %s, %s paid", name, format, got.Value, back.FormatPrice(got.Payments.Revenue()))
			}
		}
	}
}
