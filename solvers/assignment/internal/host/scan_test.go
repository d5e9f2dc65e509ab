package host

import (
	"math/rand/v2"
	"slices"
	"testing"

	genassignment "coalesce/generated/assignment"
	"coalesce/solvers/assignment/internal/enginetest"
	"coalesce/solvers/assignment/problem"
)

// TestScansReadRows compares every variant of assignment/hostscan with rows
// read in plain Go.
func TestScansReadRows(t *testing.T) {
	family := &genassignment.Hostscan
	for k := range family.Variants {
		v := &family.Variants[k]
		t.Run(v.Label, func(t *testing.T) {
			r := rand.New(rand.NewPCG(4, uint64(k)))
			for range 40 {
				switch problem.Value(family.Value(v, "value")) {
				case problem.Int32:
					readRows(t, r, func(p *problem.Normal) PairSource { return RowScanOf(p, v) }, drawRows[int32])
				case problem.Int64:
					readRows(t, r, func(p *problem.Normal) PairSource { return RowScanOf(p, v) }, drawRows[int64])
				case problem.Float32:
					readRows(t, r, func(p *problem.Normal) PairSource { return RowScanOf(p, v) }, drawRows[float32])
				case problem.Float64:
					readRows(t, r, func(p *problem.Normal) PairSource { return RowScanOf(p, v) }, drawRows[float64])
				}
			}
		})
	}
}

func drawRows[T problem.Number](r *rand.Rand) (*problem.Instance, error) {
	rows := 1 + r.IntN(20)
	cols := rows + r.IntN(300)
	span := []int{2, 1000, 1 << 20}[r.IntN(3)]
	maximize := r.IntN(2) == 0
	costs := make([]T, rows*cols)
	for k := range costs {
		if costs[k] = T(r.IntN(span) - span/2); r.IntN(10) == 0 {
			costs[k] = problem.Forbidden[T](maximize)
		}
	}
	inst, err := problem.NewInstance(rows, cols, costs, "test")
	inst.Maximize = maximize
	return inst, err
}

// readRows reads an instance's rows from a source and checks them.
func readRows(t *testing.T, r *rand.Rand, open func(*problem.Normal) PairSource, draw func(*rand.Rand) (*problem.Instance, error)) {
	t.Helper()
	inst, err := draw(r)
	if err != nil {
		t.Fatal(err)
	}
	p, err := problem.Normalise(inst)
	if err != nil {
		t.Fatal(err)
	}
	src := open(p)
	v, u := make([]int64, p.Cols), make([]int64, p.Rows)
	for j := range v {
		v[j] = -r.Int64N(100)
	}
	for i := range u {
		u[i] = r.Int64N(100)
	}
	src.DualsChanged(v)
	rd := src.Reader()
	minima := slices.Repeat([]int64{problem.Infinity}, p.Cols)
	for i := range p.Rows {
		k, few, guess := 1+r.IntN(12), r.IntN(5), p.Min+r.Int64N(p.Max-p.Min+100)
		edges, bound := rd.AppendLeast(i, v, k, few, guess, nil)
		known := map[int32]bool{}
		row := p.Row(i, nil)
		for _, e := range edges {
			if known[e.Col] || e.Cost != row[e.Col] || e.least != row[e.Col]-v[e.Col] {
				t.Fatalf("row %d: found %+v, the cost is %d, v %d", i, e, row[e.Col], v[e.Col])
			}
			known[e.Col] = true
		}
		others := 0
		below, reached := rd.AppendBelow(i, v, nil), 0
		for j, c := range row {
			if c == problem.Infinity {
				continue
			}
			minima[j] = min(minima[j], c-u[i])
			if c < v[j] {
				reached++
			}
			if !known[int32(j)] {
				if others++; c-v[j] < bound {
					t.Fatalf("row %d, column %d: %d, not found, is below the bound %d", i, j, c-v[j], bound)
				}
			}
		}
		if len(edges) > 2*k || others > 0 && len(edges) < min(k, few) || others > 0 && bound == problem.Infinity {
			t.Fatalf("row %d: %d pairs of k %d, few %d, %d others, bound %d", i, len(edges), k, few, others, bound)
		}
		if len(below) != reached {
			t.Fatalf("row %d: %d pairs below, want %d", i, len(below), reached)
		}
	}
	for _, threads := range []int{1, 3} {
		src.ColumnMinima(u, v, threads)
		for j := range v {
			if v[j] != minima[j] && (v[j] < problem.Infinity/2 || minima[j] != problem.Infinity) {
				t.Fatalf("column %d: least %d, want %d", j, v[j], minima[j])
			}
		}
	}
}

// TestTreesReadRows does the same with points and with sparse problems.
func TestTreesReadRows(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 9))
	for range 200 {
		readRows(t, r, func(p *problem.Normal) PairSource { return newPlaces(p) }, func(r *rand.Rand) (*problem.Instance, error) {
			inst, err := enginetest.RandomPoints(r, 60)
			if err == nil {
				inst.Limit = nil
			}
			return inst, err
		})
		readRows(t, r, func(p *problem.Normal) PairSource { return sparseRows{p} }, func(r *rand.Rand) (*problem.Instance, error) {
			inst := &problem.Instance{Rows: 1 + r.IntN(9), Cols: 9 + r.IntN(60), Type: problem.Int32, Sparse: &problem.Sparse{Start: []int64{0}}}
			for range inst.Rows {
				for j := range inst.Cols {
					if r.IntN(2) == 0 {
						inst.Sparse.Col = append(inst.Sparse.Col, int32(j))
						inst.I32 = append(inst.I32, r.Int32N(50))
					}
				}
				inst.Sparse.Start = append(inst.Sparse.Start, int64(len(inst.I32)))
			}
			return inst, inst.Check()
		})
	}
}
