package auction

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"coalesce/solvers/solve"
	"coalesce/solvers/solve/inputtest"
)

// A satsBid and a satsBidder are what JSON files of SATS have.
type satsBid struct {
	Licenses []int `json:"licenses"`
	Value    int   `json:"value"`
}

type satsBidder struct {
	Bidder int       `json:"bidder"`
	Bids   []satsBid `json:"bids"`
}

// bestOf is the most that bidders pay for goods that are not sold yet, a bid each, by trying all.
func bestOf(bidders []satsBidder, sold int) int {
	if len(bidders) == 0 {
		return 0
	}
	best := bestOf(bidders[1:], sold)
	for _, b := range bidders[0].Bids {
		set := 0
		for _, g := range b.Licenses {
			set |= 1 << g
		}
		if set&sold == 0 {
			best = max(best, b.Value+bestOf(bidders[1:], sold|set))
		}
	}
	return best
}

// Bids of SATS's JSON are alternatives of their bidder; a file of one bidder is a list of them.
func TestFilesOfSATS(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 5))
	for round := range inputtest.Draws(2000) {
		bidders := make([]satsBidder, 1+r.IntN(4))
		for k := range bidders {
			bidders[k] = satsBidder{k + 10, make([]satsBid, 1+r.IntN(4))}
			for i := range bidders[k].Bids {
				bidders[k].Bids[i] = satsBid{r.Perm(6)[:1+r.IntN(3)], 1 + r.IntN(30)}
			}
		}
		var file any = bidders
		if len(bidders) == 1 {
			file = bidders[0].Bids
		}
		text, err := json.MarshalIndent(file, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		a, err := ReadFrom(strings.NewReader(string(text)), "a.json")
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		want := bestOf(bidders, 0)
		res, err := Solve(context.Background(), a, Options{Settings: solve.Settings{Algorithm: Branch}})
		if err != nil || res.Value.String() != strconv.Itoa(want) || !res.Proven {
			t.Fatalf("auction %d: found %v, %v, expected %d: %s", round, res, err, want, text)
		}
	}
}

// What SATS's files do not say, and keys of two forms in one bid, are errors.
func TestFilesOfSATSThatAreNoAuctions(t *testing.T) {
	for text, want := range map[string]string{
		`[{"bidder": 1, "bids": [{"quantities": [{"good": "a"}], "value": 2}]}]`:                                              "found \"\", expected a number of units",
		`[{"bidder": 1, "bids": [{"quantities": [{"quantity": 0, "good": "a"}], "value": 2}]}]`:                               "found \"0\", expected a number of units, at least 1",
		`[{"bidder": 1, "bids": [{"quantities": [{"quantity": 1, "good": "a"}, 2], "value": 2}]}]`:                            "expected one of them",
		`[{"bidder": 1, "bids": [{"quantities": [{"quantity": 1, "goods": "a"}], "value": 2}]}]`:                              "found the key \"goods\" of a quantity",
		`[{"bidder": 1, "bids": [{"quantities": [1, 2], "goods": ["a"], "value": 2}]}]`:                                       "found the quantities of 2 goods, expected those of 1",
		`[{"bidder": 1, "bids": [{"quantities": [{"quantity": 1, "good": "a"}, {"quantity": 2, "good": "a"}], "value": 2}]}]`: "found good \"a\" twice",
		`{"units": [1], "bids": [{"goods": {"a": 1, "b": 2}, "price": 2}]}`:                                                   "found the units of 1 good, expected those of 2",
		`{"units": {"c": 1}, "bids": [{"goods": {"a": 1, "b": 2}, "price": 2}]}`:                                              "found good \"c\", expected one of the 2",
		`{"units": {"a": -1}, "bids": [{"goods": {"a": 1, "b": 2}, "price": 2}]}`:                                             "found \"-1\", expected a number of units, at least 0",
		`[{"bids": [{"licenses": [1], "value": 2}]}]`:                                                                         "expected beside it the bidder alone",
		`[{"bidder": 1, "bids": [{"licenses": [1], "value": 2, "price": 3}]}]`:                                                "has another of the same meaning",
		`[{"bidder": 1, "bids": [{"licenses": [1], "goods": [2], "value": 2}]}]`:                                              "has another of the same meaning",
		`[{"bidder": 1, "bids": [{"bidder": 2, "licenses": [1], "value": 2}]}]`:                                               "found a bid of bidder",
	} {
		if _, err := ReadFrom(strings.NewReader(text), "a.json"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, expected %q", text, err, want)
		}
	}
}

// A satsQuantity and a satsOffer are what JSON files of XOR-Q have.
type satsQuantity struct {
	Definition map[string]string `json:"generic definition"`
	Quantity   int               `json:"quantity"`
}

type satsOffer struct {
	Quantities []satsQuantity `json:"quantities"`
	Value      string         `json:"value"`
}

// Bids of SATS's XOR-Q files are alternatives for so many units of goods, of which the option says how many there are.
func TestFilesOfXORQ(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 9))
	for round := range inputtest.Draws(2000) {
		type bidder struct {
			Bidder int         `json:"bidder"`
			Bids   []satsOffer `json:"bids"`
		}
		file := make([]bidder, 1+r.IntN(3))
		units := 1 + r.IntN(5)
		for k := range file {
			file[k].Bidder = k
			for range 1 + r.IntN(3) {
				o := satsOffer{Value: fmt.Sprintf("%d.0000", 1+r.IntN(30))}
				for _, g := range r.Perm(3)[:1+r.IntN(3)] {
					o.Quantities = append(o.Quantities, satsQuantity{map[string]string{"band": "ABC"[g : g+1]}, 1 + r.IntN(4)})
				}
				file[k].Bids = append(file[k].Bids, o)
			}
		}
		text, err := json.MarshalIndent(file, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		a, err := ReadFrom(strings.NewReader(string(text)), "a.json")
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var best func(k int, left map[string]int) int
		best = func(k int, left map[string]int) int {
			if k == len(file) {
				return 0
			}
			most := best(k+1, left)
			for _, o := range file[k].Bids {
				next, ok := maps.Clone(left), true
				for _, q := range o.Quantities {
					next[q.Definition["band"]] -= q.Quantity
					ok = ok && next[q.Definition["band"]] >= 0
				}
				if ok {
					value, _ := strconv.ParseFloat(o.Value, 64)
					most = max(most, int(value)+best(k+1, next))
				}
			}
			return most
		}
		want := best(0, map[string]int{"A": units, "B": units, "C": units})
		res, err := Solve(context.Background(), a, Options{Settings: solve.Settings{Algorithm: Branch}, Units: strconv.Itoa(units)})
		if err != nil || res.Value.String() != strconv.Itoa(want) || !res.Proven {
			t.Fatalf("auction %d: found %v, %v, expected %d of %d units: %s", round, res, err, want, units, text)
		}
	}
}
