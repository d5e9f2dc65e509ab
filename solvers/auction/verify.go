package auction

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"coalesce/solvers/auction/internal/integer"
	"coalesce/solvers/auction/internal/payments"
	"coalesce/solvers/auction/internal/replay"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/solve"
)

// Verify holds a result, the JSON object that MarshalJSON writes, against an auction:
// the bids are the auction's, no good is sold twice, and the prices add up, in exact
// decimals, to the stated value. Payments are computed again. Where the result has a proof
// (Options.Proof), the proof shows without a search that no other bids pay more; else a
// message says that the bound is not checked. Errors are those of an object that cannot be read.
func Verify(a *problem.Auction, result []byte) (*solve.Verdict, error) {
	var x struct {
		solve.Report
		Solution    []int64             `json:"solution"`
		Payments    *payments.Stated    `json:"payments"`
		Certificate problem.Certificate `json:"certificate"`
		Proof       *replay.Proof       `json:"proof"`
		Best        []statedAllocation  `json:"best"`
		Complete    *bool               `json:"complete"`
		Minimize    bool                `json:"minimize"`
		Units       []int64             `json:"units"`
		Ranking     *RowProof           `json:"row_proof"`
	}
	if err := json.Unmarshal(result, &x); err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	v, err := solve.NewVerdict("auction", &x.Report)
	if err != nil {
		return nil, err
	}
	if a, err = statedAuction(v, a, x.Minimize, x.Units); err != nil || len(v.Failures) > 0 {
		return v, err
	}
	r := NewResult(a)
	var atomic *problem.AtomicBids
	if a.IsPacking() {
		reduced, err := NewReduction(a)
		if err != nil {
			return nil, err
		}
		atomic, r.Items = reduced.atomic, len(reduced.Items)
	} else {
		r.Items = len(integer.New(a).Rows)
	}
	r.Size["items"] = r.Items
	if !v.SameSize(r.Size) {
		return v, nil
	}
	switch {
	case x.Solution == nil && atomic == nil:
		r.verifyInfeasible(v, &x.Report, x.Ranking)
		return v, nil
	case x.Solution == nil:
		verifyUnsold(v, atomic, &x.Report, x.Proof)
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
	kept, err := a.FindReserves(x.Certificate.Kept)
	if err == nil {
		err = r.AcceptKept(winners, kept)
	}
	if err != nil {
		v.Refute("%w", err)
		return v, nil
	}
	v.Note("%s", feasible(a))
	v.CheckValue(r.Value, !a.Minimize)
	if found := a.Certify(r.Winners, r.Kept); !reflect.DeepEqual(x.Certificate, found) {
		v.Refute("the certificate differs from that of the auction's bids, whose prices add up to %s", found.Sum)
	}
	if x.Payments != nil {
		if note, err := payments.Check(r.paymentOutcome(), x.Payments, places); err != nil {
			v.Refute("payments: %w", err)
		} else {
			v.Note("payments: by the rule %s, computed again from the auction%s", x.Payments.Rule, note)
		}
	}
	if atomic == nil && x.Best == nil && x.Ranking != nil {
		r.verifyRows(v, &x.Report, x.Ranking)
		return v, nil
	}
	if r.verifyRanking(v, x.Best, x.Complete, x.Ranking, places) && atomic == nil && x.Bound == r.Value {
		v.BoundChecked = true
		return v, nil
	}
	if x.Proof == nil {
		v.NoteUnchecked()
	} else if err := r.checkProof(v, x.Proof, x.Bound); err != nil {
		v.Refute("the proof: %w", err)
	}
	return v, nil
}

// verifyUnsold holds a result without a solution against an auction: the proof has to show that no bids
// sell all goods, where the result says so.
func verifyUnsold(v *solve.Verdict, p *problem.AtomicBids, stated *solve.Report, x *replay.Proof) {
	switch err := checkUnsellable(p, x); {
	case stated.Value != "":
		v.Refute("the result has a value and no solution")
	case p.AllSoldAbove == nil:
		v.Refute("the result has no solution: %w", err)
	case !stated.Proven && x == nil:
		v.Note("the result has no solution, and does not say that there is none")
	case err == nil && !stated.Proven:
		v.Refute("the result does not say that no bids sell every good, which its proof shows")
	case err != nil:
		v.Refute("the proof that no bids sell every good: %w", err)
	default:
		v.BoundChecked = true
		v.Note("no bids and reserves together have each of the %d goods once, by a tree of prices of cliques computed again", p.Goods)
	}
}

// checkUnsellable returns an error unless a proof shows that no atomic bids sell every good: none are worth
// as much as bids that do would be.
func checkUnsellable(p *problem.AtomicBids, x *replay.Proof) error {
	switch {
	case p.AllSoldAbove == nil:
		return errors.New("goods may stay unsold: to accept no bid is a solution")
	case x == nil:
		return errors.New("found none")
	}
	ceiling, err := x.Bound(p.Bids, x.Won)
	if err != nil {
		return err
	}
	if ceiling == nil || ceiling.Cmp(p.AllSoldAbove) > 0 {
		return errors.New("by its prices of cliques bids may sell every good")
	}
	return nil
}

// feasible is the message for winning bids that can win together.
func feasible(a *problem.Auction) string {
	text := "feasible: no good is sold twice"
	switch {
	case a.Minimize && a.SellAll:
		text = "feasible: the bids have all units of each good and no more"
	case a.Minimize:
		text = "feasible: the bids have all units of each good"
	case a.IsMultiUnit():
		text = "feasible: no more units of a good are sold than there are"
	}
	if len(a.Limits) > 0 {
		text += ", no bidder wins more than it may"
	}
	if a.SellAll && !a.Minimize {
		text += ", every good is sold or kept"
	}
	return text
}

// ProvenBound is the bound that a proof gives beside winning bids and kept reserves, by their places: computed again, without a search. It is empty where the
// proof leaves out parts. Errors are those of the proof.
func ProvenBound(a *problem.Auction, winners, kept []int, proof *Proof) (solve.Number, error) {
	p, err := problem.NewAtomicBids(a, true)
	if err != nil {
		return "", err
	}
	ceiling, err := proof.Bound(p.Bids, p.Places(winners, kept))
	if err != nil || ceiling == nil {
		return "", err
	}
	return p.OriginalPrice(ceiling), nil
}

// CheckUnsellable returns an error unless a proof shows that no bids sell every good of an auction without free disposal.
func CheckUnsellable(a *problem.Auction, proof *Proof) error {
	p, err := problem.NewAtomicBids(a, true)
	if err != nil {
		return err
	}
	return checkUnsellable(p, proof)
}

// checkProof computes the bound of a proof again, and compares it with the stated bound.
func (res *Result) checkProof(v *solve.Verdict, x *replay.Proof, stated solve.Number) error {
	bound, err := ProvenBound(res.Auction, res.Winners, res.Kept, x)
	if err != nil {
		return err
	}
	if bound == "" {
		v.Note("the proof leaves out parts, of which there is no bound")
		return nil
	}
	claimed, ok := stated.Rat()
	proven, _ := bound.Rat()
	switch {
	case !ok:
		return errors.New("found a proof of no bound")
	case proven.Cmp(claimed) == 0 || (proven.Cmp(claimed) < 0) != res.Auction.Minimize:
		v.Note("bound: no bids are better than %s, by a tree of prices of cliques computed again", bound)
		v.BoundChecked = true
	default:
		v.Note("no bids are better than %s, by prices of cliques computed again; the stated bound %s comes from a search that did not end", bound, stated)
	}
	return nil
}
