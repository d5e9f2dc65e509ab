package paths

import (
	"math"
	"slices"

	"coalesce/runtime/host/kernels/assignment/lapjv"
)

// A lists solves matrices of many rows by the nearest pairs of each: those whose cost less the first price of the column is below a
// threshold of the row. Prices only fall, so that the others keep costing the threshold at least: a search that
// does not come to it needs no others, and one that comes to it has the row list more. The answers are exact.
type lists struct {
	search  *lapjv.Search
	kernels *lapjv.Kernels
	given   bool // listAllowed has listed all pairs
	rows    int
	cols    int
	nearest
	walk
	own    []float64 // of each row: the cost of its pair
	single []bool    // of each row: only one pair is within NearbyUnits of its dual, by duals
	first  []float64 // prices that lists were made for
}

// A nearest holds the rows' lists, which list writes.
type nearest struct {
	start  []int     // of each row: its list in column and cost
	length []int     // of each row
	beyond []float64 // of each row: what the pairs not listed cost at least, less their prices
	grown  []bool    // of each row: it listed again, when prices had fallen
	column []int32
	cost   []float64
	used   int
	tau    float64 // threshold to try first
	least  float64 // positive
	more   int     // rows that listed again
	two    [2]float64
}

// A walk is the state of path, one search for a shortest path.
type walk struct {
	base    []float64 // of rows in a search: a pair's distance is base + cost - price
	reach   []float64 // of rows in a search: the distance from which on others could matter
	from    []int32   // of columns: the row before it
	paid    []float64 // of columns: the cost of the pair with it
	at      []int32   // of columns: the place in front, or one of these
	front   []int32   // columns with a distance, not yet left
	dist    []float64 // theirs
	tree    []int32   // rows of the search
	seen    []int32   // columns of the search
	done    []int32   // columns that were left
	reached []float64 // their distances
	places  []int32   // in a row's list, of columns that come nearer by it
	nearer  []float64 // their distances
	shut    []float64 // prices, minus infinity of columns that the search has left
}

// Places of columns.
const (
	unseen  = -1
	reached = -2 // free
)

// listed is how many pairs a row lists at least, in the beginning.
func (l *lists) listed() int {
	if l.rows < l.cols {
		return 6
	}
	return 10
}

// open makes room.
func (l *lists) open(q *lapjv.Search, k *lapjv.Kernels, rows, cols int) {
	l.search, l.kernels, l.rows, l.cols, l.used, l.more, l.given = q, k, rows, cols, 0, 0, false
	l.start, l.length, l.beyond, l.grown = resize(l.start, rows), resize(l.length, rows), resize(l.beyond, rows), resize(l.grown, rows)
	l.single = resize(l.single, rows)
	l.own, l.base, l.reach, l.tree = resize(l.own, rows), resize(l.base, rows), resize(l.reach, rows), resize(l.tree, rows)
	l.from, l.paid, l.at, l.seen = resize(l.from, cols), resize(l.paid, cols), resize(l.at, cols), resize(l.seen, cols)
	l.front, l.dist, l.done, l.reached = resize(l.front, cols), resize(l.dist, cols+8), resize(l.done, cols), resize(l.reached, cols)
	l.places, l.nearer = resize(l.places, cols+eight+lapjv.ListsMore), resize(l.nearer, cols+eight+lapjv.ListsMore)
	clear(l.grown)
	for j := range l.at {
		l.at[j] = unseen
	}
}

// listAllowed lists the pairs of a square that cost something else than infinity, given their places in the matrix and their costs.
func (l *lists) listAllowed(places []int32, costs []float64) {
	if n := len(places) + eight*(l.rows+1); len(l.column) < n {
		l.column, l.cost = make([]int32, n+n/4), make([]float64, n+n/4)
	}
	k := 0
	for i := range l.rows {
		l.start[i], l.beyond[i] = l.used, math.Inf(1)
		low, end := int32(i*l.cols), int32((i+1)*l.cols)
		for ; k < len(places) && places[k] < end; k++ {
			l.column[l.used], l.cost[l.used] = places[k]-low, costs[k]
			l.used++
		}
		l.length[i] = l.used - l.start[i]
		l.fill()
	}
	l.given = true
}

// room makes room for another list of a whole row.
func (l *lists) room() {
	if n := l.used + l.cols + 64; len(l.column) < n {
		n += n/2 + 24*l.rows
		column, cost := make([]int32, n), make([]float64, n)
		copy(column, l.column[:l.used])
		copy(cost, l.cost[:l.used])
		l.column, l.cost = column, cost
	}
}

// guess sets tau by the 16 nearest pairs of three rows.
func guess[T lapjv.Cost](l *lists, costs []T) {
	v := l.search.Prices()
	sum, best := 0.0, math.Inf(1)
	const rows, near = 3, 16
	for q := range rows {
		var least [near]float64
		k := 0
		for j, c := range costs[q*(l.rows-1)/2*l.cols:][:l.cols] {
			h := float64(c) - v[j]
			if k == near && !(h < least[near-1]) {
				continue
			}
			p := min(k, near-1)
			k = p + 1
			for ; p > 0 && least[p-1] > h; p-- {
				least[p] = least[p-1]
			}
			least[p] = h
		}
		sum += least[near-1]
		best = min(best, least[near-1])
	}
	if l.tau = sum / rows; !(l.tau < math.Inf(1)) {
		l.tau = best
	}
	if l.least = l.tau; !(l.least > 0) {
		l.least = 1e-9
	}
}

// list lists a row's pairs below a threshold: at least want, or all. need is what they have to exceed, minus infinity in the beginning.
// It is false for costs that are no numbers.
func (l *lists) list(i, want int, need float64) bool {
	first := math.IsInf(need, -1)
	t := l.tau
	if !first {
		t += need
	}
	l.room()
	column, cost := l.column[l.used:], l.cost[l.used:]
	n := 0
	for tries := 0; ; tries++ {
		n = l.kernels.Below(l.search, i, t, column, cost)
		if n >= want || t > math.MaxFloat64 {
			break
		}
		switch {
		case tries > 40:
			t = math.Inf(1)
		case n > want/4 && t > 0:
			t *= 1.5
		case t > 0:
			t *= 3
		default:
			t = l.least
		}
	}
	column, cost = column[:n], cost[:n]
	v := l.search.Prices()
	if first {
		for _, c := range cost {
			if c-c != 0 {
				return false
			}
		}
		for round := 0; round < 12 && n > 3*want; round++ { // keep about 1.5 * want of the least
			sum, least := 0.0, math.Inf(1)
			for k, j := range column {
				h := cost[k] - v[j]
				sum += min(h, 1e300)
				least = min(least, h)
			}
			part := 0.8
			if n > 8*want {
				part = 0.5
			}
			bar := least + (sum/float64(n)-least)*part
			kept := 0
			for k, j := range column {
				if cost[k]-v[j] < bar {
					kept++
				}
			}
			if kept < want {
				break
			}
			kept = 0
			for k, j := range column {
				if cost[k]-v[j] < bar {
					column[kept], cost[kept] = j, cost[k]
					kept++
				}
			}
			n, t = kept, bar
			column, cost = column[:n], cost[:n]
		}
		next := t
		switch {
		case n > 2*want:
			next = t * 0.8
		case !(t < 1e300):
			next = l.tau
		}
		l.tau = 0.9*l.tau + 0.1*next
	} else {
		l.grown[i] = true
	}
	l.start[i], l.length[i], l.beyond[i] = l.used, n, t
	l.used += n
	l.fill()
	return true
}

// fill ends a list.
func (l *lists) fill() {
	for ; l.used%eight > 0; l.used++ {
		l.column[l.used], l.cost[l.used] = 0, math.Inf(1)
	}
}

// eight is a number that lists are filled up to a multiple of, with pairs that cost infinity.
const eight = 8

// filled is a row's list with what fills it up.
func (l *lists) filled(i int) ([]int32, []float64) {
	low := l.start[i]
	high := low + (l.length[i]+eight-1)&^(eight-1)
	return l.column[low:high], l.cost[low:high]
}

// augmentLists finds the matching by lists. It is false where there is none, and for costs that are no numbers.
func augmentLists[T lapjv.Cost](l *lists, costs []T) bool {
	q := l.search
	v, column, owner := q.Prices(), q.Columns(), q.Owners()
	square := l.rows == l.cols
	if l.given {
		for j := range v {
			v[j] = math.Inf(1)
		}
		for e, j := range l.column[:l.used] {
			if c := l.cost[e]; c < v[j] {
				v[j] = c
			}
		}
		if slices.Contains(v, math.Inf(1)) {
			return false
		}
	} else {
		if square && l.kernels.Minima(q) != 0 {
			return false
		}
		guess(l, costs)
	}
	l.first = append(l.first[:0], v...)
	free, nf := q.Free(l.rows), 0
	for i := range column {
		if !l.given && !l.list(i, l.listed(), math.Inf(-1)) {
			return false
		}
		at := -1
		if square {
			columns, list := l.filled(i)
			k := l.kernels.TwoNearest(columns, list, v, &l.two)
			first, second := l.two[0], l.two[1]
			switch {
			case first != 0:
			case second > 0:
				if owner[columns[k]] < 0 {
					at = k
				}
			default:
				for k, j := range columns {
					if list[k] == v[j] && owner[j] < 0 {
						at = k
						break
					}
				}
			}
		}
		if at < 0 {
			free[nf] = int32(i)
			nf++
			continue
		}
		j := l.column[l.start[i]+at]
		column[i], owner[j], l.own[i] = j, int32(i), l.cost[l.start[i]+at]
	}
	if square { // reduction transfer
		for i, own := range column {
			if own < 0 {
				continue
			}
			columns, list := l.filled(i)
			k := l.kernels.TwoNearest(columns, list, v, &l.two)
			first, second := l.two[0], l.two[1]
			if second = min(second, l.beyond[i]*lapjv.NearlyAll); first == 0 && columns[k] == own && second > 0 && second < math.Inf(1) {
				v[own] -= second
			}
		}
	}
	for turn := 0; turn < 2 && nf > 0; turn++ {
		if nf = l.bid(nf); nf < 0 {
			return false
		}
	}
	for k, i := range free[:nf] {
		if l.more > l.rows/8+16 { // lists do not help
			return l.rows <= wholeRows && paths(q, l.kernels, free[k:nf])
		}
		if !l.path(i) {
			return false
		}
	}
	return true
}

// bid is augmenting row reduction by lists.
func (l *lists) bid(n int) int {
	q := l.search
	v, column, owner, free := q.Prices(), q.Columns(), q.Owners(), q.Free(l.rows)
	kept, bids := 0, 0
	for k := 0; k < n; {
		i := int(free[k])
		k++
		bids++
		columns, costs := l.filled(i)
		place := l.kernels.TwoNearest(columns, costs, v, &l.two)
		first, second := l.two[0], l.two[1]
		at, cost := int32(-1), 0.0
		if first < math.Inf(1) {
			if at = columns[place]; second == first && owner[at] >= 0 { // a free column is as near, perhaps
				for e, j := range columns {
					if costs[e]-v[j] == first && owner[j] < 0 {
						at, place = j, e
						break
					}
				}
			}
			cost = costs[place]
		}
		if at < 0 || first > l.beyond[i] { // others could be nearer
			if l.length[i] >= l.cols || l.beyond[i] > math.MaxFloat64 {
				return -1
			}
			need := first
			if at < 0 {
				need = l.beyond[i]
			}
			l.list(i, 4, need)
			l.more++
			k--
			bids--
			continue
		}
		second = min(second, first+(l.beyond[i]-first)*lapjv.NearlyAll)
		fallen := v[at] - (second - first)
		falls := bids < 8*k && second < math.Inf(1) && fallen < v[at]
		if falls {
			v[at] = fallen
		}
		out := owner[at]
		column[i], owner[at], l.own[i] = at, int32(i), cost
		if out < 0 {
			continue
		}
		column[out] = -1
		if falls {
			k--
			free[k] = out
		} else {
			free[kept] = out
			kept++
		}
	}
	return kept
}

// mostLists are the lists that a row gets after its first, at most, in the mean.
const mostLists = 1

// path augments along a shortest path from a free row.
func (l *lists) path(root int32) bool {
	q := l.search
	v, column, owner := q.Prices(), q.Columns(), q.Owners()
	at, front, dist := l.at, l.front, l.dist
	l.shut = append(l.shut[:0], v...)
	shut := l.shut
	done, rows, seen, n := 0, 0, 0, 0   // of the lists done, tree and seen; n: of front
	end, ends := int32(-1), math.Inf(1) // the nearest free column and its distance
	i, best, dual, least := root, 0.0, 0.0, math.Inf(1)
	for {
		l.base[i] = best - dual
		l.tree[rows] = i
		rows++
		next := -1 // the nearest of front, where that is nearer than any free column
		for {
			base := l.base[i]
			columns, costs := l.filled(int(i))
			hits := l.kernels.Nearer(columns, costs, shut, base, ends, l.places, l.nearer)
			for k, e := range l.places[:hits] {
				d, j := l.nearer[k], columns[e]
				if !(d < ends) {
					continue
				}
				p := at[j]
				if p == unseen {
					l.seen[seen] = j
					seen++
				}
				if owner[j] < 0 {
					at[j], ends, end = reached, d, j
				} else if p < 0 {
					p = int32(n)
					at[j], front[n], dist[n] = p, j, d
					n++
				} else if d < dist[p] {
					dist[p] = d
				} else {
					continue
				}
				l.from[j], l.paid[j] = i, costs[e]
			}
			l.reach[i] = base + l.beyond[i]
			least = min(least, l.reach[i])
			best, next = ends, -1
			padded := (n + 7) &^ 7
			for p := n; p < padded; p++ {
				dist[p] = math.Inf(1)
			}
			if p := l.kernels.Least(dist[:padded]); p < n && dist[p] < best {
				best, next = dist[p], p
			}
			if !(least < best) {
				break
			}
			if i, least = l.grow(rows, least, best); i < 0 {
				return false
			}
		}
		if next < 0 {
			break
		}
		j := front[next]
		l.done[done], l.reached[done] = j, best
		done++
		n--
		front[next], dist[next] = front[n], dist[n]
		at[front[next]] = int32(next)
		shut[j] = math.Inf(-1)
		i = owner[j]
		dual = l.own[i] - v[j]
	}
	if end < 0 {
		return false
	}
	for k, j := range l.done[:done] {
		v[j] += l.reached[k] - ends
	}
	for _, j := range l.seen[:seen] {
		at[j] = unseen
	}
	for j := end; ; {
		r := l.from[j]
		before := column[r]
		column[r], owner[j], l.own[r] = j, r, l.paid[j]
		if r == root {
			return true
		}
		j = before
	}
}

// grow has the row of a search list more, of which pairs without a place in its list come least far, and returns it with the
// distance from which on others could matter.
func (l *lists) grow(rows int, least, best float64) (int32, float64) {
	at := -1
	for _, k := range l.tree[:rows] {
		if l.reach[k] == least {
			at = int(k)
			break
		}
	}
	switch {
	case at < 0 || l.more > mostLists*l.rows: // one path asks for list after list: other methods are faster
		return -1, 0
	case l.length[at] >= l.cols:
		l.beyond[at] = math.Inf(1)
	default:
		need := best - l.base[at]
		if !(need < math.Inf(1)) {
			need = l.beyond[at] + l.tau
		}
		l.list(at, 4, need)
		l.more++
	}
	l.reach[at], least = math.Inf(1), math.Inf(1)
	for _, k := range l.tree[:rows] {
		least = min(least, l.reach[k])
	}
	return int32(at), least
}

// duals sets the duals of rows whose list suffices for that, given the duals of the columns, and reports whether units round a listed cost of
// these. The scale is set. It is false where a column's dual is above its first price, for which the lists are made.
func (l *lists) duals() (rounded, ok bool) {
	_, scale, _ := l.search.Slack()
	_, v := l.search.Duals()
	for j, x := range l.first {
		if most, _ := lapjv.Units(x, scale); v[j] > most {
			return false, false
		}
	}
	for i := range l.rows {
		least, second, lost := int64(math.MaxInt64), int64(math.MaxInt64), false
		low := l.start[i]
		for k, j := range l.column[low : low+l.length[i]] {
			c, cut := lapjv.Units(l.cost[low+k], scale)
			x := c - v[j]
			second = min(second, max(least, x))
			least, lost = min(least, x), lost || cut
		}
		known := !l.grown[i] && l.holds(i, least, scale)
		l.search.SetDual(i, least, known)
		rounded = rounded || known && lost
		l.single[i] = second-least > lapjv.NearbyUnits && known && l.holds(i, least+lapjv.NearbyUnits, scale)
	}
	return rounded, true
}

// holds reports whether the list of a row that never listed again has all pairs whose cost less the dual of the column is at most so many units.
func (l *lists) holds(i int, units int64, scale float64) bool {
	if l.beyond[i] > math.MaxFloat64 {
		return true
	}
	beyond := l.beyond[i] * scale
	beyond -= math.Abs(beyond)*0x1p-50 + 4
	return float64(units) <= beyond*(1-0x1p-50)
}

// closest are the columns of a row that Close would list; false where the row's list does not say so.
func (l *lists) closest(i, width, lost int) ([]int32, bool) {
	if l.single[i] && lost == 0 && width <= lapjv.NearbyUnits/2 { // duals have changed by less than width since duals looked at them
		return l.search.Columns()[i : i+1], true
	}
	_, scale, _ := l.search.Slack()
	u, v := l.search.Duals()
	bar := u[i] + int64(width)
	if l.grown[i] || !l.holds(i, bar, scale) {
		return nil, false
	}
	near, low := l.seen[:0], l.start[i]
	for k, j := range l.column[low : low+l.length[i]] {
		if units, cut := lapjv.Units(l.cost[low+k], scale); units-v[j] <= bar && (cut || lost == 0) {
			near = append(near, j)
		}
	}
	return near, true
}
