package payments

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"

	"coalesce/solvers/auction/problem"
	"coalesce/solvers/solve"
)

// Check computes the stated payments of an outcome again. Payments in the core are checked by their
// definition: no coalition blocks them, and those stated rule out lower or nearer ones to VCG's. The places
// of bids are by their numbers. note is empty, or says what is not checked.
func Check(of Outcome, stated *Stated, places map[int64]int) (note string, err error) {
	if !slices.Contains(Rules(), string(stated.Rule)) {
		return "", fmt.Errorf("found the rule %.40q, expected one of %v", stated.Rule, Rules())
	}
	c, err := New(of, solve.Settings{})
	if err != nil {
		return "", err
	}
	rule := stated.Rule
	if rule == Core {
		rule = VCG
	}
	if err := c.Compute(context.Background(), rule); err != nil {
		return "", err
	}
	c.Rule = stated.Rule
	switch {
	case stated.Rule != Core:
	case c.atomic.GoodPrice > 0:
		return "", errors.New("found payments in the core of an auction without free disposal, where the rule says nothing")
	case len(of.Auction.BindingLimits()) > 0 || len(of.Auction.Reserves) > 0:
		note = "; that no lower ones are in the core is not checked"
		if err := c.checkStated(stated); err != nil {
			return "", err
		}
	default:
		if err := c.computeStatedCore(stated, places); err != nil {
			return "", err
		}
	}
	found := c.Result().State(of.Auction)
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

// computeStatedCore takes the stated coalitions and computes payments from them.
func (c *Calculator) computeStatedCore(stated *Stated, places map[int64]int) error {
	for _, numbers := range stated.Coalitions {
		var in []int
		for _, number := range numbers {
			i, ok := places[number]
			if !ok {
				return fmt.Errorf("found bid %d in a coalition, which the auction does not have", number)
			}
			in = append(in, i)
		}
		if err := c.atomic.Original.CheckWinners(in); err != nil {
			return fmt.Errorf("a coalition: %w", err)
		}
		c.Coalitions = append(c.Coalitions, in)
	}
	return c.computeCore()
}

// checkStated checks that the stated payments lie between those of VCG and the prices bid, and that no
// coalition blocks them. The stated coalitions list bids alone, without the winning bids and the
// reserves that make way for these.
func (c *Calculator) checkStated(stated *Stated) error {
	for k := range c.Winners {
		w := &c.Winners[k]
		if k >= len(stated.Winners) {
			return fmt.Errorf("found %d winners who pay, expected %d", len(stated.Winners), len(c.Winners))
		}
		pays, ok := problem.ParseAmount(stated.Winners[k].Pays)
		if !ok || pays.Scale > c.atomic.Scale {
			return fmt.Errorf("found the payment %.60s, expected decimals of the auction", stated.Winners[k].Pays)
		}
		units := pays.InUnits(c.atomic.Scale)
		if !units.IsInt64() || units.Int64() < w.Pays || units.Int64() > w.Value {
			return fmt.Errorf("found the payment %.60s, expected %s at least and %s at most", stated.Winners[k].Pays, c.atomic.FormatPrice(big.NewInt(w.Pays)), c.atomic.FormatPrice(big.NewInt(w.Value)))
		}
		w.Pays = units.Int64()
	}
	order, members := c.winnersByPart()
	for _, part := range order {
		if err := c.checkUnblocked(members[part]); err != nil {
			return err
		}
	}
	return nil
}

// checkUnblocked returns an error where a coalition blocks the payments of winners of a part.
func (c *Calculator) checkUnblocked(winners []int) error {
	_, blocking, err := c.blockingCoalition(context.Background(), winners, nil)
	if err == nil && blocking != nil {
		err = fmt.Errorf("a coalition blocks the payments that the stated coalitions ask for, with the bids %v", blocking)
	}
	return err
}

// computeCore moves VCG's payments to the point that the stated coalitions determine, and checks that no
// other coalition blocks it.
func (c *Calculator) computeCore() error {
	order, members := c.winnersByPart()
	for _, part := range order {
		winners := members[part]
		point := c.vcgPoint(winners)
		base := make([]int64, len(winners))
		for n, k := range winners {
			base[n] = c.Winners[k].Pays
		}
		for _, in := range c.Coalitions {
			if len(in) > 0 && c.part[in[0]] == part {
				if asked, least := c.coreConstraint(in, winners, base); !point.Add(asked, least) {
					return fmt.Errorf("the bids %v pay more than those that win in their place", in)
				}
			}
		}
		for n, k := range winners {
			c.Winners[k].Pays = base[n] + point.Ceil(n)
		}
		if err := c.checkUnblocked(winners); err != nil {
			return err
		}
	}
	return nil
}
