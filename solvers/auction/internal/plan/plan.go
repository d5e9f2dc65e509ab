// Package plan decides with which algorithm a solve begins: the one that was asked for, else the one that
// measurements of auctions like this one favour, else the predicted one. The tuner compares the algorithms
// as one subject.
package plan

import (
	"fmt"

	"coalesce/autotune/tuned"
	genauction "coalesce/generated/auction"
	"coalesce/solvers/algorithms"
	"coalesce/solvers/auction/internal/bidders"
	"coalesce/solvers/auction/internal/packing"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/solve"
)

// A Plan says with which algorithm a solve begins.
type Plan struct {
	Algorithm string             // Branch, Bidders, Coalitions, or the asked-for method of coalition structures; empty: that which can take the items
	Reason    string             // for Branch
	Tables    *bidders.TablePlan // of Bidders; nil: the solve begins with another algorithm
	Asked     bool               // for Bidders: no other follows where its tables have no room
	choice    tuned.Choice       // none where an algorithm or a variant is asked for, or on several devices, for which nothing is measured
}

// New makes the plan of a solve of atomic bids that compete for so many items. Errors are those of settings,
// and of tables that were asked for.
func New(o *solve.Settings, p *problem.AtomicBids, items int) (*Plan, error) {
	x := &Plan{Algorithm: o.Algorithm, Reason: "asked for"}
	var err error
	x.Asked = o.Algorithm == Bidders || o.Algorithm == "" && genauction.Bidders.Variant(o.Variant) != nil
	switch {
	case x.Asked:
		x.Tables, err = bidders.NewTablePlan(p, *o)
	case o.Algorithm == "" && o.Variant == "" && o.RankCount() == 1 && len(o.Devices) <= 1:
		err = x.choose(o, p, items)
	case o.Algorithm == "" && o.Variant == "" && items > MaxItems:
		x.Algorithm, x.Reason = Branch, tooManyItems(items)
	}
	if err != nil {
		return nil, err
	}
	return x, nil
}

// choose plans the algorithm that is best by measurements or by prediction.
func (x *Plan) choose(o *solve.Settings, p *problem.AtomicBids, items int) error {
	tables, refused := bidders.NewTablePlan(p, *o)
	var lists *bidders.Problem
	if refused == nil {
		lists = tables.Problem
	}
	_, large := packing.LiveBids(len(p.Bids), func(j int) int64 { return p.Bids[j].Price })
	var err error
	if x.choice, err = Choose(o, items, len(p.Bids), lists, refused, large); err != nil {
		return err
	}
	if x.Algorithm, x.Reason = AlgorithmName(x.choice.Variant), x.choice.Reason(); x.Algorithm == Bidders {
		x.Tables = tables
	}
	o.Logf("auction/%s begins: %s", x.Algorithm, x.Reason)
	return nil
}

// AfterTables plans the algorithm for items whose tables have no room.
func (x *Plan) AfterTables(items int) {
	if x.Tables, x.Algorithm = nil, Coalitions; items > MaxItems {
		x.Algorithm, x.Reason = Branch, tooManyItems(items)
	}
}

func tooManyItems(items int) string {
	return fmt.Sprintf("%d items are more than the %d that coalition structures take", items, MaxItems)
}

// WithChoice puts the reason of a measured choice among the algorithms before that of a variant.
func (x *Plan) WithChoice(reason string) string {
	return algorithms.PrefixReason(Table, x.choice, reason)
}
