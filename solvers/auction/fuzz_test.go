package auction

import (
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// checkRead reads whatever it is given: an error, or an auction that can be
// reduced and solved.
func checkRead(t *testing.T, text string) {
	a, err := ReadFromWithin(strings.NewReader(text), "a.txt", 1<<26) // 12 bytes may tell of 2^26 goods, which take 12 GiB
	if err != nil {
		if !strings.HasPrefix(err.Error(), "a.txt:") {
			t.Errorf("%q: the error does not begin with the file: %v", text, err)
		}
		return
	}
	r := reduction(t, a)
	if len(r.Items) > 12 {
		return
	}
	if _, err := r.ToCSG(); err != nil && !strings.Contains(err.Error(), "prices") {
		t.Errorf("%q: %v", text, err)
	}
	res, err := Reference(a)
	if err != nil {
		return
	}
	if err := a.CheckWinners(res.Winners); err != nil {
		t.Errorf("%q: %v", text, err)
	}
}

// checkNamed is checkRead in a format, whatever the text tells; what can be read can be
// written, and read again as the same auction.
func checkNamed(t *testing.T, text, format string) {
	a, err := ReadFromWithin(strings.NewReader(text), "a."+format, 1<<26)
	if err != nil {
		if !strings.HasPrefix(err.Error(), "a."+format+":") {
			t.Errorf("%q: the error does not begin with the file: %v", text, err)
		}
		return
	}
	if a.Goods > 1<<16 {
		return
	}
	var out strings.Builder
	if _, err := Write(&out, a, format); err != nil {
		if format == JSON || !strings.Contains(err.Error(), "expected another name") {
			t.Errorf("%q: cannot be written: %v", text, err)
		}
		return
	}
	back, err := ReadFrom(strings.NewReader(out.String()), "b."+format)
	if err != nil || len(back.Bids) != len(a.Bids) || len(back.Reserves) != len(a.Reserves) || back.SellAll != a.SellAll || back.Goods != a.Goods || back.Minimize != a.Minimize || !slices.Equal(back.Units, a.Units) {
		t.Fatalf("%q, written as %q: %v", text, out.String(), err)
	}
	prices := map[int64]string{}
	for _, b := range a.Bids {
		prices[b.Number] = a.FormatPrice(big.NewInt(b.Price))
	}
	for _, b := range back.Bids {
		if got := back.FormatPrice(big.NewInt(b.Price)); prices[b.Number] != got {
			t.Fatalf("%q: bid %d for %s, read again for %s", text, b.Number, prices[b.Number], got)
		}
	}
	res, err := Reference(a)
	again, failed := Reference(back)
	if (err == nil) != (failed == nil) || err == nil && res.Value != again.Value {
		t.Fatalf("%q: %v %v, read again %v %v", text, res, err, again, failed)
	}
}

func FuzzCSV(f *testing.F) {
	village, _ := village(f)
	f.Add(village)
	f.Add("count:;3\ndisposal:;no\ngoods;price\n0 1;.5e1\n2;-3\n")
	f.Add("goods\tprice\tbidder\txor\n a b\t7\t\"An\"\"na\"\tx y\nc\t1\tBob\t\n")
	f.Add("sep=;\r\nbid;bidder;price;goods;xor\r\n#1;Ida;14;mill;\"['x', 'y z']\"\r\n#N/A;;9;barn/mill;x\r\n")
	f.Add("#a sale\nprice,goods\n5,\"frozenset({'a', 'b'})\"\n6,\"[\"\"a\"\"]\"\n")
	f.Add("units:,3 2\nminimize:,yes\nprice,goods,quantities,bidder,xor\n6,a b,2 1,x,z\n5,a,,y,\n")
	f.Add("units:,3 2\nprice,a,b\n6,2,1\n5,true,0.0\n")
	f.Fuzz(func(t *testing.T, text string) { checkNamed(t, text, CSV) })
}

func FuzzJSON(f *testing.F) {
	_, villageJSON := village(f)
	f.Add(villageJSON)
	f.Add(`{"goods":2,"free_disposal":false,"bids":[{"price":-1e0,"goods":[1,0]}],"bidders":[{"name":"\u00e4","bids":[]}]}`)
	f.Add(`{"bids":[{"price":3,"goods":["a "],"bidder":"Ann"},{"price":-Infinity,"goods":["a",1.0]}]}`)
	f.Add(`{"units":{"a":3},"minimize":true,"bids":[{"price":6,"goods":{"a":2,"b":1}},{"price":5,"goods":["a"],"quantities":[3]}]}`)
	f.Add(`[{"bidder":1,"bids":[{"quantities":[{"generic definition":{"band":"A","y":[1]},"quantity":2}],"value":"3.0000"}]}]`)
	f.Add("{\"price\": 6, \"goods\": [\"a\"]}\n{\"price\": 5, \"goods\": [\"b\"]}\n")
	f.Fuzz(func(t *testing.T, text string) { checkNamed(t, text, JSON) })
}

func FuzzRead(f *testing.F) {
	f.Add(small)
	f.Add("goods 2\nbids 2\ndummy 1\n0\t5\t0\t2#\n1\t3e-3\t1\t-2#")
	f.Add("% x\ngoods 1\nbids 1\ndummy 0\n0 1e+06 0 #")
	f.Add("4 3\n20.75 1 2\n30 3 % x\n5.20 2 4\n")
	f.Add("4 1 #\n0\t20.75\t0\t9\t# % x\n")
	f.Add("goods 4\ndummy 1\nbids 1\n0 1 4 #\n")
	f.Fuzz(checkRead)
}

// A fixed number of random edits of good files, in every run of the tests.
func TestReadEdited(t *testing.T) {
	data, err := os.ReadFile("testdata/scheduling_g20_b100_s51.txt")
	if err != nil {
		t.Fatal(err)
	}
	village, villageJSON := village(t)
	rng := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"#", "\n", "%", "-", " ", "e", ".", "9", "99999999999999999999", "goods", "\x00", ""}
	for i := range 2000 {
		text := small
		switch {
		case i%20 == 0:
			text = string(data)
		case i%3 == 0:
			text = village
		case i%3 == 1:
			text = villageJSON
		}
		for range 1 + rng.IntN(4) {
			at := rng.IntN(len(text) + 1)
			to := min(len(text), at+rng.IntN(4))
			text = text[:at] + pieces[rng.IntN(len(pieces))] + text[to:]
		}
		checkRead(t, text)
	}
}
