package auction

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"coalesce/solvers/solve"
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
	for round := range auctions(2000) {
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
		`[{"bidder": 1, "bids": [{"quantities": [], "value": 2}]}]`:              "found quantities of goods, as in XOR-Q files of SATS",
		`[{"bids": [{"licenses": [1], "value": 2}]}]`:                            "expected beside it the bidder alone",
		`[{"bidder": 1, "bids": [{"licenses": [1], "value": 2, "price": 3}]}]`:   "has another of the same meaning",
		`[{"bidder": 1, "bids": [{"licenses": [1], "goods": [2], "value": 2}]}]`: "has another of the same meaning",
		`[{"bidder": 1, "bids": [{"bidder": 2, "licenses": [1], "value": 2}]}]`:  "found a bid of bidder",
	} {
		if _, err := ReadFrom(strings.NewReader(text), "a.json"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, expected %q", text, err, want)
		}
	}
}
