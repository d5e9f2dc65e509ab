package problem

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"coalesce/solvers/formats"
)

// An Allocation is bids that win together, by place in Auction.Bids. A solve may begin with it (solve.Settings.Start).
type Allocation []int

// StartOf implements solve.Start.
func (Allocation) StartOf() string { return "auction" }

// KeptBeside returns reserves, by place, that the seller keeps beside winning bids: one after the other, each whose goods are all left.
func (a *Auction) KeptBeside(winners []int) (kept []int) {
	gone := map[int64]int64{}
	for _, w := range winners {
		for k, g := range a.Bids[w].Goods {
			gone[g] += a.Bids[w].Quantity(k)
		}
	}
	for k, r := range a.Reserves {
		if slices.ContainsFunc(r.Goods, func(g int64) bool { return gone[g] >= a.UnitsOf(g) }) {
			continue
		}
		kept = append(kept, k)
		for _, g := range r.Goods {
			gone[g]++
		}
	}
	return kept
}

// CheckFor returns an error unless the bids can win together in a checked auction.
func (x Allocation) CheckFor(a *Auction) error {
	for _, w := range x {
		if w < 0 || w >= len(a.Bids) {
			return fmt.Errorf("found the place %d, expected one of %s", w, formats.Count(len(a.Bids), "bid"))
		}
	}
	return a.CheckKept(x, a.KeptBeside(x))
}

// ParseAllocation reads winning bids of a checked auction: their numbers, between blanks, or the JSON object of a result. file is what errors
// call the text.
func ParseAllocation(text []byte, file string, a *Auction) (Allocation, error) {
	place := make(map[int64]int, len(a.Bids))
	for k, b := range a.Bids {
		place[b.Number] = k
	}
	winners := Allocation{}
	add := func(number int64, line int) error {
		k, ok := place[number]
		if !ok {
			return formats.Errorf(file, line, "found bid %d, which the auction lacks", number)
		}
		winners = append(winners, k)
		return nil
	}
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		var result struct {
			Solution []int64 `json:"solution"`
		}
		if err := formats.UnmarshalJSON(text, file, &result); err != nil {
			return nil, err
		}
		for _, number := range result.Solution {
			if err := add(number, 0); err != nil {
				return nil, err
			}
		}
	} else {
		line := 0
		for row := range strings.Lines(string(text)) {
			line++
			for word := range strings.FieldsSeq(row) {
				number, err := strconv.ParseInt(word, 10, 64)
				if err != nil {
					return nil, formats.Errorf(file, line, "found %s, expected the number of a bid, or a result's JSON object", formats.Quote(word))
				}
				if err := add(number, line); err != nil {
					return nil, err
				}
			}
		}
	}
	if err := winners.CheckFor(a); err != nil {
		return nil, formats.Errorf(file, 0, "%w", err)
	}
	slices.Sort(winners)
	return winners, nil
}
