package formats

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"coalesce/solvers/auction/problem"
	"coalesce/solvers/formats/names"
)

// Write writes an auction in a format, one of Names, and returns texts about parts that the format
// cannot hold. It is an error if such a part changes which bids can win: CATS holds no limits, no
// reserves and no goods that have to be sold.
func Write(w io.Writer, a *problem.Auction, format string) (notes []string, err error) {
	if err := CheckName(format); err != nil {
		return nil, err
	}
	if err := a.Check(); err != nil {
		return nil, err
	}
	b := bufio.NewWriter(w)
	switch format {
	case CATS:
		notes, err = writeCATS(b, a)
	case CSV, JSON:
		var s *namedAuction
		if s, err = nameAuction(a); err != nil {
			return nil, err
		}
		if format == CSV {
			err = s.writeCSV(b)
		} else {
			err = s.writeJSON(b)
		}
	}
	if err != nil {
		return nil, err
	}
	return notes, b.Flush()
}

// writeCATS numbers dummies anew where they are not those of the header, in the order of
// their bids.
func writeCATS(w *bufio.Writer, a *problem.Auction) ([]string, error) {
	if len(a.BindingLimits()) > 0 || len(a.Reserves) > 0 || a.SellAll || a.Minimize || a.IsMultiUnit() {
		return nil, fmt.Errorf("found an auction with limits of bidders, reserve prices, several units of goods, or goods that have to be sold or bought, expected none of these: CATS has no such things, CSV and JSON do")
	}
	dummies := a.Dummies
	renumber := slices.ContainsFunc(a.Bids, func(b problem.Bid) bool {
		return len(b.Goods) > 0 && (b.Goods[0] < 0 || b.Goods[len(b.Goods)-1] >= a.Goods+a.Dummies)
	})
	number := map[int64]int64{}
	written := problem.Auction{Goods: a.Goods, Bids: slices.Clone(a.Bids)}
	if renumber {
		for i := range written.Bids {
			b := &written.Bids[i]
			b.Goods = slices.Clone(b.Goods)
			for k, g := range b.Goods {
				if !a.IsDummy(g) {
					continue
				}
				id, ok := number[g]
				if !ok {
					id = a.Goods + int64(len(number))
					number[g] = id
				}
				b.Goods[k] = id
			}
			slices.Sort(b.Goods)
		}
		dummies = int64(len(number))
	}
	fmt.Fprintf(w, "goods %d\nbids %d\ndummy %d\n\n", a.Goods, len(a.Bids), dummies)
	for i := range written.Bids {
		b := &written.Bids[i]
		fmt.Fprintf(w, "%d\t%s", b.Number, a.FormatPrice(big.NewInt(b.Price)))
		for _, g := range b.Goods {
			fmt.Fprintf(w, "\t%d", g)
		}
		fmt.Fprint(w, "\t#\n")
		b.Bidder = ""
	}
	var notes []string
	if a.Names != nil || a.HasBidderNames() {
		notes = append(notes, "the names of goods and bidders are left out")
	}
	if !slices.Equal(written.BidderNumbers(), a.BidderNumbers()) {
		notes = append(notes, "bidders whose bids are no alternatives are not told apart: each of these bids has a bidder of its own")
	}
	return notes, nil
}

// A namedAuction has the names of an auction's goods, bidders and alternatives.
type namedAuction struct {
	*problem.Auction
	goods []string // their names; nil: their numbers
	bids  []namedBid
}

// maxNames is the most goods of an auction in which all goods get names because one of them needs one.
const maxNames = 1 << 20

// nameAuction names the bidders, by dummies where bids have no bidder's name. A dummy that several bids of
// one bidder share becomes the name of alternatives, one that several bidders share becomes a good.
func nameAuction(a *problem.Auction) (*namedAuction, error) {
	bidder := a.BidderNumbers()
	type use struct {
		bids, bidder int
		shared       bool
	}
	uses := map[int64]*use{}
	taken := map[string]bool{}
	for i, b := range a.Bids {
		taken[b.Bidder] = true
		for _, g := range b.Goods {
			if !a.IsDummy(g) {
				continue
			}
			u := uses[g]
			if u == nil {
				u = &use{bidder: bidder[i]}
				uses[g] = u
			}
			u.bids++
			u.shared = u.shared || u.bidder != bidder[i]
		}
	}
	var extra []int64
	for g, u := range uses {
		if u.shared {
			extra = append(extra, g)
		}
	}
	slices.Sort(extra)
	if len(extra) > 0 && (a.SellAll || a.Minimize) {
		return nil, fmt.Errorf("found dummy %d in bids of several bidders where every good has to be sold or bought, expected dummies of one bidder", extra[0])
	}
	s := &namedAuction{Auction: a, goods: a.Names}
	if len(extra) > 0 {
		if a.Goods > maxNames {
			return nil, fmt.Errorf("found dummy %d in bids of several bidders beside %d goods without names, expected at most %d, which then get names", extra[0], a.Goods, maxNames)
		}
		s.goods = nil
		used := map[string]bool{}
		for g := range a.Goods {
			used[a.GoodName(g)] = true
			s.goods = append(s.goods, a.GoodName(g))
		}
		for _, g := range extra {
			name := strconv.FormatInt(g, 10)
			for used[name] {
				name = "dummy" + name
			}
			used[name] = true
			s.goods = append(s.goods, name)
		}
	}
	bidderNames := map[int]string{}
	for i, b := range a.Bids {
		named := namedBid{number: strconv.FormatInt(b.Number, 10), bidder: b.Bidder, price: a.FormatPrice(big.NewInt(b.Price)), goods: a.GoodNames(b.Goods)}
		if id, ok := a.BidderDummy(b); ok && b.Bidder == "" {
			name, known := bidderNames[bidder[i]]
			if !known {
				for name = strconv.FormatInt(id, 10); taken[name]; {
					name = "dummy" + name
				}
				taken[name], bidderNames[bidder[i]] = true, name
			}
			named.bidder = name
		}
		for k := range b.Quantities {
			if !a.IsDummy(b.Goods[k]) {
				named.units = append(named.units, strconv.FormatInt(b.Quantity(k), 10))
			}
		}
		for _, g := range b.Goods {
			if u := uses[g]; u == nil {
			} else if u.shared {
				k, _ := slices.BinarySearch(extra, g)
				named.goods = append(named.goods, s.goods[int(a.Goods)+k])
				if named.units != nil {
					named.units = append(named.units, "1")
				}
			} else if u.bids > 1 {
				named.xor = append(named.xor, strconv.FormatInt(g, 10))
			}
		}
		s.bids = append(s.bids, named)
	}
	return s, nil
}

// writeCSV writes CSV.
func (s *namedAuction) writeCSV(w *bufio.Writer) error {
	line := func(cells ...string) {
		for k, cell := range cells {
			if k > 0 {
				w.WriteByte(',')
			}
			if strings.ContainsAny(cell, "\",;\t") || cell != strings.TrimSpace(cell) {
				cell = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
			}
			w.WriteString(cell)
		}
		w.WriteByte('\n')
	}
	if s.goods == nil {
		line("count:", strconv.FormatInt(s.Goods, 10))
	} else {
		line("goods:", names.FormatList(s.goods))
	}
	if s.Units != nil {
		line("units:", names.FormatList(s.unitsTexts()))
	}
	if s.SellAll {
		line("disposal:", "no")
	}
	if s.Minimize {
		line("minimize:", "yes")
	}
	for _, r := range s.Reserves {
		line("reserve:", s.FormatPrice(big.NewInt(r.Price)), names.FormatList(s.GoodNames(r.Goods)))
	}
	for _, limit := range s.limits() {
		line("most:", limit.bidder, strconv.Itoa(limit.limit))
	}
	header := []string{"bid", "bidder", "price", "goods", "xor"}
	several := slices.ContainsFunc(s.bids, func(b namedBid) bool { return b.units != nil })
	if several {
		header = append(header, columnNames[columnQuantities])
	}
	line(header...)
	for _, b := range s.bids {
		if b.bidder != "" && names.IsMissing(b.bidder) {
			return fmt.Errorf("found the bidder %q, expected another name: in CSV it stands for none, in JSON it does not", b.bidder)
		}
		cells := []string{b.number, b.bidder, b.price, names.FormatList(b.goods), names.FormatList(b.xor)}
		if several {
			cells = append(cells, names.FormatList(b.units))
		}
		line(cells...)
	}
	return nil
}

// allUnits are the units of all goods that are written, dummies among them; nil: one of each.
func (s *namedAuction) allUnits() []int64 {
	if s.Units == nil {
		return nil
	}
	units := slices.Clone(s.Units)
	for len(units) < len(s.goods) {
		units = append(units, 1)
	}
	return units
}

// unitsTexts are allUnits as texts.
func (s *namedAuction) unitsTexts() []string {
	var texts []string
	for _, n := range s.allUnits() {
		texts = append(texts, strconv.FormatInt(n, 10))
	}
	return texts
}

// A bidderLimit is how many bids of a bidder can win.
type bidderLimit struct {
	bidder string
	limit  int
}

// limits are the limits of bidders who have bids, in the order of their first bids.
func (s *namedAuction) limits() []bidderLimit {
	var list []bidderLimit
	seen := map[string]bool{}
	for _, b := range s.bids {
		if allowed, ok := s.Limits[b.bidder]; ok && !seen[b.bidder] {
			seen[b.bidder] = true
			list = append(list, bidderLimit{b.bidder, allowed})
		}
	}
	return list
}

// What writeJSON writes.
type (
	jsonAuction struct {
		Goods        any           `json:"goods"`
		Units        []int64       `json:"units,omitempty"`
		FreeDisposal bool          `json:"free_disposal"`
		Minimize     bool          `json:"minimize,omitempty"`
		Reserves     []jsonReserve `json:"reserves,omitempty"`
		Bidders      []jsonBidder  `json:"bidders,omitempty"`
		Bids         []jsonBid     `json:"bids,omitempty"`
	}
	jsonReserve struct {
		Price string   `json:"price"`
		Goods []string `json:"goods"`
	}
	jsonBidder struct {
		Name  string    `json:"name"`
		Limit *int      `json:"most,omitempty"`
		Bids  []jsonBid `json:"bids"`
	}
	jsonBid struct {
		Bid   json.Number `json:"bid"`
		Price string      `json:"price"`
		Goods []string    `json:"goods"`
		Units []string    `json:"quantities,omitempty"`
		XOR   []string    `json:"xor,omitempty"`
	}
)

// writeJSON writes JSON, bidders in the order of their first bids.
func (s *namedAuction) writeJSON(w *bufio.Writer) error {
	x := jsonAuction{Goods: s.goods, Units: s.allUnits(), FreeDisposal: !s.SellAll, Minimize: s.Minimize}
	if s.goods == nil {
		x.Goods = s.Goods
	}
	for _, r := range s.Reserves {
		x.Reserves = append(x.Reserves, jsonReserve{s.FormatPrice(big.NewInt(r.Price)), s.GoodNames(r.Goods)})
	}
	place := map[string]int{}
	for _, b := range s.bids {
		bid := jsonBid{json.Number(b.number), b.price, b.goods, b.units, b.xor}
		if b.bidder == "" {
			x.Bids = append(x.Bids, bid)
			continue
		}
		k, ok := place[b.bidder]
		if !ok {
			k = len(x.Bidders)
			place[b.bidder] = k
			x.Bidders = append(x.Bidders, jsonBidder{Name: b.bidder})
			if allowed, ok := s.Limits[b.bidder]; ok {
				x.Bidders[k].Limit = &allowed
			}
		}
		x.Bidders[k].Bids = append(x.Bidders[k].Bids, bid)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(x)
}
