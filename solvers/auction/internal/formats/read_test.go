package formats

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coalesce/solvers/auction/problem"
	"coalesce/solvers/formats"
)

func read(text string) (*problem.Auction, error) {
	return ReadFrom(strings.NewReader(text), "a.txt", 0)
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
		a := &problem.Auction{Goods: 2, Names: names, Bids: []problem.Bid{{Price: 3, Goods: []int64{0, 1}}, {Number: 1, Price: 2, Goods: []int64{1}}}}
		var text strings.Builder
		if _, err := Write(&text, a, CSV); err != nil {
			t.Fatal(err)
		}
		if back, err := ReadFrom(strings.NewReader(text.String()), "back", 0); err != nil || !slices.Equal(back.Names, names) || len(back.Bids[0].Goods) != 2 {
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
		{"price,goods,colour\n", `a.txt:1: found the column "colour", expected bid, bidder, price, goods, quantities or xor`},
		{"price,goods,price\n", "a.txt:1: found the column price twice"},
		{"goods:,a\nprice,bidder\n", "a.txt:2: found a header without the columns price and goods"},
		{"price,a\n5,1\n", "a.txt:1: found the one column \"a\" beside bid, bidder, price, quantities and xor, expected goods, or several that stand for goods"},
		{head + "1,,9223372036854775808,a\n", "a.txt:2: found the price 9223372036854775808, expected less than 2^63 units of 1, the smallest that some price needs"},
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
		{"{}{", "a.txt:1: found more after the JSON"},
		{"{\n\n\"goods\": [}\n", "a.txt:3: found broken JSON"},
		{`{"bids": ` + strings.Repeat("[", 101), "a.txt:1: found more than 100 lists and objects in one another, expected an auction"},
		{"{\"goods\": 2, \"bids\": []}\n{}", "a.txt:2: found more after the JSON, expected the end of the file"},
		{"{\"goods\": true}", "a.txt:1: found true, expected a list of goods, or their number"},
		{"{\"goods\": [1],\n\"goods\": [2]}", `a.txt:2: found the key "goods" again`},
		{"{\"goods\": [\"a\",\n\"a\"]}", `a.txt:2: found good "a" again`},
		{"{\"goods\": [[]]}", "a.txt:1: found [, expected the name of a good"},
		{"{\"colour\": 1}", `a.txt:1: found the key "colour", expected goods, units, free_disposal`},
		{"{\"free_disposal\": 1}", "a.txt:1: found 1, expected true or false"},
		{"{\"bids\": {}}", "a.txt:1: found {, expected a list of bids"},
		{"{\"bids\":\n[1]}", "a.txt:2: found 1, expected a bid"},
		{"{\"bids\":\n[{\"goods\":[]}]}", `a.txt:2: found "", expected a price`},
		{"{\"bids\":\n[{\"price\":null}]}", "a.txt:2: found null, expected a price"},
		{"{\"bids\":\n[{\"worth\":1}]}", `a.txt:2: found the key "worth" of a bid`},
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
		if _, err := Read(path, 0); err == nil || !strings.HasPrefix(err.Error(), path+":1: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	for name, want := range map[string]string{"x.json.gz": JSON, "x.csv.zst": CSV, "x.gz": "", "x": ""} {
		if got := OfPath(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, path := range []string{"testdata/village.csv", "testdata/village.json"} {
		var full *formats.MemoryError
		if _, err := Read(path, 1000); !errors.As(err, &full) && !strings.Contains(fmt.Sprint(err), "at most 1000 bytes") {
			t.Error(err)
		}
	}
}

func TestUnwritable(t *testing.T) {
	for want, a := range map[string]*problem.Auction{
		"expected another name": {Goods: 1, Bids: []problem.Bid{{Goods: []int64{0}, Bidder: "None"}}},
		"names of 1 goods":      {Goods: 1, Names: []string{}},
		"of several bidders":    {Goods: 1, Dummies: 1, SellAll: true, Bids: []problem.Bid{{Goods: []int64{0, 1}, Bidder: "A"}, {Number: 1, Goods: []int64{0, 1}, Bidder: "B"}}},
	} {
		if _, err := Write(&bytes.Buffer{}, a, CSV); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
	if _, err := Write(&bytes.Buffer{}, &problem.Auction{}, "xml"); err == nil {
		t.Error("an unknown format is written")
	}
}

func TestErrors(t *testing.T) {
	head := "goods 2\nbids 1\ndummy 0\n"
	tests := []struct{ text, want string }{
		{"", `a.txt:1: found the end of the file, expected "goods" and a number`},
		{"bids 3\n", `a.txt:1: found the end of the file, expected "goods" and a number`},
		{"bids 3\nbids 3\n", `a.txt:2: found "bids", expected "goods" and a number`},
		{"4\n3\n", `a.txt:1: found a number alone, expected "goods" and a number, or the numbers of goods and bids`},
		{"4 3 2\n", `a.txt:1: found "2" after the numbers of goods and bids`},
		{"99999999999 3\n", `a.txt:1: found "99999999999", expected the number of goods`},
		{"4 1\n5 0 1\n", `a.txt:2: found "0" in a bid, expected a good from 1 to 4`},
		{"4 1\n5 1 1\n", "a.txt:2: found good 0 twice in bid 1"},
		{"4 2\n5 1 % 2\n", "a.txt:2: found the end of the file after 1 bid, expected the 2"},
		{"4 1 #\n0 5 0 99 #\n1 5 2 #\n", `a.txt:3: found "1" after 1 bid`},
		{"goods x\n", `a.txt:1: found "x" after "goods", expected a number`},
		{"goods -1\n", `a.txt:1: found "-1" after "goods"`},
		{"goods 99999999999\n", `a.txt:1: found "99999999999" after "goods"`},
		{"goods 2\nbids 1\nmaximums 1 1\n", "a.txt:3: found maximums: a multi-unit auction"},
		{head + "maximums 1 1\n", "a.txt:4: found maximums"},
		{head + "0 5 0 #\n1 5 1 #\n", `a.txt:5: found "1" after 1 bid, expected the end`},
		{head, "found the end of the file after 0 bids, expected the 1 of the header"},
		{head + "0 5 0", "a.txt:4: found the end of the file in bid 0, expected the id of a good, or #"},
		{head + "0 5 2 #\n", "a.txt:4: found good 2 in bid 0, expected at most 1"},
		{head + "0 5 1 1 #\n", "a.txt:4: found good 1 twice in bid 0"},
		{head + "0 nan 1 #\n", `a.txt:4: found "nan", expected a price`},
		{head + "0 inf 1 #\n", `a.txt:4: found "inf", expected a price`},
		{head + "0 1e999999999 1 #\n", `a.txt:4: found "1e999999999", expected a price`},
		{head + "0 1" + strings.Repeat("0", 50) + " 1 #\n", `a.txt:4: found "1000`},
		{head + "0 1.2.3 1 #\n", `a.txt:4: found "1.2.3", expected a price`},
		{head + "0 5 x #\n", `a.txt:4: found "x" in bid 0`},
		{head + "x 5 1 #\n", `a.txt:4: found "x", expected the number of a bid`},
		{head + strings.Repeat("9", 5000), "a.txt:4: found a word of more than"},
		{"goods 2\nbids 2\ndummy 0\n7 5 0 #\n7 5 1 #\n", "a.txt:5: found bid 7 again, expected each once: it is on line 4"},
	}
	for _, test := range tests {
		a, err := read(test.text)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.40q: %v %v\nwant %s", test.text, a, err, test.want)
		}
	}
}

// Memory is held against the limit before it is taken.
func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(path, []byte("goods 2\nbids 3\ndummy 0\n0 10.5 0 #\n1 7.25 1 #\n2 6 0 1 #\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path, 1<<20); err != nil {
		t.Error(err)
	}
	var full *formats.MemoryError
	if _, err := Read(path, 500); !errors.As(err, &full) || !strings.HasPrefix(err.Error(), path+":") || full.Limit != 500 {
		t.Error(err)
	}
}
