package auction

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"strings"

	"coalesce/solvers/auction/internal/packing"
	"coalesce/solvers/auction/internal/payments"
	"coalesce/solvers/auction/internal/replay"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/solve"
)

// A Result is which bids win. Value is their revenue and the prices of the reserves that
// the seller keeps, an exact decimal.
type Result struct {
	solve.Report
	Auction *problem.Auction `json:"-"`
	Winners []int            `json:"-"` // by place in Bids, ascending
	Kept    []int            `json:"-"` // by place in Reserves, ascending
	Items   int              `json:"-"` // goods and dummies that several bids ask for: the agents of the reduced instance
	// splittings that the kernels of coalition structures evaluated
	Splittings float64 `json:"splittings"`
	// nodes of branch and cut, or of branch and bound
	Nodes int64 `json:"nodes"`
	// work of tables of bidders on a device, payments included
	Tables TableWork `json:"tables,omitzero" none:"no device made tables"`
	// work of devices beside branch and cut
	Search   SearchWork   `json:"search,omitzero" none:"no device searched"`
	LPBound  solve.Number `json:"-"` // of the first linear relaxation of branch and cut; empty: there was none
	Payments *Payments    `json:"-"` // nil: none were asked for, or they are not known
	// Best are the best allocations, the best first, the solution among them; nil: nobody asked for several.
	Best []RankedAllocation `json:"-"`
	// Complete says that Best has all allocations of the auction.
	Complete bool `json:"-"`

	rowProof *RowProof       // nil: there is none
	proof    *replay.Proof   // of branch and cut, for the atomic bids; nil: there is none
	prices   []packing.Price // of branch and cut, for the atomic bids and in the auction's units
}

// A Proof is the tree of branch and cut and its prices of cliques, which bound what bids are worth without a search.
type Proof = replay.Proof

// Proof shows the bound, or that no bids sell every good. Nil: the solve has no proof.
func (res *Result) Proof() *Proof { return res.proof }

// NewResult is a result with the facts of its auction and no answer.
func NewResult(a *problem.Auction) *Result {
	size := map[string]int{"goods": int(a.Goods), "bids": len(a.Bids), "dummies": int(a.Dummies)}
	return &Result{Auction: a, Report: solve.Report{Problem: "auction", Instance: a.Source, Size: size, Notes: a.Notes}}
}

// originalResult converts a result of atomic bids to one of the auction that they express. If no bids sell all goods that
// must be sold, the error wraps solve.ErrInfeasible. The result beside it is proven if it carries a proof.
func originalResult(p *problem.AtomicBids, atomic *Result) (*Result, error) {
	if p.Auction == p.Original {
		return atomic, nil
	}
	res := NewResult(p.Original)
	report := atomic.Report
	report.Problem, report.Instance, report.Size = res.Problem, res.Instance, res.Size
	report.Value, report.Bound, report.Gap, report.Proven = "", "", nil, false
	res.Report = report
	res.Items, res.Splittings, res.Nodes, res.prices, res.proof = atomic.Items, atomic.Splittings, atomic.Nodes, atomic.prices, atomic.proof
	res.Tables, res.Search = atomic.Tables, atomic.Search
	if atomic.LPBound != "" {
		res.LPBound = p.OriginalNumber(atomic.LPBound)
	}
	winners, kept := p.Originals(atomic.Winners)
	if p.Original.SellAll {
		switch sold := p.GoodsSold(atomic.Winners); {
		case sold == p.Goods:
		case atomic.Proven && atomic.Bound == atomic.Value:
			if res.proof != nil {
				res.proof.Won = atomic.Winners
			}
			if checkUnsellable(p, res.proof) == nil {
				res.ProveInfeasible()
			}
			return res, fmt.Errorf("%s: %w: no bids and reserves together have each of the %d goods once", p.Source, solve.ErrInfeasible, p.Goods)
		default:
			res.proof = nil
			return res, fmt.Errorf("%s: %w: %d of %d goods are sold at the end", p.Source, ErrUnsold, sold, p.Goods)
		}
	}
	if err := res.AcceptKept(winners, kept); err != nil {
		return nil, err
	}
	switch {
	case atomic.Proven && atomic.Bound == atomic.Value:
		res.SetProvenBound(res.Value)
	case atomic.Bound != "":
		if bound := p.OriginalNumber(atomic.Bound); bound == res.Value {
			res.SetProvenBound(bound)
		} else {
			res.SetBound(bound)
		}
	}
	return res, nil
}

// Accept sets the winners and their revenue, after checking that they can win
// together. Its errors wrap ErrCheck.
func (res *Result) Accept(winners []int) error { return res.AcceptKept(winners, nil) }

// AcceptKept is Accept with reserves, by place, that the seller keeps.
func (res *Result) AcceptKept(winners, kept []int) error {
	a := res.Auction
	if err := a.CheckKept(winners, kept); err != nil {
		return fmt.Errorf("%w: %w", problem.ErrCheck, err)
	}
	res.Winners, res.Kept = winners, kept
	res.Value = solve.Number(a.FormatPrice(a.Value(winners, kept)))
	return nil
}

// AcceptedBids are the winning bids.
func (res *Result) AcceptedBids() []problem.Bid {
	bids := make([]problem.Bid, len(res.Winners))
	for i, w := range res.Winners {
		bids[i] = res.Auction.Bids[w]
	}
	return bids
}

// String is one winning bid a line, its price and its goods without dummies, the
// reserves that the seller keeps, the value, and what is paid for the bids of each winner.
func (res *Result) String() string {
	var b strings.Builder
	a := res.Auction
	for _, bid := range res.AcceptedBids() {
		who := ""
		if bid.Bidder != "" {
			who = " of " + bid.Bidder
		}
		fmt.Fprintf(&b, "bid %d%s\t%s\t", bid.Number, who, a.FormatPrice(big.NewInt(bid.Price)))
		for _, g := range a.GoodNames(bid.Goods) {
			fmt.Fprintf(&b, " %s", g)
		}
		b.WriteByte('\n')
	}
	for _, k := range res.Kept {
		fmt.Fprintf(&b, "kept\t%s\t %s\n", a.FormatPrice(big.NewInt(a.Reserves[k].Price)), strings.Join(a.GoodNames(a.Reserves[k].Goods), " "))
	}
	what := "revenue"
	if a.Minimize {
		what = "cost"
	}
	fmt.Fprintf(&b, "%s\t%s\n", what, res.Value)
	for k, x := range res.Best {
		fmt.Fprintf(&b, "allocation %d\t%s\n", k+1, x.Value)
	}
	if res.Payments != nil {
		for _, w := range res.Payments.State(a).Winners {
			fmt.Fprintf(&b, "bids %v\tpay %s\n", w.Bids, w.Pays)
		}
	}
	return b.String()
}

// A decimal is a Number in a text: a JSON number may lose digits.
//
// JSON: string
type decimal string

// MarshalJSON writes a text, null where there is no value.
func (d decimal) MarshalJSON() ([]byte, error) {
	if d == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(d))
}

// stored are the parts of a Result that JSON has as they are.
type stored Result

// A written is the JSON object of a Result.
type written struct {
	*stored
	// revenue of the solution and the prices of the reserves that the seller keeps, an exact decimal
	Value decimal `json:"value" none:"there is no solution, or none was found"`
	// whether the auction buys: value and bound are costs
	Minimize bool `json:"minimize,omitempty" none:"it sells"`
	// units of each good
	Units []int64 `json:"units,omitempty" none:"there is one of each"`
	// value that no solution beats, an exact decimal
	Bound decimal `json:"bound" none:"nothing is known"`
	// numbers of the bids that win
	Solution []int64 `json:"solution" none:"no bids sell all goods that have to be sold"`
	// bound of the first linear relaxation of branch and cut, an exact decimal
	LPBound decimal `json:"lp_bound" none:"there was none"`
	// what winners pay
	Payments *payments.Stated `json:"payments" none:"nobody asked for payments, or they are not known"`
	// findings of the check of the answer
	Certificate *problem.Certificate `json:"certificate" none:"there is no solution"`
	// best allocations, the best first, the solution the first: none is missing between two of them, and those of equal value stand in any order
	Best []statedAllocation `json:"best,omitempty" none:"nobody asked for several"`
	// whether there are no allocations but those of `best`
	Complete *bool `json:"complete,omitempty" none:"nobody asked for several"`
	// tree of prices of goods, by which no allocation is missing in `best`
	RowProof *RowProof `json:"row_proof,omitempty" none:"nobody asked for it and for several allocations"`
	// tree of prices of cliques, from which bounds follow without a search
	Proof *replay.Proof `json:"proof,omitempty" none:"nobody asked for it and bids sell every good that has to be sold"`
}

// MarshalJSON writes the object of docs/result.schema.json.
func (res *Result) MarshalJSON() ([]byte, error) {
	if res.Auction == nil {
		return nil, solve.InvalidInput("Auction", "found nil, expected that of a solve")
	}
	var numbers []int64 // nil: there is no solution
	var found *problem.Certificate
	if res.Value != "" {
		if err := res.checkWinners(); err != nil {
			return nil, err
		}
		numbers = []int64{}
		for _, b := range res.AcceptedBids() {
			numbers = append(numbers, b.Number)
		}
		c := res.Auction.Certify(res.Winners, res.Kept)
		found = &c
	}
	kept := stored(*res)
	kept.Size = maps.Clone(kept.Size)
	kept.Size["items"] = res.Items
	w := written{stored: &kept, Minimize: res.Auction.Minimize, Units: res.Auction.Units, Value: decimal(res.Value), Bound: decimal(res.Bound), Solution: numbers, LPBound: decimal(res.LPBound),
		Payments: res.Payments.State(res.Auction), Certificate: found, Best: res.state(), RowProof: res.rowProof, Proof: res.proof}
	if res.Best != nil {
		w.Complete = &res.Complete
	}
	text, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	return text, nil
}
