package integer

import (
	"encoding/binary"
	"maps"
	"slices"
	"strconv"

	"coalesce/solvers/auction/problem"
)

// New is a checked auction as a program: a variable for each bid, then one for each reserve, by their places. Of allocations that pay equally
// those that keep fewer reserves are worth more, and Multiplier is a unit of the auction in units of the program. Rows are goods and alternatives by their
// ids, then limits by the bidders' names; those that bind nothing, and those that say the same, are left out. Of equal reserves the first alone can be kept.
func New(a *problem.Auction) *Problem {
	p := &Problem{}
	m := Multiplier(a)
	rows := map[int64]*Row{}
	sign := int64(1)
	if a.Minimize {
		sign = -1
	}
	bought := func(g int64) bool { return a.Minimize && !a.SellAll && !a.IsDummy(g) }
	row := func(g int64) *Row {
		r := rows[g]
		if r == nil {
			r = &Row{Most: a.UnitsOf(g), Equal: a.SellAll && !a.IsDummy(g)}
			if bought(g) {
				r.Most = -r.Most
			}
			rows[g] = r
		}
		return r
	}
	add := func(g, units int64) {
		r := row(g)
		if bought(g) {
			units = -units
		}
		r.Columns, r.Entries = append(r.Columns, int32(len(p.Prices))), append(r.Entries, units)
	}
	of := map[string]*Row{}
	for _, b := range a.Bids {
		for k, g := range b.Goods {
			add(g, b.Quantity(k))
		}
		if most, ok := a.Limits[b.Bidder]; ok && b.Bidder != "" {
			r := of[b.Bidder]
			if r == nil {
				r = &Row{Most: int64(most)}
				of[b.Bidder] = r
			}
			r.Columns, r.Entries = append(r.Columns, int32(len(p.Prices))), append(r.Entries, 1)
		}
		p.Prices = append(p.Prices, sign*times(b.Price, m))
	}
	for k, r := range a.Reserves {
		if slices.ContainsFunc(a.Reserves[:k], func(o problem.Reserve) bool { return o.Price == r.Price && slices.Equal(o.Goods, r.Goods) }) {
			p.Rows = append(p.Rows, Row{Columns: []int32{int32(len(p.Prices))}, Entries: []int64{1}}) // another one says the same
		}
		for _, g := range r.Goods {
			add(g, 1)
		}
		p.Prices = append(p.Prices, times(r.Price, m)-1)
	}
	if a.SellAll || a.Minimize {
		for g := range a.Goods {
			row(g) // also of goods that no bid has
		}
	}
	seen := map[string]bool{}
	keep := func(r *Row) {
		sum := int64(0)
		key := strconv.AppendBool(binary.AppendVarint(nil, r.Most), r.Equal)
		for k, j := range r.Columns {
			sum += max(0, r.Entries[k])
			key = binary.AppendVarint(binary.AppendVarint(key, int64(j)), r.Entries[k])
		}
		if (sum > r.Most || r.Equal) && !seen[string(key)] {
			seen[string(key)] = true
			p.Rows = append(p.Rows, *r)
		}
	}
	for _, g := range slices.Sorted(maps.Keys(rows)) {
		keep(rows[g])
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		keep(of[name])
	}
	return p
}

// times multiplies a price; one that is too large to be solved stays too large.
func times(price, by int64) int64 {
	if most := int64(maxValue) / by; price > most || price < -most {
		return 2 * maxValue
	}
	return price * by
}

// Multiplier is how many units of the program a unit of the auction is: prices of reserves are lowered by one of these.
func Multiplier(a *problem.Auction) int64 { return int64(len(a.Reserves)) + 1 }

// AddCliques adds sets of variables of which one can be 1 to those that bounds are made of, each once and as long as they are that.
func (p *Problem) AddCliques(cliques [][]int32) {
	for _, c := range cliques {
		if r, ok := p.clique(c); ok && len(p.Rows)+len(p.Extra) < maxRows/2 {
			p.Extra = append(p.Extra, r)
		}
	}
}

// clique is a set of variables of which one can be 1, as a row; false: two of them are in no row that excludes that.
func (p *Problem) clique(columns []int32) (Row, bool) {
	if len(p.of) == 0 {
		p.of = make([][]int, len(p.Prices))
		for i := range p.Rows {
			if slices.ContainsFunc(p.Rows[i].Entries, func(a int64) bool { return a < 0 }) {
				continue
			}
			for _, j := range p.Rows[i].Columns {
				p.of[j] = append(p.of[j], i)
			}
		}
	}
	row := Row{Most: 1}
	for k, j := range columns {
		if j < 0 || int(j) >= len(p.of) || k > 0 && j <= columns[k-1] {
			return row, false
		}
		for _, o := range columns[:k] {
			if !slices.ContainsFunc(p.of[j], func(i int) bool { return p.Rows[i].excludes(j, o) }) {
				return row, false
			}
		}
		row.Columns, row.Entries = append(row.Columns, j), append(row.Entries, 1)
	}
	return row, true
}

// excludes reports whether two variables cannot both be 1 by a row whose entries are all above 0.
func (r *Row) excludes(j, o int32) bool {
	x, ok := slices.BinarySearch(r.Columns, j)
	y, too := slices.BinarySearch(r.Columns, o)
	return ok && too && r.Entries[x]+r.Entries[y] > r.Most
}
