package integer

import (
	"cmp"
	"context"
	"slices"
)

// A Cover is of a row: of some variables, each taken as it is where its entry in the row is above 0 and else as 1 less it, at most Most are 1, since the
// least Most+1 of their entries exceed the row.
type Cover struct {
	Row     int     `json:"row"`     // place of the row
	Columns []int32 `json:"columns"` // variables, ascending
	Most    int64   `json:"most"`    // of these are 1
}

const (
	cutRounds  = 20 // of cuts at the root
	cutsARound = 50
)

// asRow is the cut as a row; false: it does not follow from its row.
func (c *Cover) asRow(rows []Row) (Row, bool) {
	if c.Row < 0 || c.Row >= len(rows) || c.Most < 0 {
		return Row{}, false
	}
	r := &rows[c.Row]
	made := Row{Columns: c.Columns, Most: c.Most}
	room := r.Most
	for _, a := range r.Entries {
		room -= min(0, a)
	}
	var sizes []int64
	at := 0
	for _, j := range c.Columns {
		for at < len(r.Columns) && r.Columns[at] < j {
			at++
		}
		if at == len(r.Columns) || r.Columns[at] != j {
			return Row{}, false
		}
		if a := r.Entries[at]; a > 0 {
			made.Entries, sizes = append(made.Entries, 1), append(sizes, a)
		} else {
			made.Entries, sizes = append(made.Entries, -1), append(sizes, -a)
			made.Most--
		}
		at++
	}
	if int64(len(sizes)) <= c.Most {
		return Row{}, false
	}
	slices.Sort(sizes)
	sum := int64(0)
	for _, a := range sizes[:c.Most+1] {
		sum += a
	}
	return made, sum > room
}

// separate finds a cover of a row that the relaxation's values violate.
func separate(i int, r *Row, x []float64) (Cover, bool) {
	type item struct {
		j int32
		a int64
		x float64
	}
	items := make([]item, len(r.Columns))
	room := r.Most
	even := true
	for k, j := range r.Columns {
		items[k] = item{j, r.Entries[k], x[j]}
		if r.Entries[k] < 0 {
			room -= r.Entries[k]
			items[k].a, items[k].x = -r.Entries[k], 1-x[j]
		}
		even = even && items[k].a == items[0].a
	}
	if even && room > 0 && len(items) > 0 && room%items[0].a == 0 {
		return Cover{}, false // the row is the cut
	}
	slices.SortFunc(items, func(a, b item) int {
		return cmp.Or(cmp.Compare((1-a.x)*float64(b.a), (1-b.x)*float64(a.a)), cmp.Compare(b.a, a.a))
	})
	sum, n := int64(0), 0
	for n < len(items) && sum <= room {
		sum += items[n].a
		n++
	}
	if sum <= room {
		return Cover{}, false
	}
	cover := items[:n]
	// items that the cover does not need go, those of the least value first
	order := slices.Clone(cover)
	slices.SortFunc(order, func(a, b item) int { return cmp.Compare(a.x, b.x) })
	kept := order[:0]
	for _, o := range order {
		if sum-o.a > room {
			sum -= o.a
		} else {
			kept = append(kept, o)
		}
	}
	largest, worth := int64(0), 0.0
	in := map[int32]bool{}
	c := Cover{Row: i, Most: int64(len(kept) - 1)}
	for _, o := range kept {
		largest, worth = max(largest, o.a), worth+o.x
		in[o.j] = true
		c.Columns = append(c.Columns, o.j)
	}
	for _, o := range items { // as large as all of the cover: none more can be 1
		if !in[o.j] && o.a >= largest {
			worth += o.x
			c.Columns = append(c.Columns, o.j)
		}
	}
	slices.Sort(c.Columns)
	return c, worth > float64(c.Most)+1e-4
}

// cutRoot solves the relaxation of the root and adds covers, round by round.
func (w *worker) cutRoot(ctx context.Context, top *node) {
	if !w.load(top) {
		return
	}
	seen := map[string]bool{}
	for range cutRounds {
		end := w.solve(ctx)
		if bound, ok := w.priceBound(); ok {
			top.bound = min(top.bound, bound>>w.bits)
		}
		if end != optimal {
			return
		}
		w.round()
		x := make([]float64, len(w.is))
		for j := range x {
			x[j] = w.lp.Value(j)
		}
		var added []Row
		for i := range w.p.Rows {
			c, ok := separate(i, &w.p.Rows[i], x)
			if !ok || len(added) == cutsARound || len(w.rows)+len(added) == maxRows {
				continue
			}
			r, ok := c.asRow(w.p.Rows)
			key := string(appendKey(nil, c.Columns)) + string(rune(c.Most))
			if !ok || seen[key] {
				continue
			}
			seen[key] = true
			w.covers, added = append(w.covers, c), append(added, r)
		}
		if len(added) == 0 {
			return
		}
		w.rows = append(w.rows, added...)
		w.indexRows()
		w.addCovers(added)
		w.load(top)
	}
}

func appendKey(key []byte, columns []int32) []byte {
	for _, j := range columns {
		key = append(key, byte(j), byte(j>>8), byte(j>>16), byte(j>>24))
	}
	return key
}
