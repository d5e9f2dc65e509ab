package auction

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coalesce/solvers/formats"
	"coalesce/solvers/solve"
)

const village = `# a sale in a village
goods:,barn field well
reserve:,10.50,barn
reserve:,12,"barn  field"
most:,"Anna, widow",1
disposal:,yes

bid,bidder,price,goods,xor
1,"Anna, widow",11,barn,
2,"Anna, widow",7.25,well,
3,Bob,20,barn field,a
4,Bob,9,well,a
5,,3,well
6,Cora,2,field,"one two"
`

const villageJSON = `{
 "bidders": [
  {"bids": [{"bid": 1, "price": "11", "goods": ["barn"]}, {"bid": 2, "price": 7.25, "goods": ["well"]}], "most": 1, "name": "Anna, widow"},
  {"name": "Bob", "bids": [
   {"bid": 3, "price": 2e1, "goods": ["barn", "field"], "xor": "a"},
   {"bid": 4, "price": 9, "goods": ["well"], "xor": ["a"]}]},
  {"name": "Cora", "bids": [{"bid": 6, "price": 2, "goods": ["field"], "xor": ["one", "two"]}]}
 ],
 "bids": [{"bid": 5, "price": 3.0, "goods": ["well"]}],
 "reserves": [{"price": 10.5, "goods": ["barn"]}, {"price": "12", "goods": ["field", "barn"]}],
 "goods": ["barn", "field", "well"],
 "free_disposal": true
}
`

// The same auction in both formats, solved by hand: Bob has barn and field for 20, Anna
// the well for 7.25.
func TestNamedFormats(t *testing.T) {
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
		for _, w := range res.payments().Winners {
			pays[w.Bidder[:3]] = w.Pays
		}
		if fmt.Sprint(pays) != "map[Ann:3 Bob:12.5]" {
			t.Errorf("payments %v", pays)
		}
		held(t, res)
	}
}

// Small auctions as programs and people write them, and their optima, by hand.
func TestWritten(t *testing.T) {
	want := map[string]string{"goods_comma.csv": "11.75", "goods_python_list.csv": "11.75", "goods_json_list.csv": "11.75", "xor_comma.csv": "11.5", "reserve_comma.csv": "20",
		"blank_name.json": "3", "trailing_comment.txt": "50.75", "header_order.txt": "50.75", "bidder_key.json": "8", "wdp_header.txt": "50.75",
		"wdp_header_sandholm.txt": "50.75", "cats_short_header.txt": "50.75", "ids.csv": "23"}
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

// Lists and names are what they are, however they are written, or are refused.
func TestLists(t *testing.T) {
	for list, want := range map[string]string{
		"a b": "[[0 1]]", "a,b": "[[0 1]]", "a; b": "[[0 1]]", "a|b": "[[0 1]]", "a+b": "[[0 1]]", "a / b": "[[0 1]]", "{'b', 'a'}": "[[0 1]]", "frozenset({'a', 'b'})": "[[0 1]]",
		`[""a"", ""b""]`: "[[0 1]]", "['a' 'b']": "[[0 1]]", "['a ']": "[[0]]", "[]": "[[]]", "": "[[]]", "('a',)": "[[0]]",
		"a b, c": "goods: found", "a/b,c": "goods: found", "nan": "goods: found", "#N/A": "goods: found", "['a'": "goods: found", "a,,b": "goods: found", "d": `found good "d"`,
	} {
		a, err := read("goods:,\"a, b, c\"\nprice,goods\n5,\"" + list + "\"\n")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "a.txt:3: "+want) {
				t.Errorf("%s: %v, want %s", list, err, want)
			}
			continue
		}
		var goods [][]int64
		for _, b := range a.Bids {
			goods = append(goods, b.Goods)
		}
		if fmt.Sprint(goods) != want {
			t.Errorf("%s: read as %v, want %s", list, goods, want)
		}
	}
	for _, names := range [][]string{{"a field", "b"}, {"it's", `a"b`}, {`back\slash`, "a,b"}, {"C++", "#1"}, {"None", "np.x"}, {"[x]", "1.0"}} {
		a := &Auction{Goods: 2, Names: names, Bids: []Bid{{Price: 3, Goods: []int64{0, 1}}, {Number: 1, Price: 2, Goods: []int64{1}}}}
		var text strings.Builder
		if _, err := Write(&text, a, CSV); err != nil {
			t.Fatal(err)
		}
		if back, err := ReadFrom(strings.NewReader(text.String()), "back"); err != nil || !slices.Equal(back.Names, names) || len(back.Bids[0].Goods) != 2 {
			t.Errorf("%q: read back as %+v, %v", text.String(), back, err)
		}
	}
}

func TestNumbersForNames(t *testing.T) {
	for _, text := range []string{
		"price;goods\n2;0 1\n3;2\n",
		"goods\tprice\n0 1\t2\n2\t3\n",
		"count:,3\nprice,goods\n2,1 0\n3,2\n",
		`{"goods":3,"bids":[{"price":2,"goods":[0,1]},{"price":3,"goods":["2"]}]}`,
		`{"bids":[{"price":2,"goods":[0,1]},{"price":3,"goods":[2]}]}`,
	} {
		a, err := read(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if a.Names != nil || a.Goods != 3 || !slices.Equal(a.Bids[0].Goods, []int64{0, 1}) || a.Bids[1].Number != 1 || a.HasBidderNames() {
			t.Errorf("%q: %+v", text, a)
		}
	}
}

func TestErrorsOfNamedFormats(t *testing.T) {
	head := "bid,bidder,price,goods,xor\n"
	for _, test := range []struct{ text, want string }{
		{"goods:,a\n", "a.txt:1: found the end of the file, expected a header with the columns price and goods"},
		{"price,goods,colour\n", `a.txt:1: found the column "colour", expected bid, bidder, price, goods or xor`},
		{"price,goods,price\n", "a.txt:1: found the column price twice"},
		{"goods:,a\nprice,bidder\n", "a.txt:2: found a header without the columns price and goods"},
		{"coods:,a\n" + head, `a.txt:1: found the setting "coods:", expected goods:, count:`},
		{"goods:,a,b\n" + head, "a.txt:1: found 2 cells after goods:, expected 1"},
		{"goods:,a a\n" + head, `a.txt:1: found good "a" again`},
		{"count:,3\ngoods:,a\n" + head, "a.txt:2: found a list of goods after their number"},
		{"reserve:,3,a\ngoods:,a\n" + head, "a.txt:2: found a list of goods after their number"},
		{"goods:,a\ncount:,3\n" + head, "a.txt:2: found a number of goods"},
		{"count:,-3\n" + head, `a.txt:1: found "-3", expected how many goods`},
		{"reserve:,-3,a\n" + head, `a.txt:1: found the reserve price "-3", expected at least 0`},
		{"reserve:,x,a\n" + head, `a.txt:1: found "x", expected a reserve price`},
		{"reserve:,3,\n" + head, "a.txt:1: found 1 cell after reserve:, expected 2"},
		{"most:,Anna,x\n" + head, `a.txt:1: found "x", expected how many bids`},
		{"most:,Anna,1\nmost:,Anna,2\n" + head, `a.txt:2: found the limit of bidder "Anna" again`},
		{"most:,Anna,1\n" + head + "1,Bob,1,a\n", `a.txt:1: found a limit of bidder "Anna", expected one who bids`},
		{"disposal:,maybe\n" + head, `a.txt:1: found "maybe" after disposal:, expected yes or no`},
		{"disposal:,no\ndisposal:,no\n" + head, "a.txt:2: found disposal: again"},
		{head + "1,,1,a,,\n2,,1,a,,x\n", "a.txt:3: found 6 cells, expected at most the 5 of the header"},
		{head + "1,,x,a\n", `a.txt:2: found "x", expected a price in at most 40 digits`},
		{head + "1,,\"4,5\",a\n", `a.txt:2: found "4,5", expected a price in at most 40 digits: the comma is a decimal comma, write a point`},
		{"bid,,price,goods\n1,2,3,a\n", `a.txt:1: found the column "", expected bid`},
		{head + "x,,1,a\n", `a.txt:2: found "x", expected the number of a bid`},
		{head + "7,,1,a\n7,,1,b\n", "a.txt:3: found bid 7 again, expected each once: it is on line 2"},
		{"sep=:\n" + head, `a.txt:1: found "sep=:", expected sep= and a comma`},
		{head + "#N/A,,1,a\n", `a.txt:2: found "#N/A", expected the number of a bid`},
		{head + "#end\n", `a.txt:2: found "#end", expected the number of a bid`},
		{head + "1,#N/A,1,a\n", `a.txt:2: column 2: found "#N/A" for a bidder`},
		{head + "1,nan,1,a\n", `a.txt:2: column 2: found "nan" for a bidder`},
		{head + "1,,#DIV/0!,a\n", `a.txt:2: found "#DIV/0!", expected a price`},
		{head + "1,,,a\n", `a.txt:2: found "", expected a price`},
		{head + "1,B,1,a,nan\n", `a.txt:2: xor: found "nan", which is no name`},
		{head + "1,,1,a a\n", `a.txt:2: found good "a" twice`},
		{head + "1,,1,a,x\n", `a.txt:2: found alternatives "x" without a bidder`},
		{head + "1,B,1,a,x x\n", `a.txt:2: found the group "x" twice`},
		{head + "1,\"B,1,a,x\n", "a.txt:2: found a quote that does not end where its cell does"},
		{head + "1,\"B\"x,1,a,x\n", "a.txt:2: found a quote that does not end where its cell does"},
		{head + "1,B\x01,1,a,x\n", `a.txt:2: found the name "B\x01" of a bidder`},
		{head + "1,B,1," + strings.Repeat("a", 2000) + "\n", "a.txt:2: found a name of 2000 bytes"},
		{"goods:,a\n" + head + "1,,1,b\n", `a.txt:3: found good "b", expected one of the 1 that the file lists`},
		{"count:,1\n" + head + "1,,1,01\n", `a.txt:3: found good "01", expected 0 to 0`},
		{head + "1,,9223372036854775808,a\n", "a.txt:2: found the price 9223372036854775808, expected less than 2^63 units"},

		{"{", "a.txt:1: found broken JSON, expected the end of an object: unexpected EOF"},
		{"{}{", "a.txt:1: found more after the object"},
		{"{\n\n\"goods\": [}\n", "a.txt:3: found broken JSON"},
		{`{"bids": ` + strings.Repeat("[", 101), "a.txt:1: found more than 100 lists and objects in one another, expected an auction"},
		{"{\"goods\": 2, \"bids\": []}\n{}", "a.txt:2: found more after the object, expected the end of the file"},
		{"{\"goods\": true}", "a.txt:1: found true, expected a list of goods, or their number"},
		{"{\"goods\": [1],\n\"goods\": [2]}", `a.txt:2: found the key "goods" again`},
		{"{\"goods\": [\"a\",\n\"a\"]}", `a.txt:2: found good "a" again`},
		{"{\"goods\": [[]]}", "a.txt:1: found [, expected the name of a good"},
		{"{\"colour\": 1}", `a.txt:1: found the key "colour", expected goods, free_disposal`},
		{"{\"free_disposal\": 1}", "a.txt:1: found 1, expected true or false"},
		{"{\"bids\": {}}", "a.txt:1: found {, expected a list of bids"},
		{"{\"bids\":\n[1]}", "a.txt:2: found 1, expected a bid"},
		{"{\"bids\":\n[{\"goods\":[]}]}", `a.txt:2: found "", expected a price`},
		{"{\"bids\":\n[{\"price\":null}]}", "a.txt:2: found null, expected a price"},
		{"{\"bids\":\n[{\"value\":1}]}", `a.txt:2: found the key "value" of a bid`},
		{"{\"bids\":\n[{\"price\":1, \"xor\":true}]}", "a.txt:2: found true, expected the name of a group"},
		{"{\"bids\":\n[{\"price\":1, \"xor\":1}]}", `a.txt:2: found alternatives "1" without a bidder`},
		{"{\"bids\":\n[{\"bid\":1.5, \"price\":1}]}", `a.txt:2: found "1.5", expected the number of a bid`},
		{"{\"bids\":\n[{\"price\":NaN}]}", `a.txt:2: found "NaN", expected a price`},
		{"{\"bidders\":\n[{\"name\":\"A\",\"bids\":[{\"price\":1,\"bidder\":\"B\"}]}]}", `a.txt:2: found a bid of bidder "B" among those of "A"`},
		{"{\"bids\":\n[{\"price\":1,\"goods\":\"a b\"}]}", `a.txt:2: found "a b", expected a list of goods`},
		{"{\"bids\":\n[{\"price\":1,\"goods\":[\"a \",\"a\"]}]}", `a.txt:2: found good "a" twice`},
		{"{\"bidders\":\n[{}]}", "a.txt:2: found a bidder without a name"},
		{"{\"bidders\":\n[{\"name\":\"A\"},\n{\"name\":\"A\"}]}", `a.txt:3: found bidder "A" again`},
		{"{\"bidders\":\n[{\"name\":\"A\",\"most\":\"1\"}]}", `a.txt:2: found "1", expected how many bids`},
		{"{\"bidders\":\n[{\"name\":\"A\",\"least\":1}]}", `a.txt:2: found the key "least" of a bidder`},
		{"{\"reserves\":\n[{\"price\":1,\"goods\":[]}]}", "a.txt:2: found a reserve price of no goods"},
		{"{\"reserves\":\n[{\"prise\":1}]}", `a.txt:2: found the key "prise" of a reserve`},
	} {
		a, err := read(test.text)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%.60q: %v %v\nwant %s", test.text, a, err, test.want)
		}
	}
}

// A file's name tells its format before its text does.
func TestFormatsByName(t *testing.T) {
	folder := t.TempDir()
	for name, want := range map[string]string{"a.csv": "column", "a.json": "broken JSON", "a.cats": `expected "goods"`, "a.txt": `expected "goods"`, "a.CSV": "column"} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte("colour\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); err == nil || !strings.HasPrefix(err.Error(), path+":1: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	for name, want := range map[string]string{"x.json.gz": JSON, "x.csv.zst": CSV, "x.gz": "", "x": ""} {
		if got := FormatOf(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, text := range []string{village, villageJSON} {
		path := filepath.Join(folder, "long")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var full *formats.MemoryError
		if _, err := ReadWithin(path, 1000); !errors.As(err, &full) && !strings.Contains(fmt.Sprint(err), "at most 1000 bytes") {
			t.Error(err)
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
			before, after := a.Bidders(), back.Bidders()
			for i, b := range a.Bids {
				k := order[b.Number]
				if back.Price(big.NewInt(back.Bids[k].Price)) != a.Price(big.NewInt(b.Price)) {
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

func TestUnwritable(t *testing.T) {
	for want, a := range map[string]*Auction{
		"expected another name": {Goods: 1, Bids: []Bid{{Goods: []int64{0}, Bidder: "None"}}},
		"names of 1 goods":      {Goods: 1, Names: []string{}},
		"of several bidders":    {Goods: 1, Dummies: 1, SellAll: true, Bids: []Bid{{Goods: []int64{0, 1}, Bidder: "A"}, {Number: 1, Goods: []int64{0, 1}, Bidder: "B"}}},
	} {
		if _, err := Write(&bytes.Buffer{}, a, CSV); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
	if _, err := Write(&bytes.Buffer{}, &Auction{}, "xml"); err == nil {
		t.Error("an unknown format is written")
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
				t.Errorf("%s as %s: %s, %s paid", name, format, got.Value, back.Price(got.Payments.Revenue()))
			}
		}
	}
}
