package auction

import (
	"encoding/json"
	"fmt"
	"reflect"

	"coalesce/solvers/solve"
)

// Verify holds a result, the JSON object that MarshalJSON writes, against an auction:
// the bids are the auction's, no good is sold twice, and the prices add up, in exact
// decimals, to the stated value. That no other bids pay more has no proof in the
// result. Errors are those of an object that cannot be read.
func Verify(a *Auction, result []byte) (*solve.Verdict, error) {
	var x struct {
		solve.Report
		Solution    []int64     `json:"solution"`
		Payments    *Payments   `json:"payments"`
		Certificate certificate `json:"certificate"`
	}
	if err := json.Unmarshal(result, &x); err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	v, err := solve.NewVerdict("auction", &x.Report)
	if err != nil {
		return nil, err
	}
	r := NewResult(a)
	r.Size["items"] = len(NewReduction(a).Items)
	if !v.SameSize(r.Size) {
		return v, nil
	}
	if x.Solution == nil {
		v.Refute("the result has no solution: to accept no bid is one")
		return v, nil
	}
	places := make(map[int64]int, len(a.Bids))
	for k, b := range a.Bids {
		places[b.Number] = k
	}
	winners := make([]int, len(x.Solution))
	for k, number := range x.Solution {
		place, ok := places[number]
		if !ok {
			v.Refute("found bid %d accepted, which the auction does not have", number)
			return v, nil
		}
		winners[k] = place
	}
	if err := r.Accept(winners); err != nil {
		v.Refute("%w", err)
		return v, nil
	}
	v.Note("feasible: no good is sold twice")
	v.Recomputed(r.Value, true)
	if found := r.certificate(); !reflect.DeepEqual(x.Certificate, found) {
		v.Refute("the certificate differs from that of the auction's bids, whose prices add up to %s", found.Sum)
	}
	if x.Payments != nil {
		verifyPayments(v, r, x.Payments)
	}
	v.Unchecked()
	return v, nil
}
