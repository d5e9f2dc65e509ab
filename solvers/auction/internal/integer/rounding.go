package integer

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// A Rounding is a cut of rows added up, in whole numbers (Gomory 1963; Marchand and Wolsey, Operations Research 49, 2001): each row times its
// multiplier, its slack kept as a whole number, some variables taken as 1 less them. Of a sum Σ a·x = b, with fractions f of its numbers and
// those of b above 0, Σ (⌊a⌋ + max(0, f(a)-f(b)) / (1-f(b)))·x is at most ⌊b⌋.
type Rounding struct {
	Rows    [][2]int64 `json:"rows"`                                                   // pairs of a row before it and its multiplier, in parts of the scale
	Scale   int64      `json:"scale"`                                                  // parts of 1 that multipliers are in
	Flipped []int32    `json:"flipped,omitempty" none:"all variables are as they are"` // variables that are taken as 1 less them
}

const (
	entryBits  = 16      // of the entries of a cut
	fineScale  = 1 << 28 // of multipliers that are no parts of an entry
	leastShare = 0.02    // of the fraction of the sum, and of 1 less it
)

// asRow is the cut as a row; false: its numbers are too large, or it says nothing.
func (c *Rounding) asRow(rows []Row, variables int) (Row, bool) {
	none := Row{}
	if c.Scale < 2 || c.Scale > fineScale {
		return none, false
	}
	sum := make([]int64, variables)
	most, size := int64(0), 0.0
	add := func(factor int64, r *Row, sum []int64, most *int64) bool {
		if *most += factor * r.Most; factor != 0 {
			size += math.Abs(float64(factor)) * math.Abs(float64(r.Most))
		}
		for k, j := range r.Columns {
			sum[j] += factor * r.Entries[k]
			size += math.Abs(float64(factor)) * math.Abs(float64(r.Entries[k]))
		}
		return size < 1<<61
	}
	for k, x := range c.Rows {
		if x[0] < 0 || x[0] >= int64(len(rows)) || k > 0 && x[0] <= c.Rows[k-1][0] || !add(x[1], &rows[x[0]], sum, &most) {
			return none, false
		}
	}
	flipped := make([]bool, variables)
	for k, j := range c.Flipped {
		if j < 0 || int(j) >= variables || k > 0 && j <= c.Flipped[k-1] {
			return none, false
		}
		flipped[j] = true
		most -= sum[j]
		sum[j] = -sum[j]
	}
	part := func(v int64) (whole, rest int64) {
		whole = v / c.Scale
		if rest = v % c.Scale; rest < 0 {
			whole, rest = whole-1, rest+c.Scale
		}
		return whole, rest
	}
	whole, fraction := part(most)
	if fraction == 0 {
		return none, false
	}
	// all that follows is times scale - fraction
	turn := func(v int64) int64 {
		whole, rest := part(v)
		size += (math.Abs(float64(whole)) + 1) * float64(c.Scale)
		return whole*(c.Scale-fraction) + max(0, rest-fraction)
	}
	cut := make([]int64, variables)
	size = (math.Abs(float64(whole)) + 1) * float64(c.Scale)
	for j, v := range sum {
		cut[j] = turn(v)
	}
	right := whole * (c.Scale - fraction)
	if size > 1<<61 {
		return none, false
	}
	for j := range variables { // back to variables as they are, for the slacks
		if flipped[j] {
			right -= cut[j]
			cut[j] = -cut[j]
		}
	}
	for _, x := range c.Rows {
		r := &rows[x[0]]
		if r.Equal {
			continue
		}
		// the slack is what the row allows less its sum
		if !add(-turn(x[1]), r, cut, &right) {
			return none, false
		}
	}
	largest := int64(0)
	for j, v := range cut {
		if flipped[j] {
			right -= v
			cut[j] = -v
		}
		largest = max(largest, v, -v)
	}
	shift := max(0, bits.Len64(uint64(largest))-entryBits)
	right >>= shift // rounds down
	made := Row{Most: right, cut: true}
	for j, v := range cut {
		if v >>= shift; flipped[j] {
			made.Most -= v
			v = -v
		}
		if v != 0 {
			made.Columns, made.Entries = append(made.Columns, int32(j)), append(made.Entries, v)
		}
	}
	return made, len(made.Columns) > 0
}

// A violated cut is one that the relaxation's values exceed.
type violated struct {
	Rounding
	row    Row
	length float64 // of its entries
	depth  float64 // distance of the values
}

// measure is a cut with the distance by which values violate it; false: they do not.
func (c *Rounding) measure(rows []Row, x []float64) (violated, bool) {
	r, ok := c.asRow(rows, len(x))
	if !ok {
		return violated{}, false
	}
	v := violated{Rounding: *c, row: r, depth: -float64(r.Most)}
	for k, j := range r.Columns {
		a := float64(r.Entries[k])
		v.depth += a * x[j]
		v.length += a * a
	}
	v.length = math.Sqrt(v.length)
	v.depth /= v.length
	return v, v.depth > 1e-3
}

// roundings are cuts that the values violate, the deepest first, of which no two are nearly parallel.
func (w *worker) roundings(x []float64) []violated {
	var list []violated
	try := func(c Rounding) {
		if v, ok := c.measure(w.rows, x); ok {
			list = append(list, v)
		}
	}
	var above []int32
	for j, v := range x {
		if v > 0.5 {
			above = append(above, int32(j))
		}
	}
	for i := range w.p.Rows { // of a row, divided by its entries
		r := &w.rows[i]
		var sizes []int64
		for k, j := range r.Columns {
			if a := max(r.Entries[k], -r.Entries[k]); a > 1 && a <= fineScale && x[j] > 1e-6 && x[j] < 1-1e-6 && !slices.Contains(sizes, a) {
				sizes = append(sizes, a)
			}
		}
		slices.SortFunc(sizes, func(a, b int64) int { return cmp.Compare(b, a) })
		for _, a := range sizes[:min(len(sizes), 8)] {
			try(Rounding{[][2]int64{{int64(i), 1}}, a, above})
			try(Rounding{[][2]int64{{int64(i), -1}}, a, above})
		}
	}
	var fractional []int32
	for j, v := range x {
		if v > leastShare && v < 1-leastShare {
			fractional = append(fractional, int32(j))
		}
	}
	line := make([]float64, len(w.rows))
	for _, j := range fractional { // of the tableau's row of a variable
		if !w.lp.BasisRow(int(j), line) {
			continue
		}
		c := Rounding{Scale: fineScale, Flipped: above}
		for i, v := range line {
			if k := math.Round(v / scaleOf(&w.rows[i]) * fineScale); k != 0 && math.Abs(k) < 1<<40 {
				c.Rows = append(c.Rows, [2]int64{int64(i), int64(k)})
			}
		}
		try(c)
	}
	slices.SortStableFunc(list, func(a, b violated) int { return cmp.Compare(b.depth, a.depth) })
	var kept []violated
	for _, v := range list {
		if len(kept) == roundingsARound {
			break
		}
		if !slices.ContainsFunc(kept, func(o violated) bool { return parallel(&v.row, &o.row) > 0.9*v.length*o.length }) {
			kept = append(kept, v)
		}
	}
	return kept
}

// parallel is the product of two rows' entries.
func parallel(a, b *Row) float64 {
	sum, at := 0.0, 0
	for k, j := range a.Columns {
		for at < len(b.Columns) && b.Columns[at] < j {
			at++
		}
		if at < len(b.Columns) && b.Columns[at] == j {
			sum += float64(a.Entries[k]) * float64(b.Entries[at])
		}
	}
	return sum
}
