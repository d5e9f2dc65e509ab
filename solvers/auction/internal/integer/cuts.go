package integer

import (
	"cmp"
	"context"
	"maps"
	"math"
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

	roundingsARound = 20
	mostRoundings   = 60 // cuts, above which no more are looked for
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

// cutRoot solves the relaxation of the root and adds covers and roundings, round by round. It reports whether the last one is solved.
func (w *worker) cutRoot(ctx context.Context, top *node) bool {
	if !w.load(top) {
		return false
	}
	base := len(w.rows)
	covers, roundings := map[int]Cover{}, map[int]Rounding{} // by row
	least, stale, solved := math.Inf(1), 0, false
	for round := 0; ; round++ {
		end := w.solve(ctx)
		if bound, ok := w.priceBound(); ok {
			top.bound = min(top.bound, bound>>w.bits)
		}
		if solved = end == optimal; !solved || top.bound <= w.threshold.Load() {
			break
		}
		w.round()
		if gain := least - w.lp.Objective(); gain < 1e-4*math.Abs(least) {
			stale++
		} else {
			stale = 0
		}
		least = min(least, w.lp.Objective())
		if round == cutRounds || stale > 2 {
			break
		}
		x := make([]float64, len(w.is))
		for j := range x {
			x[j] = w.lp.Value(j)
		}
		w.dropCuts(base, covers, roundings)
		var added []Row
		seen := map[string]bool{}
		for _, c := range covers {
			seen[c.key()] = true
		}
		for i := range w.p.Rows {
			c, ok := separate(i, &w.p.Rows[i], x)
			if !ok || len(added) == cutsARound || len(w.rows)+len(added) == maxRows {
				continue
			}
			r, ok := c.asRow(w.p.Rows)
			if !ok || seen[c.key()] {
				continue
			}
			seen[c.key()] = true
			covers[len(w.rows)+len(added)], added = c, append(added, r)
		}
		if w.set.Best == 1 && len(w.rows) <= base+mostRoundings {
			for _, v := range w.roundings(x) {
				if len(w.rows)+len(added) < maxRows {
					roundings[len(w.rows)+len(added)], added = v.Rounding, append(added, v.row)
				}
			}
		}
		if len(added) == 0 {
			break
		}
		w.rows = append(w.rows, added...)
		w.indexRows()
		w.addCuts(added)
		w.load(top)
	}
	w.dropCuts(base, covers, roundings)
	w.sortCuts(base, covers, roundings)
	w.load(top)
	return solved && w.solve(ctx) == optimal
}

// dropCuts removes cuts that do not bind, unless another cut is made of them.
func (w *worker) dropCuts(base int, covers map[int]Cover, roundings map[int]Rounding) {
	used := make([]bool, len(w.rows))
	for i := len(w.rows) - 1; i >= base; i-- {
		if c, ok := roundings[i]; ok && (used[i] || !w.lp.SlackIsBasic(i)) {
			for _, x := range c.Rows {
				used[x[0]] = true
			}
		}
	}
	kept := w.lp.RemoveRows(func(i int) bool { return i >= base && !used[i] })
	if len(kept) == len(w.rows) {
		return
	}
	number := make([]int64, len(w.rows))
	for to, from := range kept {
		number[from] = int64(to)
	}
	w.renumber(kept, number, covers, roundings)
}

// renumber makes the rows those of a list, and number says which each becomes.
func (w *worker) renumber(kept []int, number []int64, covers map[int]Cover, roundings map[int]Rounding) {
	rows := make([]Row, len(kept))
	keptCovers, keptRoundings := maps.Clone(covers), maps.Clone(roundings)
	clear(covers)
	clear(roundings)
	for to, from := range kept {
		rows[to] = w.rows[from]
		if c, ok := keptCovers[from]; ok {
			covers[to] = c
		}
		if c, ok := keptRoundings[from]; ok {
			c.Rows = slices.Clone(c.Rows)
			for k := range c.Rows {
				c.Rows[k][0] = number[c.Rows[k][0]]
			}
			slices.SortFunc(c.Rows, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
			roundings[to] = c
		}
	}
	w.rows = rows
	w.indexRows()
	w.clearRows()
}

// sortCuts puts covers before roundings, and keeps the basis.
func (w *worker) sortCuts(base int, covers map[int]Cover, roundings map[int]Rounding) {
	var order []int
	for i := range base {
		order = append(order, i)
	}
	order = append(append(order, slices.Sorted(maps.Keys(covers))...), slices.Sorted(maps.Keys(roundings))...)
	if number := make([]int64, len(order)); !slices.IsSorted(order) {
		var pairs [][2]int
		for to, from := range order {
			number[from] = int64(to)
			pairs = append(pairs, [2]int{from, to})
		}
		old := w.lp
		w.renumber(order, number, covers, roundings)
		w.begin()
		w.lp.WarmStart(old, pairs, nil)
	}
	for _, i := range slices.Sorted(maps.Keys(covers)) {
		w.covers = append(w.covers, covers[i])
	}
	for _, i := range slices.Sorted(maps.Keys(roundings)) {
		w.tree.roundings = append(w.tree.roundings, roundings[i])
	}
}

func (c *Cover) key() string { return string(appendKey(nil, c.Columns)) + string(rune(c.Most)) }

func appendKey(key []byte, columns []int32) []byte {
	for _, j := range columns {
		key = append(key, byte(j), byte(j>>8), byte(j>>16), byte(j>>24))
	}
	return key
}
