package tabu

import (
	"cmp"
	"fmt"
	"slices"

	"coalesce/generated/qubo"
	"coalesce/solvers/qubo/internal/search"
)

// withRules are the parameters of qubo/bulk for n variables: the user's rules, and the defaults d
// where the user gave none.
func withRules(r search.Rules, d parameters, n int) parameters {
	r = r.ForSize(n)
	d.tenure, d.spread = r.TabuList(d.tenure, d.spread, min(n-1, qubo.BulkRing))
	if r.Round > 0 {
		d.flips = r.Round * n
	}
	d.stall, d.searches = cmp.Or(r.Stall, d.stall), cmp.Or(r.Searches, d.searches)
	d.pool, d.distance, d.restart = cmp.Or(r.Pool, d.pool), cmp.Or(r.Distance, d.distance), cmp.Or(r.Restart, d.restart)
	return d
}

// asRules returns the parameters as rules for n variables.
func (d parameters) asRules(n int) search.Rules {
	return search.Rules{Tenure: d.tenure, Spread: d.spread, Stall: d.stall, Round: d.flips / max(1, n), Searches: d.searches,
		Pool: d.pool, Distance: d.distance, Restart: d.restart}
}

// SetRules sets the rules of the timed searches. The numbers of searches and of elites are limited by
// the memory taken, and rounds keep their own length.
func (f *Flipping) SetRules(r search.Rules) error {
	b := f.on
	if err := r.Check(); err != nil {
		return err
	}
	if err := r.CheckFor("bulk", nil, b.p.N); err != nil {
		return err
	}
	rules := withRules(r, b.rules, b.p.N)
	switch {
	case r.Round != 0 || r.Restart != 0:
		return fmt.Errorf("rules round and restart are not for searches that are timed")
	case rules.searches > b.rules.searches || rules.pool > b.rules.pool:
		return fmt.Errorf("rules searches and pool are %d and %d, expected at most %d and %d", rules.searches, rules.pool, b.rules.searches, b.rules.pool)
	}
	b.rules, f.Searches = rules, rules.searches
	return nil
}

// operators are the operators of qubo/bulk, in the device's order.
var operators = [qubo.BulkOperatorOperators]string{"random", "relink", "cross", "mutate", "majority"}

// usedOperators are the numbers of the operators that are used.
func (b *Island) usedOperators() []int {
	var list []int
	for k, name := range operators {
		if !slices.Contains(b.Without, name) {
			list = append(list, k)
		}
	}
	if len(list) == 0 {
		list = append(list, 0)
	}
	return list
}

// Operators are the names of the operators, as Setup.Without leaves them out.
func Operators() []string { return operators[:] }
