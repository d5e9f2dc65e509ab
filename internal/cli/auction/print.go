package auction

import (
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"coalesce/internal/picture"
	"coalesce/internal/ui"
	"coalesce/solvers/auction"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/solve"
)

// describeInstance describes the auction of an answer.
func describeInstance(r *auction.Result) string {
	a := r.Auction
	return fmt.Sprintf("%s (%s, %s, %s)", a.Source, ui.Count(int(a.Goods), "good"), ui.Count(len(a.Bids), "bid"), ui.Count(r.Items, "contested item"))
}

// showIncumbent shows how a solve of a file stands.
func showIncumbent(p *ui.Progress, path string) func(solve.Incumbent) {
	return func(now solve.Incumbent) {
		switch {
		case now.Value == "" && now.Bound == "":
			p.SetShare(now.Share, "solving %s: %.0f %% done", path, 100*now.Share)
		default:
			p.Set("solving %s: %s, after %s", path, now, ui.Count(int(now.Work), "node"))
		}
	}
}

// describeCheck describes the check that an answer has passed.
func describeCheck(r *auction.Result) string {
	text := "no good is sold twice"
	switch {
	case r.Auction.Minimize && r.Auction.SellAll:
		text = "all units of each good are bought and no more"
	case r.Auction.Minimize:
		text = "all units of each good are bought"
	case r.Auction.IsMultiUnit():
		text = "no more units of a good are sold than there are"
	case r.Auction.SellAll:
		text = "every good is sold or kept once"
	}
	if len(r.Auction.Limits) > 0 {
		text += ", no bidder wins more bids than it may"
	}
	return fmt.Sprintf("%s and the prices add up to %s", text, r.Value)
}

// Picture draws the goods of the winning bids, and of all bids where they are few.
func Picture(r *auction.Result) (*picture.Drawing, error) {
	const few = 24
	a, shown := r.Auction, r.Winners
	if len(a.Bids) <= few {
		shown = make([]int, len(a.Bids))
		for k := range shown {
			shown[k] = k
		}
	}
	columns := make([]string, a.Goods)
	for g := range columns {
		columns[g] = a.GoodName(int64(g))
	}
	rows := make([]string, len(shown))
	var cells []picture.Cell
	for row, k := range shown {
		b := a.Bids[k]
		rows[row] = strings.TrimSpace(fmt.Sprintf("%s bid %d: %s", b.Bidder, b.Number, a.FormatPrice(big.NewInt(b.Price))))
		for _, g := range b.Goods {
			if !a.IsDummy(g) {
				cells = append(cells, picture.Cell{Row: row, Column: int(g), Chosen: slices.Contains(r.Winners, k)})
			}
		}
	}
	return picture.Grid(fmt.Sprintf("%s: winners in colour, worth %s", r.Instance, r.Value), rows, columns, cells)
}

// writeWinners writes the winning bids, the reserves that are kept, and what winners pay, as
// tables for people.
func writeWinners(w io.Writer, r *auction.Result) error {
	a := r.Auction
	named := false
	for _, b := range a.Bids {
		named = named || b.Bidder != ""
	}
	var t ui.Table
	t.AlignRight(0, 1)
	row := func(price, bid, bidder, goods string) {
		if named {
			t.Row(price, bid, bidder, goods)
		} else {
			t.Row(price, bid, goods)
		}
	}
	goods := func(b problem.Bid) string {
		var names []string
		for k, g := range b.Goods {
			switch n := b.Quantity(k); {
			case a.IsDummy(g):
			case n > 1:
				names = append(names, fmt.Sprintf("%d of %s", n, a.GoodName(g)))
			default:
				names = append(names, a.GoodName(g))
			}
		}
		if b.Quantities != nil {
			return strings.Join(names, ", ")
		}
		if a.Names != nil {
			return strings.Join(names, ", ")
		}
		return strings.Join(names, " ")
	}
	row("price", "bid", "bidder", "goods")
	for _, b := range r.AcceptedBids() {
		row(a.FormatPrice(big.NewInt(b.Price)), fmt.Sprint(b.Number), b.Bidder, goods(b))
	}
	for _, k := range r.Kept {
		row(a.FormatPrice(big.NewInt(a.Reserves[k].Price)), "", "kept, a reserve", goods(problem.Bid{Goods: a.Reserves[k].Goods}))
	}
	sum := fmt.Sprintf("revenue of %s", ui.Count(len(r.Winners), "bid"))
	if len(r.Kept) > 0 {
		sum = fmt.Sprintf("revenue %s of %s, and %s kept", a.FormatPrice(a.Revenue(r.Winners)), ui.Count(len(r.Winners), "bid"), ui.Count(len(r.Kept), "reserve"))
	}
	if a.Minimize {
		sum = fmt.Sprintf("cost of %s", ui.Count(len(r.Winners), "bid"))
	}
	t.Row(r.Value.String(), "", sum)
	if err := t.Write(w); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if len(r.Best) > 0 {
		if err := writeRanking(w, r); err != nil {
			return err
		}
	}
	if r.Payments == nil {
		return nil
	}
	return writePayments(w, r, named)
}

// writeRanking writes the best allocations, one a line.
func writeRanking(w io.Writer, r *auction.Result) error {
	var t ui.Table
	t.AlignRight(0, 1)
	t.Row("rank", "value", "bids")
	for k, x := range r.Best {
		var numbers []string
		for _, i := range x.Winners {
			numbers = append(numbers, fmt.Sprint(r.Auction.Bids[i].Number))
		}
		if len(x.Kept) > 0 {
			numbers = append(numbers, "and "+ui.Count(len(x.Kept), "reserve")+" kept")
		}
		t.Row(fmt.Sprint(k+1), x.Value.String(), strings.Join(numbers, " "))
	}
	if r.Complete {
		t.Row("", "", "there are no others")
	}
	if err := t.Write(w); err != nil {
		return err
	}
	fmt.Fprintln(w)
	return nil
}

// writePayments writes the payment of each winner.
func writePayments(w io.Writer, r *auction.Result, named bool) error {
	a, p := r.Auction, r.Payments
	var t ui.Table
	t.AlignRight(0)
	header := []string{"pays", "bids"}
	if named {
		header = []string{"pays", "bidder", "bids"}
	} else {
		t.AlignRight(0, 1)
	}
	t.Row(header...)
	for _, x := range p.Winners {
		numbers := make([]string, len(x.Bids))
		for k, i := range x.Bids {
			numbers[k] = fmt.Sprint(a.Bids[i].Number)
		}
		row := []string{a.FormatPrice(big.NewInt(x.Pays)), strings.Join(numbers, " ")}
		if named {
			row = []string{row[0], x.Bidder, row[1]}
		}
		t.Row(row...)
	}
	t.Row(a.FormatPrice(p.Revenue()), "", fmt.Sprintf("paid by %s, rule %s", ui.Count(len(p.Winners), "winner"), p.Rule))
	if err := t.Write(w); err != nil {
		return err
	}
	fmt.Fprintln(w)
	return nil
}
