package auction

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"

	"coalesce/solvers/auction/internal/replay"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/solve"
)

// Verify holds a result, the JSON object that MarshalJSON writes, against an auction:
// the bids are the auction's, no good is sold twice, and the prices add up, in exact
// decimals, to the stated value. Payments are computed again. Where the result has a proof
// (solve.Settings.Proof), the proof shows without a search that no other bids pay more; else a
// message says that the bound is not checked. Errors are those of an object that cannot be read.
func Verify(a *Auction, result []byte) (*solve.Verdict, error) {
	var x struct {
		solve.Report
		Solution    []int64             `json:"solution"`
		Payments    *payments           `json:"payments"`
		Certificate problem.Certificate `json:"certificate"`
		Proof       *replay.Proof       `json:"proof"`
	}
	if err := json.Unmarshal(result, &x); err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	v, err := solve.NewVerdict("auction", &x.Report)
	if err != nil {
		return nil, err
	}
	reduced, err := NewReduction(a)
	if err != nil {
		return nil, err
	}
	r := NewResult(a)
	r.Size["items"] = len(reduced.Items)
	if !v.SameSize(r.Size) {
		return v, nil
	}
	if x.Solution == nil {
		verifyUnsold(v, reduced.atomic, &x.Report, x.Proof)
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
	v.Recomputed(r.Value, true)
	if found := a.Certify(r.Winners, r.Kept); !reflect.DeepEqual(x.Certificate, found) {
		v.Refute("the certificate differs from that of the auction's bids, whose prices add up to %s", found.Sum)
	}
	if x.Payments != nil {
		if note, err := r.repay(x.Payments, places); err != nil {
			v.Refute("payments: %w", err)
		} else {
			v.Note("payments: by the rule %s, computed again from the auction%s", x.Payments.Rule, note)
		}
	}
	if x.Proof == nil {
		v.Unchecked()
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
func feasible(a *Auction) string {
	text := "feasible: no good is sold twice"
	if len(a.Limits) > 0 {
		text += ", no bidder wins more than it may"
	}
	if a.SellAll {
		text += ", every good is sold or kept"
	}
	return text
}

// repay computes the stated payments of the winners again. Payments in the core are checked by their
// definition: no coalition blocks them, and those stated rule out lower or nearer ones to VCG's.
func (res *Result) repay(stated *payments, places map[int64]int) (string, error) {
	if !slices.Contains(Rules(), string(stated.Rule)) {
		return "", fmt.Errorf("found the rule %.40q, expected one of %v", stated.Rule, Rules())
	}
	c, err := newCashier(res, Options{})
	if err != nil {
		return "", err
	}
	rule := stated.Rule
	if rule == Core {
		rule = VCG
	}
	if err := c.pay(context.Background(), rule); err != nil {
		return "", err
	}
	c.Rule = stated.Rule
	note := ""
	switch {
	case stated.Rule != Core:
	case c.atomic.GoodPrice > 0:
		return "", errors.New("found payments in the core of an auction without free disposal, where the rule says nothing")
	case len(res.Auction.BindingLimits()) > 0 || len(res.Auction.Reserves) > 0:
		note = "; that no lower ones are in the core is not checked"
		if err := c.hold(stated); err != nil {
			return "", err
		}
	default:
		if err := c.recall(stated, places); err != nil {
			return "", err
		}
	}
	res.Payments = c.told()
	found := res.payments()
	if stated.Revenue != found.Revenue {
		return "", fmt.Errorf("the stated revenue is %.60s, the winners pay %s by the coalitions stated and the rule %s", stated.Revenue, found.Revenue, stated.Rule)
	}
	for k, w := range found.Winners {
		if k >= len(stated.Winners) || !reflect.DeepEqual(stated.Winners[k], w) {
			return "", fmt.Errorf("the winner of the bids %v pays %s, which is not what is stated", w.Bids, w.Pays)
		}
	}
	if len(stated.Winners) != len(found.Winners) {
		return "", fmt.Errorf("found %d winners who pay, expected %d", len(stated.Winners), len(found.Winners))
	}
	return note, nil
}

// recall takes the stated coalitions and computes payments from them.
func (c *cashier) recall(stated *payments, places map[int64]int) error {
	for _, numbers := range stated.Coalitions {
		var in []int
		for _, number := range numbers {
			i, ok := places[number]
			if !ok {
				return fmt.Errorf("found bid %d in a coalition, which the auction does not have", number)
			}
			in = append(in, i)
		}
		if err := c.res.Auction.CheckWinners(in); err != nil {
			return fmt.Errorf("a coalition: %w", err)
		}
		c.Coalitions = append(c.Coalitions, in)
	}
	return c.recore()
}

// hold checks that the stated payments lie between those of VCG and the prices bid, and that no
// coalition blocks them. The stated coalitions list bids alone, without the winning bids and the
// reserves that make way for these.
func (c *cashier) hold(stated *payments) error {
	for k := range c.Winners {
		w := &c.Winners[k]
		if k >= len(stated.Winners) {
			return fmt.Errorf("found %d winners who pay, expected %d", len(stated.Winners), len(c.Winners))
		}
		pays, ok := problem.ParseAmount(stated.Winners[k].Pays)
		if !ok || pays.Scale > c.atomic.Scale {
			return fmt.Errorf("found the payment %.60s, expected decimals of the auction", stated.Winners[k].Pays)
		}
		units := pays.In(c.atomic.Scale)
		if !units.IsInt64() || units.Int64() < w.Pays || units.Int64() > w.Value {
			return fmt.Errorf("found the payment %.60s, expected %s at least and %s at most", stated.Winners[k].Pays, c.atomic.Price(big.NewInt(w.Pays)), c.atomic.Price(big.NewInt(w.Value)))
		}
		w.Pays = units.Int64()
	}
	order, members := c.partners()
	for _, part := range order {
		if err := c.unblocked(members[part]); err != nil {
			return err
		}
	}
	return nil
}

// unblocked is an error where a coalition blocks the payments of winners of a part.
func (c *cashier) unblocked(winners []int) error {
	_, blocking, err := c.blocking(context.Background(), winners, nil)
	if err == nil && blocking != nil {
		err = fmt.Errorf("a coalition blocks the payments that the stated coalitions ask for, with the bids %v", blocking)
	}
	return err
}

// recore moves VCG's payments to the point that the stated coalitions determine, and checks that no
// other coalition blocks it.
func (c *cashier) recore() error {
	order, members := c.partners()
	for _, part := range order {
		winners := members[part]
		point := c.vickrey(winners)
		base := make([]int64, len(winners))
		for n, k := range winners {
			base[n] = c.Winners[k].Pays
		}
		for _, in := range c.Coalitions {
			if len(in) > 0 && c.part[in[0]] == part {
				if asked, least := c.ask(in, winners, base); !point.Add(asked, least) {
					return fmt.Errorf("the bids %v pay more than those that win in their place", in)
				}
			}
		}
		for n, k := range winners {
			c.Winners[k].Pays = base[n] + point.Up(n)
		}
		if err := c.unblocked(winners); err != nil {
			return err
		}
	}
	return nil
}

// checkProof computes the bound of a proof again, and compares it with the stated bound.
func (res *Result) checkProof(v *solve.Verdict, x *replay.Proof, stated solve.Number) error {
	p, err := problem.NewAtomicBids(res.Auction, true)
	if err != nil {
		return err
	}
	ceiling, err := x.Bound(p.Bids, p.Places(res.Winners, res.Kept))
	if err != nil {
		return err
	}
	if ceiling == nil {
		v.Note("the proof leaves out parts, of which there is no bound")
		return nil
	}
	bound := p.OriginalPrice(ceiling)
	claimed, ok := stated.Rat()
	proven, _ := bound.Rat()
	switch {
	case !ok:
		return errors.New("found a proof of no bound")
	case proven.Cmp(claimed) <= 0:
		v.Note("bound: no bids are worth more than %s, by a tree of prices of cliques computed again", bound)
		v.BoundChecked = true
	default:
		v.Note("no bids are worth more than %s, by prices of cliques computed again; the stated bound %s comes from a search that did not end", bound, stated)
	}
	return nil
}
