package formats

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"coalesce/solvers/auction/problem"
	"coalesce/solvers/formats"
	"coalesce/solvers/formats/names"
	"coalesce/solvers/formats/text"
)

// A builder makes an auction of goods and bidders that have names, for the readers of CSV
// and JSON. Goods have the ids of a list, or of the order in which they come.
type builder struct {
	a          *problem.Auction
	file       string
	memory     *formats.Budget
	ids        map[string]int64 // of goods
	listed     bool             // other goods than those listed are errors
	counted    bool             // goods are 0 to Goods-1, and have no names
	bidders    map[string]string
	dummies    map[group]int64 // the dummy that the bids of a group share; -1 and down until the goods are known
	prices     []problem.Amount
	reserves   []problem.Amount
	units      []string         // how many there are of each good, in their order; nil: of each one, or as named
	named      map[string]int64 // units of goods, by name
	unitsLine  int
	bidLines   map[int64]int  // lines of bids, by number
	limitLines map[string]int // lines of limits, by bidder
}

// A group is alternatives of a bidder.
type group struct{ bidder, label string }

func newBuilder(file string, memory *formats.Budget) *builder {
	return &builder{a: &problem.Auction{Limits: map[string]int{}}, file: file, memory: memory, ids: map[string]int64{}, bidders: map[string]string{},
		dummies: map[group]int64{}, bidLines: map[int64]int{}, limitLines: map[string]int{}}
}

func (n *builder) errorf(line int, format string, args ...any) error {
	return formats.Errorf(n.file, line, format, args...)
}

// A namedBid is what a file says of a bid.
type namedBid struct {
	number string // empty: its place
	bidder string
	price  string
	goods  []string
	units  []string // of each of goods; nil: one
	xor    []string // labels of the groups of which one bid can win
	line   int
}

// checkName returns an error for an empty or a long name, and for one with control characters. Blanks do not stand round it.
func (n *builder) checkName(what, name string, line int) error {
	switch {
	case name == "":
		return n.errorf(line, "found a %s without a name, expected one", what)
	case len(name) > maxToken:
		return n.errorf(line, "found a name of %d bytes, expected at most %d", len(name), maxToken)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return n.errorf(line, "found the name %s of a %s, expected UTF-8 without control characters", formats.Quote(name), what)
	}
	return nil
}

// bytesPerName is the memory of a name besides its bytes.
const bytesPerName = 200

// addListedGood adds a good to the list of goods; line is the list's line.
func (n *builder) addListedGood(name string, line int) error {
	name = strings.TrimSpace(name)
	if n.counted || !n.listed && len(n.ids) > 0 {
		return n.errorf(line, "found a list of goods after their number, or after goods that were named, expected it first")
	}
	if _, ok := n.ids[name]; ok {
		return n.errorf(line, "found good %s again, expected each once", formats.Quote(name))
	}
	n.listed = false
	_, err := n.goodID(name, line)
	n.listed = true
	return err
}

// setGoodsCount declares the goods 0 to count-1.
func (n *builder) setGoodsCount(count string, line int) error {
	goods, err := strconv.ParseInt(count, 10, 32)
	if err != nil || goods < 0 {
		return n.errorf(line, "found %s, expected how many goods there are", formats.Quote(count))
	}
	if n.counted || len(n.ids) > 0 {
		return n.errorf(line, "found a number of goods, expected it once and no list of goods")
	}
	n.counted, n.a.Goods = true, goods
	return nil
}

// goodID is the id of a good.
func (n *builder) goodID(name string, line int) (int64, error) {
	name = strings.TrimSpace(name)
	if n.counted {
		id, err := strconv.ParseInt(name, 10, 64)
		if err != nil || id < 0 || id >= n.a.Goods || strconv.FormatInt(id, 10) != name {
			return 0, n.errorf(line, "found good %s, expected 0 to %d", formats.Quote(name), n.a.Goods-1)
		}
		return id, nil
	}
	if id, ok := n.ids[name]; ok {
		return id, nil
	}
	if n.listed {
		return 0, n.errorf(line, "found good %s, expected one of the %d that the file lists", formats.Quote(name), len(n.ids))
	}
	if err := n.checkName("good", name, line); err != nil {
		return 0, err
	}
	if err := n.memory.Reserve(bytesPerName + int64(len(name))); err != nil {
		return 0, n.errorf(line, "the names of goods take %w", err)
	}
	id := int64(len(n.ids))
	name = strings.Clone(name)
	n.ids[name] = id
	n.a.Names = append(n.a.Names, name)
	return id, nil
}

// parseUnits reads a number of units.
func (n *builder) parseUnits(word string, least int64, line int) (int64, error) {
	units, err := strconv.ParseInt(names.Clean(word), 10, 32)
	if err != nil || units < least {
		return 0, n.errorf(line, "found %s, expected a number of units, at least %d", formats.Quote(word), least)
	}
	return units, nil
}

// nameUnits says how many units there are of a good.
func (n *builder) nameUnits(good, units string, line int) error {
	good = strings.TrimSpace(good)
	if _, ok := n.named[good]; ok {
		return n.errorf(line, "found the units of good %s again, expected them once", formats.Quote(good))
	}
	count, err := n.parseUnits(units, 0, line)
	if err != nil {
		return err
	}
	if n.named == nil {
		n.named = map[string]int64{}
	}
	if err := n.memory.Reserve(bytesPerName + int64(len(good))); err != nil {
		return n.errorf(line, "the units of goods take %w", err)
	}
	n.named[strings.Clone(good)], n.unitsLine = count, line
	return nil
}

// setUnits gives the auction its units of goods.
func (n *builder) setUnits() error {
	a := n.a
	switch {
	case n.units != nil && int64(len(n.units)) != a.Goods:
		return n.errorf(n.unitsLine, "found the units of %s, expected those of %d", formats.Count(len(n.units), "good"), a.Goods)
	case n.units != nil:
		for _, word := range n.units {
			count, err := n.parseUnits(word, 0, n.unitsLine)
			if err != nil {
				return err
			}
			a.Units = append(a.Units, count)
		}
	case n.named != nil:
		if err := n.memory.Reserve(8 * a.Goods); err != nil {
			return n.errorf(n.unitsLine, "the units of goods take %w", err)
		}
		a.Units = slices.Repeat([]int64{1}, int(a.Goods))
		for name, count := range n.named {
			n.listed = true
			id, err := n.goodID(name, n.unitsLine)
			if err != nil {
				return err
			}
			a.Units[id] = count
		}
	}
	return nil
}

// bundle are the ids of a bid's goods, ascending, and the units of each; nil: one.
func (n *builder) bundle(b *namedBid) (ids, units []int64, err error) {
	if ids, err = n.goodIDs(b.goods, b.line); err != nil || b.units == nil {
		return ids, nil, err
	}
	if len(b.units) != len(b.goods) {
		return nil, nil, n.errorf(b.line, "found the quantities of %s, expected those of %d", formats.Count(len(b.units), "good"), len(b.goods))
	}
	if err := n.memory.Reserve(8 * int64(len(ids))); err != nil {
		return nil, nil, n.errorf(b.line, "quantities take %w", err)
	}
	units = make([]int64, len(ids))
	several := false
	for k, name := range b.goods {
		id, err := n.goodID(name, b.line)
		if err != nil {
			return nil, nil, err
		}
		at, _ := slices.BinarySearch(ids, id)
		if units[at], err = n.parseUnits(b.units[k], 1, b.line); err != nil {
			return nil, nil, err
		}
		several = several || units[at] > 1
	}
	if !several {
		units = nil
	}
	return ids, units, nil
}

// goodIDs are the ids of goods, ascending.
func (n *builder) goodIDs(names []string, line int) ([]int64, error) {
	if err := n.memory.Reserve(8 * int64(len(names))); err != nil {
		return nil, n.errorf(line, "goods take %w", err)
	}
	ids := make([]int64, 0, len(names))
	for _, name := range names {
		id, err := n.goodID(name, line)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for k := 1; k < len(ids); k++ {
		if ids[k] == ids[k-1] {
			return nil, n.errorf(line, "found good %s twice, expected each once", formats.Quote(n.a.GoodName(ids[k])))
		}
	}
	return ids, nil
}

func (n *builder) parsePrice(what, price string, line int) (problem.Amount, error) {
	x, ok := problem.ParseAmount(price)
	if !ok {
		return x, text.PointFor([]byte(price), n.errorf(line, "found %s, expected %s in at most %d digits", formats.Quote(price), what, problem.MaxDigits))
	}
	return x, nil
}

// addBid adds a bid.
func (n *builder) addBid(b namedBid) error {
	if err := n.memory.Reserve(bytesPerBid); err != nil {
		return n.errorf(b.line, "%d bids and more take %w", len(n.a.Bids), err)
	}
	made := problem.Bid{Number: int64(len(n.a.Bids)), Line: b.line}
	var err error
	if b.number != "" {
		if made.Number, err = strconv.ParseInt(b.number, 10, 64); err != nil {
			return n.errorf(b.line, "found %s, expected the number of a bid", formats.Quote(b.number))
		}
	}
	if line, ok := n.bidLines[made.Number]; ok {
		return n.errorf(b.line, "found bid %d again, expected each once: it is on line %d", made.Number, line)
	}
	n.bidLines[made.Number] = b.line
	price, err := n.parsePrice("a price", b.price, b.line)
	if err != nil {
		return err
	}
	if made.Goods, made.Quantities, err = n.bundle(&b); err != nil {
		return err
	}
	b.bidder = strings.TrimSpace(b.bidder)
	if b.bidder == "" && len(b.xor) > 0 {
		return n.errorf(b.line, "found alternatives %s without a bidder, expected the bidder's name", formats.Quote(b.xor[0]))
	}
	if b.bidder != "" {
		known, ok := n.bidders[b.bidder]
		if !ok {
			if err := n.checkName("bidder", b.bidder, b.line); err != nil {
				return err
			}
			if err := n.memory.Reserve(bytesPerName + int64(len(b.bidder))); err != nil {
				return n.errorf(b.line, "the names of bidders take %w", err)
			}
			known = strings.Clone(b.bidder)
			n.bidders[known] = known
		}
		made.Bidder = known
	}
	for k, label := range b.xor {
		label = strings.TrimSpace(label)
		b.xor[k] = label
		if err := n.checkName("group", label, b.line); err != nil {
			return err
		}
		if slices.Contains(b.xor[:k], label) {
			return n.errorf(b.line, "found the group %s twice, expected each once", formats.Quote(label))
		}
		g := group{made.Bidder, label}
		id, ok := n.dummies[g]
		if !ok {
			if err := n.memory.Reserve(bytesPerName + int64(len(label))); err != nil {
				return n.errorf(b.line, "the names of groups take %w", err)
			}
			id = int64(-1 - len(n.dummies))
			n.dummies[group{made.Bidder, strings.Clone(label)}] = id
		}
		made.Goods = append(made.Goods, id)
		if made.Quantities != nil {
			made.Quantities = append(made.Quantities, 1)
		}
	}
	n.a.Bids = append(n.a.Bids, made)
	n.prices = append(n.prices, price)
	return nil
}

// addReserve adds a reserve.
func (n *builder) addReserve(price string, names []string, line int) error {
	if err := n.memory.Reserve(bytesPerBid); err != nil {
		return n.errorf(line, "%d reserves and more take %w", len(n.a.Reserves), err)
	}
	x, err := n.parsePrice("a reserve price", price, line)
	if err != nil {
		return err
	}
	if x.Whole.Sign() < 0 {
		return n.errorf(line, "found the reserve price %s, expected at least 0", formats.Quote(price))
	}
	goods, err := n.goodIDs(names, line)
	if err != nil {
		return err
	}
	if len(goods) == 0 {
		return n.errorf(line, "found a reserve price of no goods, expected one or more")
	}
	n.a.Reserves = append(n.a.Reserves, problem.Reserve{Goods: goods, Line: line})
	n.reserves = append(n.reserves, x)
	return nil
}

// setLimit sets how many bids of a bidder can win.
func (n *builder) setLimit(bidder, most string, line int) error {
	bidder = strings.TrimSpace(bidder)
	count, err := strconv.ParseInt(most, 10, 32)
	if err != nil || count < 0 {
		return n.errorf(line, "found %s, expected how many bids of the bidder can win at most", formats.Quote(most))
	}
	if _, ok := n.limitLines[bidder]; ok {
		return n.errorf(line, "found the limit of bidder %s again, expected one", formats.Quote(bidder))
	}
	bidder = strings.Clone(bidder)
	n.limitLines[bidder] = line
	n.a.Limits[bidder] = int(count)
	return nil
}

// auction returns the auction at the end of the file.
func (n *builder) auction() (*problem.Auction, error) {
	a := n.a
	first, unknown := 0, ""
	for name, line := range n.limitLines {
		if _, ok := n.bidders[name]; !ok && (unknown == "" || line < first) {
			first, unknown = line, name
		}
	}
	if first > 0 {
		return nil, n.errorf(first, "found a limit of bidder %s, expected one who bids", formats.Quote(unknown))
	}
	if !n.counted {
		a.Goods = int64(len(a.Names))
		if plain := !slices.ContainsFunc(a.Names, func(name string) bool { return name != strconv.FormatInt(n.ids[name], 10) }); plain {
			a.Names = nil
		}
	}
	if a.Minimize && len(a.Reserves) > 0 {
		return nil, n.errorf(a.Reserves[0].Line, "found a reserve price where the auctioneer buys, expected none")
	}
	if err := n.setUnits(); err != nil {
		return nil, err
	}
	a.Dummies = int64(len(n.dummies))
	for i := range a.Bids {
		for k, id := range a.Bids[i].Goods {
			if id < 0 {
				a.Bids[i].Goods[k] = a.Goods - 1 - id
			}
		}
		slices.Sort(a.Bids[i].Goods) // dummies come behind goods, whose order stays
	}
	return a, a.SetPrices(n.file, n.prices, n.reserves)
}
