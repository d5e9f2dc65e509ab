package qubo

import (
	"cmp"
	"fmt"
	"slices"
)

// bulkRulesBy are the rules of qubo/bulk for n variables, whose defaults are d.
func bulkRulesBy(r Rules, d bulkRules, n int) bulkRules {
	r = r.within(n)
	d.tenure, d.spread = r.tabu(d.tenure, d.spread, min(n-1, ringLimit))
	if r.Round > 0 {
		d.flips = r.Round * n
	}
	d.stall, d.searches = cmp.Or(r.Stall, d.stall), cmp.Or(r.Searches, d.searches)
	d.pool, d.distance, d.restart = cmp.Or(r.Pool, d.pool), cmp.Or(r.Distance, d.distance), cmp.Or(r.Restart, d.restart)
	return d
}

// used are rules of n variables as they are given.
func (d bulkRules) used(n int) Rules {
	return Rules{Tenure: d.tenure, Spread: d.spread, Stall: d.stall, Round: d.flips / max(1, n), Searches: d.searches,
		Pool: d.pool, Distance: d.distance, Restart: d.restart}
}

// Rule sets rules of the searches that are timed, no more of them and no more
// elites than there is memory for. Rounds are of their own length.
func (f *Flipping) Rule(r Rules) error {
	b := f.on
	if err := r.check(); err != nil {
		return err
	}
	if err := r.checkFor("bulk", nil, b.p.n); err != nil {
		return err
	}
	rules := bulkRulesBy(r, b.rules, b.p.n)
	switch {
	case r.Round != 0 || r.Restart != 0:
		return fmt.Errorf("rules round and restart are not for searches that are timed")
	case rules.searches > b.rules.searches || rules.pool > b.rules.pool:
		return fmt.Errorf("rules searches and pool are %d and %d, expected at most %d and %d", rules.searches, rules.pool, b.rules.searches, b.rules.pool)
	}
	b.rules, f.Searches = rules, rules.searches
	return nil
}

// bulkOperatorNames are the operators of qubo/bulk, in the device's order.
var bulkOperatorNames = [bulkOperators]string{"random", "relink", "cross", "mutate", "majority"}

// operators are those that are not left out.
func (b *bulk) operators() []int {
	var list []int
	for k, name := range bulkOperatorNames {
		if !slices.Contains(b.without, name) {
			list = append(list, k)
		}
	}
	if len(list) == 0 {
		list = append(list, 0)
	}
	return list
}

// operatorNames are the names of the operators, as Setup.Without leaves them out.
func operatorNames() []string { return bulkOperatorNames[:] }
