package auction

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"coalesce/solvers/solve"
)

// Verify holds a result, the JSON object that MarshalJSON writes, against an auction:
// the bids are the auction's, no good is sold twice, and the prices add up, in exact
// decimals, to the stated value. Payments are computed again. That no other bids pay more has no proof in the
// result. Errors are those of an object that cannot be read.
func Verify(a *Auction, result []byte) (*solve.Verdict, error) {
	var x struct {
		solve.Report
		Solution    []int64     `json:"solution"`
		Payments    *payments   `json:"payments"`
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
		if err := r.repay(x.Payments, places); err != nil {
			v.Refute("payments: %w", err)
		} else {
			v.Note("payments: by the rule %s, computed again from the auction", x.Payments.Rule)
		}
	}
	v.Unchecked()
	return v, nil
}

// repay computes the stated payments of the winners again. Those in the core are held
// against what defines them: no coalition blocks, and the coalitions stated leave no
// lower or nearer payments.
func (res *Result) repay(stated *payments, places map[int64]int) error {
	if !slices.Contains(Rules(), string(stated.Rule)) {
		return fmt.Errorf("found the rule %.40q, expected one of %v", stated.Rule, Rules())
	}
	c := newCashier(res, Options{})
	rule := stated.Rule
	if rule == Core {
		rule = VCG
	}
	if err := c.pay(context.Background(), rule); err != nil {
		return err
	}
	c.Rule = stated.Rule
	if stated.Rule == Core {
		for _, numbers := range stated.Coalitions {
			var in []int
			for _, number := range numbers {
				i, ok := places[number]
				if !ok {
					return fmt.Errorf("found bid %d in a coalition, which the auction does not have", number)
				}
				in = append(in, i)
			}
			if err := res.Auction.Check(in); err != nil {
				return fmt.Errorf("a coalition: %w", err)
			}
			c.Coalitions = append(c.Coalitions, in)
		}
		if err := c.recore(); err != nil {
			return err
		}
	}
	res.Payments = &c.Payments
	found := res.payments()
	if stated.Revenue != found.Revenue {
		return fmt.Errorf("the stated revenue is %.60s, the winners pay %s by the coalitions stated and the rule %s", stated.Revenue, found.Revenue, stated.Rule)
	}
	for k, w := range found.Winners {
		if k >= len(stated.Winners) || !reflect.DeepEqual(stated.Winners[k], w) {
			return fmt.Errorf("the winner of the bids %v pays %s, which is not what is stated", w.Bids, w.Pays)
		}
	}
	if len(stated.Winners) != len(found.Winners) {
		return fmt.Errorf("found %d winners who pay, expected %d", len(stated.Winners), len(found.Winners))
	}
	return nil
}

// recore moves VCG's payments to the point of the coalitions and makes sure that no
// other coalition blocks.
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
		_, blocking, err := c.blocking(context.Background(), winners, nil)
		if err != nil {
			return err
		}
		if blocking != nil {
			return fmt.Errorf("a coalition blocks the payments that the stated coalitions ask for, with the bids %v", blocking)
		}
	}
	return nil
}
