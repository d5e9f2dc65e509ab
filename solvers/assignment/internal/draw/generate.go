// Package draw makes the instances of the literature from a seed, on the host or on
// the device that solves them, and problems with a solution planted in them.
package draw

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/cores"
)

// A Drawing says which instance Draw makes: a function of its fields alone.
//
// Random numbers are splitmix64 (Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", OOPSLA 2014) of the seed xor a number that
// no two draws share. Seeds that differ in low bits alone therefore give
// nearly the same draws: take seeds far apart, such as s·2^40.
type Drawing struct {
	// draw an instance of this kind instead of reading one
	Kind string `option:"kind" words:"Kinds()"`
	// rows of a drawn instance
	Rows int `option:"rows" min:"1" max:"2147483647"`
	// columns of a drawn instance
	Cols int `option:"cols" min:"1" max:"2147483647" default:"as many as rows"`
	// R of the kind
	Range int64 `option:"range" min:"1" default:"1 for floats, 1000 for integers"`
	// seed of a drawn instance; seeds far apart, such as multiples of 2^40, are independent
	Seed uint64 `option:"seed"`
	// type of drawn costs
	Type problem.Value `option:"type" words:"Types()"`
	// rank of the kind lowrank
	Rank int `option:"rank" min:"1" default:"4"`
	// put rows and columns in random order
	Permuted bool `option:"permuted"`
	// add r(i) + c(j), uniform below this, to drawn costs
	Shift int64 `option:"shift" min:"1" default:"nothing is added"`
	// add -1, 0 or 1 to each cost
	Jitter bool `option:"jitter"`
	// allow about this share of the pairs, a full matching among them
	Density float64 `option:"density" min:"0" max:"1" default:"all pairs"`
	// keep points, and compute costs when needed; for kinds that have points
	Points bool `option:"keep_points"`
}

// Types are the types that costs may have.
func Types() []string {
	return []string{string(problem.Int32), string(problem.Int64), string(problem.Float32), string(problem.Float64)}
}

// A kind is a family of instances. whole computes a cost as an integer, real as a float.
// A kind without whole rounds its floats down, unless it has floats alone; a kind
// without real uses its integers as floats.
type kind struct {
	name   string
	about  string
	floats bool
	fixed  bool // no R is part of its costs
	known  bool // the costs are the same for every seed
	points func(d *Drawing) *problem.Points
	whole  func(d *Drawing) func(i, j int) int64
	real   func(d *Drawing) func(i, j int) float64
}

// kinds are the instances of the literature; h is a 64-bit hash of the seed
// and the pair, v that of the seed and a row or column.
func kinds() []kind {
	return []kind{
		{name: "uniform", about: "h mod R (Date and Nagi 2016); floats without R: in [0, 1)", whole: uniformWhole, real: uniformReal},
		{name: "geom", about: "distance of points in [0, R)², integers cut (Buš and Tvrdík 2009)", points: geomPoints},
		{name: "disjoint", about: "squared distance of points in [0, R)², half of each side shifted by R, as in Algorithm 1015's tests", points: disjointPoints},
		{name: "spatial", about: "squared distance of points in [-R, R)², as in SciPy's benchmark", points: spatialPoints},
		{name: "machol", about: "i·j, from 1 (Machol and Wien 1976): many dual updates for every Hungarian method", fixed: true, known: true, whole: drawMachol},
		{name: "lowrank", about: "R times the mean of v_k(i)·v_k(j) over k up to the rank, as in Algorithm 1015's tests", real: drawLowRank},
		{name: "twocost", about: "100 or 10^8, each half of the time (Goldberg and Kennedy 1995)", fixed: true, whole: drawTwoCost},
		{name: "equal", about: "R everywhere", known: true, whole: drawConstant},
		{name: "planted_identity", about: "r(i) + c(j), and off the diagonal a tenth more (integers: 1 more): the identity is optimal", whole: plantedWhole, real: plantedReal},
		{name: "logarithmic", about: "10 to a power uniform in [-20, 20); floats only", floats: true, fixed: true, real: drawLogarithmic},
		{name: "signed", about: "uniform in [-20, 20), as in SciPy's benchmark; floats only", floats: true, fixed: true, real: drawSigned},
		{name: "integer", about: "integers in [-R, R)", whole: drawInteger},
		{name: "binary", about: "0 or 1", fixed: true, whole: zeroOne},
	}
}

// Kinds are the names that Draw knows.
func Kinds() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return names
}

// DescribeKind describes a kind in a sentence; empty for a name that no kind has.
func DescribeKind(name string) string {
	k, _ := kindOf(name)
	return k.about
}

// UsesRange reports whether R is part of the costs of a kind.
func UsesRange(name string) bool {
	k, ok := kindOf(name)
	return ok && !k.fixed
}

// IsRandom reports whether the costs of a kind depend on the seed.
func IsRandom(name string) bool {
	k, ok := kindOf(name)
	return ok && !k.known
}

// kindOf finds a kind by its name; false for a name that no kind has.
func kindOf(name string) (kind, bool) {
	list := kinds()
	at := slices.IndexFunc(list, func(k kind) bool { return k.name == name })
	if at < 0 {
		return kind{}, false
	}
	return list[at], true
}

// Generate draws an instance without options: see Drawing. The default of
// spread, 0, is 1 for floats (1000 for integers).
func Generate(kind string, rows, cols int, spread int64, seed uint64, value problem.Value) (*problem.Instance, error) {
	return Draw(Drawing{Kind: kind, Rows: rows, Cols: cols, Range: spread, Seed: seed, Type: value})
}

// Draw makes the instance of a drawing. It is an error where d sets options that its kind lacks,
// or where the type does not hold the costs.
func Draw(d Drawing) (*problem.Instance, error) { return DrawRows(d, 0, d.Rows) }

// DrawRows makes rows low to high-1 alone, an instance of as many rows; where they are not
// all, of dense costs.
func DrawRows(d Drawing, low, high int) (*problem.Instance, error) {
	const max64, maxRank = 1 << 60, 1 << 16 // the sums of a cost's parts fit int64
	k, ok := kindOf(d.Kind)
	if !ok {
		return nil, fmt.Errorf("draw: kind %q: expected one of %v", d.Kind, Kinds())
	}
	switch {
	case d.Type.Size() == 0:
		return nil, fmt.Errorf("draw: type %q: expected int32, int64, float32 or float64", d.Type)
	case k.floats && d.Type.Integer():
		return nil, fmt.Errorf("draw: costs of kind %s are floats, found type %s", d.Kind, d.Type)
	case d.Rows < 0 || d.Cols < 0 || d.Rows > problem.MaxSide || d.Cols > problem.MaxSide:
		return nil, fmt.Errorf("draw: %d x %d pairs: expected 0 to %d rows and columns", d.Rows, d.Cols, problem.MaxSide)
	case d.Range < 0 || d.Shift < 0 || d.Rank < 0 || !(d.Density >= 0 && d.Density <= 1):
		return nil, fmt.Errorf("draw: range %d, shift %d, rank %d, density %v: expected none below 0 and a density of at most 1", d.Range, d.Shift, d.Rank, d.Density)
	case d.Range > max64 || d.Shift > max64 || d.Rank > maxRank:
		return nil, fmt.Errorf("draw: range %d, shift %d, rank %d: expected at most 2^60, 2^60 and %d", d.Range, d.Shift, d.Rank, maxRank)
	case d.Points && (k.points == nil || d.Shift > 0 || d.Jitter || d.Density > 0):
		return nil, fmt.Errorf("draw: kind %s cannot be kept as points with these options", d.Kind)
	case low < 0 || low > high || high > d.Rows || high-low < d.Rows && (d.Points || d.Density > 0):
		return nil, fmt.Errorf("draw: rows %d to %d of %d: expected some of them, and dense costs", low, high, d.Rows)
	}
	inst := &problem.Instance{Rows: high - low, Cols: d.Cols, Source: d.String()}
	if d.Points {
		inst.Points, inst.Type = d.permute(k.points(&d)), problem.Float64
		if d.Type.Integer() {
			inst.Points.Floor, inst.Type = true, problem.Int64
		}
		return inst, inst.Check()
	}
	if d.Density > 0 {
		inst.Sparse = d.sparsePairs()
	}
	var err error
	whole, real := k.costs(&d)
	switch d.Type {
	case problem.Int32:
		err = fill(inst, low, whole, func(c int64) (int32, bool) { return int32(c), c > -math.MaxInt32 && c < math.MaxInt32 })
	case problem.Int64:
		err = fill(inst, low, whole, func(c int64) (int64, bool) { return c, c > -max64 && c < max64 })
	case problem.Float32:
		err = fill(inst, low, real, func(c float64) (float32, bool) { return float32(c), true })
	default:
		err = fill(inst, low, real, func(c float64) (float64, bool) { return c, true })
	}
	if err != nil {
		return nil, fmt.Errorf("draw: %w", err)
	}
	return inst, inst.Check()
}

// String names the drawing: "uniform 1000x1000 range 1000 seed 1".
func (d Drawing) String() string {
	s := fmt.Sprintf("%s %dx%d", d.Kind, d.Rows, d.Cols)
	if d.Range > 0 {
		s += fmt.Sprintf(" range %d", d.Range)
	}
	s += fmt.Sprintf(" seed %d", d.Seed)
	if d.Rank > 0 {
		s += fmt.Sprintf(" rank %d", d.Rank)
	}
	if d.Permuted {
		s += " permuted"
	}
	if d.Shift > 0 {
		s += fmt.Sprintf(" shift %d", d.Shift)
	}
	if d.Jitter {
		s += " jitter"
	}
	if d.Density > 0 {
		s += fmt.Sprintf(" density %v", d.Density)
	}
	return s
}

// costs are the cost functions of a kind with the drawing's options; the one
// that the type does not need may be nil.
func (k kind) costs(d *Drawing) (func(i, j int) int64, func(i, j int) float64) {
	var whole func(i, j int) int64
	var real func(i, j int) float64
	switch {
	case k.points != nil:
		real = k.points(d).Cost
	case k.whole != nil && (k.real == nil || d.Type.Integer() || d.Range > 0 && d.Kind == "uniform"):
		whole = k.whole(d)
	default:
		real = k.real(d)
	}
	switch {
	case real == nil:
		exact := whole
		real = func(i, j int) float64 { return float64(exact(i, j)) }
	case whole == nil:
		rough := real
		whole = func(i, j int) int64 { return int64(math.Floor(rough(i, j))) }
	}
	if !d.Permuted && d.Shift == 0 && !d.Jitter {
		return whole, real
	}
	added := d.noise()
	rows, cols := d.permutations()
	return func(i, j int) int64 { return whole(rows[i], cols[j]) + added(i, j) },
		func(i, j int) float64 { return real(rows[i], cols[j]) + float64(added(i, j)) }
}

// fill computes every cost of an instance, on all cores. The instance's first row is row number
// first of the drawing.
func fill[C int64 | float64, T problem.Number](inst *problem.Instance, first int, cost func(i, j int) C, narrow func(C) (T, bool)) error {
	length := inst.Rows * inst.Cols
	if inst.Sparse != nil {
		length = len(inst.Sparse.Col)
	}
	costs := make([]T, length)
	var bad atomic.Int64
	bad.Store(-1)
	cores.Split(inst.Rows, max(1, 1<<12/max(1, inst.Cols)), func(low, high int) {
		for i := low; i < high; i++ {
			from, to := int64(i)*int64(inst.Cols), int64(i+1)*int64(inst.Cols)
			if inst.Sparse != nil {
				from, to = inst.Sparse.Start[i], inst.Sparse.Start[i+1]
			}
			for k := from; k < to; k++ {
				j := int(k - from)
				if inst.Sparse != nil {
					j = int(inst.Sparse.Col[k])
				}
				var ok bool
				if costs[k], ok = narrow(cost(first+i, j)); !ok {
					bad.Store(k)
				}
			}
		}
	})
	problem.SetCosts(inst, costs)
	if k := bad.Load(); k >= 0 {
		i, j := inst.Pair(int(k))
		return &problem.EntryError{Row: first + i, Col: j, Found: fmt.Sprint(cost(first+i, j)), Want: "a cost that type " + string(inst.Type) + " holds"}
	}
	return nil
}
