package fused_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/runtime/guard"
	"coalesce/solvers/assignment/internal/crouse"
	"coalesce/solvers/assignment/internal/enginetest"
	"coalesce/solvers/assignment/internal/fused"
	"coalesce/solvers/assignment/problem"
)

// A group is matrices of one shape, and how their costs are drawn.
type group struct {
	name       string
	rows, cols int
	maximize   bool
	draw       func(r *rand.Rand) float64
	dyadic     bool // all sums of costs are exact
}

func whole(least, span int) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return float64(least + r.IntN(span)) }
}

// forbidden has a share of infinite costs of the sign that forbids.
func forbidden(share float64, maximize bool, draw func(*rand.Rand) float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		if r.Float64() >= share {
			return draw(r)
		}
		if maximize {
			return math.Inf(-1)
		}
		return math.Inf(1)
	}
}

func groups(capacity int) []group {
	list := []group{
		{"one", 1, 1, false, whole(-4, 9), true},
		{"row", 1, 20, false, whole(-4, 9), true},
		{"column", 20, 1, true, whole(-4, 9), true},
		{"ties", 8, 8, false, whole(0, 3), true},
		{"equal", 12, 12, false, whole(5, 1), true},
		{"negative", 20, 20, false, whole(-900, 800), true},
		{"largest", 17, 17, true, whole(-50, 100), true},
		{"wide", 9, 31, false, whole(0, 6), true},
		{"wide largest", 9, 31, true, whole(-30, 60), true},
		{"tall", 30, 11, false, whole(0, 6), true},
		{"forbidden", 10, 12, false, forbidden(0.6, false, whole(-9, 20)), true},
		{"forbidden largest", 14, 10, true, forbidden(0.6, true, whole(-9, 20)), true},
		{"no full matching", 9, 9, false, forbidden(0.85, false, whole(0, 20)), true},
		{"not a number", 6, 9, false, func(r *rand.Rand) float64 {
			if r.IntN(60) == 0 {
				return math.NaN()
			}
			return r.Float64()
		}, false},
		{"the infinity that wins", 5, 5, false, forbidden(0.03, true, whole(0, 9)), true},
		{"uniform", 5, 5, false, func(r *rand.Rand) float64 { return r.Float64() }, false},
		{"rounded", 5, 5, false, func(r *rand.Rand) float64 { return math.Ldexp(r.NormFloat64(), -r.IntN(40)) }, false},
		{"rounded, wide", 4, 6, true, func(r *rand.Rand) float64 { return math.Ldexp(r.NormFloat64(), -r.IntN(70)) }, false},
		{"rounded to ties", 5, 4, false, func(r *rand.Rand) float64 { return []float64{1e300, r.Float64(), 1, 2}[r.IntN(4)] }, false},
	}
	if capacity >= 100 {
		list = append(list, group{"whole registers", 20, capacity, false, whole(0, 40), true}, group{"tall registers", min(capacity, 140), 33, true, whole(-90, 140), true})
	}
	return list
}

// values are a drawn number as costs of a type hold it.
func values(value problem.Value, x float64) float64 {
	switch value {
	case problem.Int32, problem.Int64:
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return 70
		}
		return math.Trunc(math.Mod(x, 1<<20))
	case problem.Float32:
		return float64(float32(x))
	}
	return x
}

func instance(value problem.Value, g group, costs []float64) *problem.Instance {
	inst := &problem.Instance{Rows: g.rows, Cols: g.cols, Maximize: g.maximize, Source: g.name}
	enginetest.SetCosts(inst, value, costs)
	return inst
}

// valid reports whether costs can be solved with.
func (g group) valid(costs []float64) bool {
	return !slices.ContainsFunc(costs, func(x float64) bool {
		return math.IsNaN(x) || math.IsInf(x, map[bool]int{false: -1, true: 1}[g.maximize])
	})
}

// optimal is the least exact sum over all matchings of few rows, nil where there is none.
func (g group) optimal(costs []float64) *big.Float {
	n, m := min(g.rows, g.cols), max(g.rows, g.cols)
	var best *big.Float
	var try func(i int, used uint, sum *big.Float)
	try = func(i int, used uint, sum *big.Float) {
		if i == n {
			if best == nil || sum.Cmp(best) < 0 {
				best = sum
			}
			return
		}
		for j := range m {
			if x := g.cost(costs, i, j); used>>j&1 == 0 && !math.IsInf(x, 1) {
				try(i+1, used|1<<j, new(big.Float).Add(sum, exact(x)))
			}
		}
	}
	try(0, 0, exact(0))
	return best
}

func exact(x float64) *big.Float { return new(big.Float).SetPrec(3000).SetFloat64(x) }

// cost is that of row i and column j, rows being the fewer, to be made small.
func (g group) cost(costs []float64, i, j int) float64 {
	k := i*g.cols + j
	if g.rows > g.cols {
		k = j*g.cols + i
	}
	if g.maximize {
		return -costs[k]
	}
	return costs[k]
}

// answers of a launch.
type answers struct {
	pairRows, pairColumns, columns []int64
	status                         []int32
	late, ended, solved            uint64
}

func solve(t *testing.T, d device.Device, v *device.Variant, s fused.Shape, whole []byte) (a answers) {
	t.Helper()
	var scope device.Scope
	defer scope.Close()
	e, err := fused.Open(d, v, s)
	if err != nil {
		t.Fatal(err)
	}
	scope.CloseLater(e)
	stream, err := scope.NewStream(d)
	if err != nil {
		t.Fatal(err)
	}
	n := s.Count * min(s.Rows, s.Cols)
	a = answers{make([]int64, n), make([]int64, n), make([]int64, s.Count*s.Rows), make([]int32, s.Count), 0, 0, 0}
	var costs, rows, cols, columns, status, late, ended, solved device.Buffer
	if err := scope.AllocAll(d, device.BufferFor(&costs, int64(len(whole))), device.BufferFor(&rows, int64(8*n)), device.BufferFor(&cols, int64(8*n)),
		device.BufferFor(&columns, int64(8*len(a.columns))), device.BufferFor(&status, int64(4*s.Count)), device.BufferFor(&late, 8), device.BufferFor(&ended, 8), device.BufferFor(&solved, 8)); err != nil {
		t.Fatal(err)
	}
	words := make([]uint64, 3)
	err = errors.Join(stream.Upload(costs, 0, whole), stream.Fill(late, 0, 8, 0), stream.Fill(ended, 0, 8, 0), stream.Fill(solved, 0, 8, 0),
		e.Launch(stream, costs, fused.Output{PairRows: rows, PairColumns: cols, Columns: columns, Status: status, Late: late, Ended: ended, Solved: solved}, 7),
		stream.Download(device.Bytes(a.pairRows), rows, 0), stream.Download(device.Bytes(a.pairColumns), cols, 0), stream.Download(device.Bytes(a.columns), columns, 0),
		stream.Download(device.Bytes(a.status), status, 0), stream.Download(device.Bytes(words[:1]), late, 0),
		stream.Download(device.Bytes(words[1:2]), ended, 0), stream.Download(device.Bytes(words[2:]), solved, 0), stream.Sync())
	if err != nil {
		t.Fatal(err)
	}
	a.late, a.ended, a.solved = words[0], words[1], words[2]
	return a
}

// All variants that hold the matrices solve them, with and without SciPy's choice.
func TestFusedVariants(t *testing.T) {
	d, err := guard.New(emulatedtest.Open(t))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	const count = 5
	f := &assignment.Fused
	for _, v := range emulatedtest.Variants(f) {
		value, capacity := problem.Value(f.Value(v, "value")), f.Int(v, "team")*f.Int(v, "columns")
		r := rand.New(rand.NewPCG(3, uint64(len(v.Label))))
		for _, g := range groups(capacity) {
			scipy := r.IntN(2) == 0
			t.Run(fmt.Sprintf("%s/%s, scipy %v", v.Label, g.name, scipy), func(t *testing.T) {
				var whole []byte
				all := make([][]float64, count)
				for k := range all {
					all[k] = make([]float64, g.rows*g.cols)
					for i := range all[k] {
						all[k][i] = values(value, g.draw(r))
					}
					whole = append(whole, instance(value, g, all[k]).Bytes()...)
				}
				s := fused.Shape{Value: value, Count: count, Rows: g.rows, Cols: g.cols, Maximize: g.maximize, SciPy: scipy}
				got := solve(t, d, v, s, whole)
				proven := 0
				for k, costs := range all {
					if got.status[k] == assignment.FusedStatusProven {
						proven++
					}
					g.compare(t, value, k, costs, got, scipy)
				}
				if got.ended != 7 || got.solved != count {
					t.Errorf("the word for the end is %d, %d matrices counted; expected 7, %d", got.ended, got.solved, count)
				}
				if (got.late == 7) != (proven < count) {
					t.Errorf("%d of %d proven, the late word is %d", proven, count, got.late)
				}
			})
		}
	}
	if err := d.Check(); err != nil {
		t.Error(err)
	}
}

// compare holds the answer about matrix k against the references.
func (g group) compare(t *testing.T, value problem.Value, k int, costs []float64, got answers, scipy bool) {
	t.Helper()
	n := min(g.rows, g.cols)
	status := got.status[k]
	rows, cols, columns := got.pairRows[k*n:][:n], got.pairColumns[k*n:][:n], got.columns[k*g.rows:][:g.rows]
	want, full := make([]int32, g.rows), false // SciPy's columns
	if g.valid(costs) {
		if full = crouse.Match(new(crouse.Matcher), g.rows, g.cols, costs, g.maximize, want); !full && status != assignment.FusedStatusUnmatched {
			t.Fatalf("matrix %d: found the status %d, expected no full matching", k, status)
		}
	} else if status != assignment.FusedStatusInvalidCost {
		t.Fatalf("matrix %d: found the status %d, expected an invalid cost", k, status)
	}
	if !full {
		if slices.ContainsFunc(slices.Concat(rows, cols, columns), func(x int64) bool { return x != -1 }) {
			t.Errorf("matrix %d has no matching: found %v, %v, %v", k, rows, cols, columns)
		}
		return
	}
	exactSums := g.dyadic || value.Integer()
	if status != assignment.FusedStatusProven && (exactSums || status != assignment.FusedStatusUndecided) {
		t.Fatalf("matrix %d: found the status %d", k, status)
	}
	seen, sum := map[int64]bool{}, exact(0)
	for p := range n {
		i, j := rows[p], cols[p]
		if p > 0 && i <= rows[p-1] || i < 0 || i >= int64(g.rows) || j < 0 || j >= int64(g.cols) || seen[j] || columns[i] != j {
			t.Fatalf("matrix %d: found the pairs %v, %v and the columns %v", k, rows, cols, columns)
		}
		seen[j] = true
		x := costs[int(i)*g.cols+int(j)]
		if math.IsInf(x, 0) {
			t.Fatalf("matrix %d: a forbidden pair is matched", k)
		}
		sum.Add(sum, exact(x))
	}
	if matched := len(columns) - len(slices.DeleteFunc(slices.Clone(columns), func(x int64) bool { return x == -1 })); matched != g.rows-n {
		t.Errorf("matrix %d: %d rows without a column, expected %d", k, matched, g.rows-n)
	}
	if g.maximize {
		sum.Neg(sum)
	}
	best := exact(0)
	switch {
	case exactSums:
		for i, j := range want {
			if j >= 0 {
				best.Add(best, exact(costs[i*g.cols+int(j)]))
			}
		}
		if g.maximize {
			best.Neg(best)
		}
	case status == assignment.FusedStatusProven:
		best = g.optimal(costs)
	default:
		return
	}
	if sum.Cmp(best) != 0 {
		t.Errorf("matrix %d: found %v, expected %v", k, sum, best)
	}
	if !scipy || !exactSums {
		return
	}
	for p := range n {
		if int64(want[rows[p]]) != cols[p] {
			t.Errorf("matrix %d: SciPy gives %v, found the pairs %v, %v", k, want, rows, cols)
			break
		}
	}
}

// A variant that has too few columns or too little memory is refused.
func TestFits(t *testing.T) {
	f := &assignment.Fused
	facts := device.Facts{Kind: device.CUDA, SharedPerBlock: 227 << 10, ThreadsPerBlock: 1024}
	for i := range f.Variants {
		v := &f.Variants[i]
		capacity := f.Int(v, "team") * f.Int(v, "columns")
		for _, c := range []struct {
			rows, cols int
			fits       bool
		}{{1, capacity, true}, {capacity, 1, true}, {1, capacity + 1, false}, {300, 300, capacity >= 300 && f.Value(v, "costs") == "global"}} {
			err := fused.Fits(v, facts, fused.Shape{Value: problem.Float32, Count: 3, Rows: c.rows, Cols: c.cols})
			if (err == nil) != c.fits {
				t.Errorf("%s, %d x %d: found %v, expected that it fits: %v", v.Label, c.rows, c.cols, err, c.fits)
			}
		}
	}
}

// The prior of a shape is the variant with the fewest columns to spare.
func TestPrior(t *testing.T) {
	f := &assignment.Fused
	facts := device.Facts{Kind: device.CUDA, SharedPerBlock: 227 << 10, ThreadsPerBlock: 1024}
	for _, c := range []struct {
		rows, cols    int
		columns, held string
	}{{20, 20, "32", "shared"}, {64, 64, "64", "shared"}, {100, 20, "128", "shared"}, {20, 300, "320", "shared"}, {900, 100, "1024", "global"}, {300, 300, "320", "global"}, {300, 2000, "2048", "global"}, {5, 2049, "", ""}} {
		w := fused.Workload(fused.Shape{Value: problem.Float32, Count: 3, Rows: c.rows, Cols: c.cols}, facts)
		v := w.Prior.Variant
		if v == nil {
			if c.columns != "" {
				t.Errorf("%d x %d: found no variant", c.rows, c.cols)
			}
			continue
		}
		if f.Int(v, "columns") > 1 && c.cols == 20 {
			t.Errorf("%d x %d: found %s, expected a column a thread", c.rows, c.cols, v.Label)
		}
		if got, held := fmt.Sprint(f.Int(v, "team")*f.Int(v, "columns")), f.Value(v, "costs"); got != c.columns || held != c.held {
			t.Errorf("%d x %d: found %s, expected %s columns and %s costs", c.rows, c.cols, v.Label, cmp.Or(c.columns, "no"), c.held)
		}
	}
}
