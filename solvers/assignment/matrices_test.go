package assignment

import (
	"context"
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
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// Matrices on a device are solved into memory there, those that the kernel leaves open too, and when they are
// only launched.
func TestMatrices(t *testing.T) {
	t.Parallel()
	d := emulatedtest.Open(t)
	r := rand.New(rand.NewPCG(12, 5))
	for _, l := range []span{
		{Layout{Type: problem.Float32, Count: 5, Rows: 7, Cols: 7}, 0, 1},
		{Layout{Type: problem.Float64, Count: 3, Rows: 4, Cols: 9, Maximize: true}, -20, 10},
		{Layout{Type: problem.Float64, Count: 3, Rows: 6, Cols: 6}, -20, 10},
		{Layout{Type: problem.Int64, Count: 4, Rows: 9, Cols: 5}, -3, 90},
		{Layout{Type: problem.Int32, Count: 4, Rows: 9, Cols: 4, Maximize: true}, -3, 90},
		{Layout{Type: problem.Int64, Count: 3, Rows: 5, Cols: 5}, -1 << 60, 1 << 60},
		{Layout{Type: problem.Float32, Count: 1, Rows: 1, Cols: 1}, 0, 4},
		{Layout{Type: problem.Int32, Count: 2, Rows: 0, Cols: 3}, 0, 0},
		{Layout{Type: problem.Int32, Count: 2, Rows: 3, Cols: 0}, 0, 0},
		{Layout{Type: problem.Int32, Count: 0, Rows: 3, Cols: 3}, 0, 0},
	} {
		for _, forbid := range []float64{0, 0.4} {
			if l.Type.Integer() && forbid > 0 { // whose largest number forbids nothing
				continue
			}
			t.Run(fmt.Sprintf("%d of %d x %d %s, %v forbidden", l.Count, l.Rows, l.Cols, l.Type, forbid), func(t *testing.T) {
				list := uniform(t, r, l, forbid)
				switch {
				case l.Type == problem.Float64 && l.Rows == 6 && forbid == 0: // equal, but for digits that rounding to units drops
					for k := range list[0].F64 {
						list[0].F64[k] = math.Ldexp(r.Float64(), -70)
					}
					list[0].F64[0] = 1e9
				case l.Type == problem.Int32 && l.Count == 4:
					list[1].I32[3] = math.MaxInt32
				}
				for _, ties := range []Ties{AnyTies, SciPyTies} {
					checkMatrices(t, d, l.Layout, ties, list)
				}
			})
		}
	}
}

// checkMatrices solves a list on a device, waiting, and launches the solve a second time.
func checkMatrices(t *testing.T, d device.Device, l Layout, ties Ties, list []*problem.Instance) {
	t.Helper()
	ctx := context.Background()
	m, err := OpenMatrices(l, ties, on(Options{}, d))
	if err != nil {
		t.Fatal(err)
	}
	var scope device.Scope
	defer scope.Close()
	scope.CloseLater(m)
	s, err := scope.NewStream(d)
	if err != nil {
		t.Fatal(err)
	}
	costs := lay(t, d, list)
	defer costs.Free()
	least := min(l.Rows, l.Cols)
	var to Placed
	if err := scope.AllocAll(d, device.BufferFor(&to.PairRows, int64(8*l.Count*least)), device.BufferFor(&to.PairColumns, int64(8*l.Count*least)),
		device.BufferFor(&to.Columns, int64(8*l.Count*l.Rows)), device.BufferFor(&to.Status, int64(4*l.Count))); err != nil {
		t.Fatal(err)
	}
	unmatched, err := m.Solve(ctx, s, costs, to)
	if err != nil {
		t.Fatal(err)
	}
	columns, pairRows, pairColumns := make([]int64, l.Count*l.Rows), make([]int64, l.Count*least), make([]int64, l.Count*least)
	status := make([]int32, l.Count)
	if err := errors.Join(s.Download(device.Bytes(columns), to.Columns, 0), s.Download(device.Bytes(pairRows), to.PairRows, 0),
		s.Download(device.Bytes(pairColumns), to.PairColumns, 0), s.Download(device.Bytes(status), to.Status, 0)); err != nil {
		t.Fatal(err)
	}
	for k, inst := range list {
		every := *inst
		if l.Type.Integer() {
			allowEvery(&every)
		}
		own := columns[k*l.Rows:][:l.Rows]
		want, err := Solve(ctx, &every, on(Options{Settings: solve.Settings{Algorithm: "reference"}}, d))
		var none *problem.InfeasibleError
		if errors.As(err, &none) != slices.Contains(unmatched, k) {
			t.Errorf("matrix %d: unmatched are %v, the reference says %v", k, unmatched, err)
		}
		if errors.As(err, &none) {
			if slices.ContainsFunc(own, func(j int64) bool { return j != -1 }) || status[k] != assignment.FusedStatusUnmatched {
				t.Errorf("matrix %d without a full matching: found the columns %v, the status %d", k, own, status[k])
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		sum := new(big.Float).SetPrec(3000)
		for i, j := range own {
			if j >= 0 {
				c, _ := new(big.Float).SetString(every.CostDecimals(i, int(j)))
				sum.Add(sum, c)
			}
		}
		if value, _ := sum.Float64(); value != want.Value.Float() || status[k] != assignment.FusedStatusProven {
			t.Errorf("matrix %d: found %v of the value %v, the status %d, expected %s", k, own, value, status[k], want.Value.String())
		}
		for p, i := range pairRows[k*least:][:least] {
			if i < 0 || own[i] != pairColumns[k*least+p] {
				t.Errorf("matrix %d: found the pairs %v, %v of the columns %v", k, pairRows[k*least:][:least], pairColumns[k*least:][:least], own)
				break
			}
		}
	}
	if err := errors.Join(s.Fill(to.Columns, 0, to.Columns.Len(), 0xa5), m.Enqueue(s, costs, Placed{Columns: to.Columns, Status: to.Status})); err != nil {
		t.Fatal(err)
	}
	again := make([]int64, len(columns))
	if err := errors.Join(s.Download(device.Bytes(again), to.Columns, 0), s.Download(device.Bytes(status), to.Status, 0)); err != nil {
		t.Fatal(err)
	}
	for k := range list {
		if own := again[k*l.Rows:][:l.Rows]; status[k] == assignment.FusedStatusProven && !slices.Equal(own, columns[k*l.Rows:][:l.Rows]) {
			t.Errorf("matrix %d: launched alone %v, before %v", k, own, columns[k*l.Rows:][:l.Rows])
		}
	}
}

// Shapes without a kernel, costs that are not numbers and buffers that are too small are errors.
func TestMatricesRefused(t *testing.T) {
	t.Parallel()
	d := emulatedtest.Open(t)
	if _, err := OpenMatrices(Layout{Type: problem.Float32, Count: 1, Rows: 3, Cols: 5000}, AnyTies, on(Options{}, d)); !errors.Is(err, ErrShape) {
		t.Errorf("5000 columns: found %v, expected ErrShape", err)
	}
	l := Layout{Type: problem.Float32, Count: 2, Rows: 2, Cols: 2}
	m, err := OpenMatrices(l, AnyTies, on(Options{}, d))
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	inst := &problem.Instance{Rows: 2, Cols: 2, Source: "test"}
	problem.SetCosts(inst, []float32{1, float32(math.NaN()), 0, 2})
	costs := lay(t, d, []*problem.Instance{inst, inst})
	if _, err := m.Solve(context.Background(), s, costs, Placed{}); !errors.Is(err, problem.ErrCost) {
		t.Errorf("not a number: found %v, expected ErrCost", err)
	}
	if err := m.Enqueue(s, costs, Placed{Status: m.late}); err != nil { // 8 bytes, as many as two statuses
		t.Error(err)
	}
	if err := m.Enqueue(s, costs, Placed{Columns: m.late}); err == nil {
		t.Error("8 bytes for 4 columns: found no error")
	}
	if err := errors.Join(m.Close(), s.Close(), costs.Free()); err != nil {
		t.Error(err)
	}
}
