package assignment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// lay uploads instances of one shape, one after the other.
func lay(t *testing.T, d device.Device, list []*problem.Instance) device.Buffer {
	t.Helper()
	var whole []byte
	for _, inst := range list {
		whole = append(whole, inst.Bytes()...)
	}
	b, err := d.Alloc(int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Upload(b, 0, whole), s.Sync(), s.Close()); err != nil {
		t.Fatal(err)
	}
	return b
}

// A span is a layout and between what its costs are drawn.
type span struct {
	Layout
	least, most float64
}

// uniform draws instances of one shape, some of whose pairs are forbidden; the range of
// each instance is half of that before.
func uniform(t *testing.T, r *rand.Rand, l span, forbid float64) []*problem.Instance {
	t.Helper()
	list := make([]*problem.Instance, l.Count)
	for k := range list {
		inst := &problem.Instance{Rows: l.Rows, Cols: l.Cols, Maximize: l.Maximize, Source: "test"}
		draw := make([]float64, l.Rows*l.Cols)
		for i := range draw {
			draw[i] = (l.least + math.Floor(r.Float64()*(l.most-l.least)*8)/8) / float64(int(1)<<min(k, 30))
		}
		switch l.Type {
		case problem.Int32:
			problem.SetCosts(inst, whole[int32](draw))
		case problem.Int64:
			problem.SetCosts(inst, whole[int64](draw))
		case problem.Float32:
			problem.SetCosts(inst, whole[float32](draw))
		default:
			problem.SetCosts(inst, draw)
		}
		for i := range draw {
			if r.Float64() < forbid {
				inst.Forbid(i)
			}
		}
		list[k] = inst
	}
	return list
}

func whole[T problem.Number](list []float64) []T {
	out := make([]T, len(list))
	for i, x := range list {
		out[i] = T(x)
	}
	return out
}

// Costs that are on a device are solved there as those of the host are, again and again.
func TestResident(t *testing.T) {
	t.Parallel()
	d := emulatedtest.Open(t)
	defer d.Close()
	r := rand.New(rand.NewPCG(4, 5))
	for _, l := range []span{
		{Layout{Type: problem.Float32, Count: 5, Rows: 7, Cols: 7}, 0, 1},
		{Layout{Type: problem.Float64, Count: 3, Rows: 4, Cols: 9, Maximize: true}, -20, 10},
		{Layout{Type: problem.Int64, Count: 4, Rows: 9, Cols: 5}, -3, 90},
		{Layout{Type: problem.Int32, Count: 4, Rows: 9, Cols: 4, Maximize: true}, -3, 90},
		{Layout{Type: problem.Float32, Count: 1, Rows: 1, Cols: 1}, 0, 4},
		{Layout{Type: problem.Float64, Count: 1, Rows: singleBlockRows + 1, Cols: singleBlockRows + 4}, 0, 100},
		{Layout{Type: problem.Int32, Count: 1, Rows: singleBlockRows + 1, Cols: singleBlockRows + 1, Maximize: true}, -50, 100},
		{Layout{Type: problem.Int32, Count: 2, Rows: 0, Cols: 3}, 0, 0},
		{Layout{Type: problem.Int32, Count: 2, Rows: 3, Cols: 0}, 0, 0},
		{Layout{Type: problem.Int32, Count: 0, Rows: 3, Cols: 3}, 0, 0},
	} {
		t.Run(fmt.Sprintf("%d of %d x %d %s", l.Count, l.Rows, l.Cols, l.Type), func(t *testing.T) {
			res, err := OpenResident(context.Background(), l.Layout, on(Options{Duals: true}, d))
			if err != nil {
				t.Fatal(err)
			}
			l := l
			l.Bare = true
			bare, err := OpenResident(context.Background(), l.Layout, on(Options{}, d))
			if err != nil {
				t.Fatal(err)
			}
			for round := range 3 {
				forbid := float64(round) * 0.2
				if l.Type.Integer() { // whose largest number is refused
					forbid = 0
				}
				list := uniform(t, r, l, forbid)
				costs := lay(t, d, list)
				waited := false
				got, err := res.Solve(context.Background(), costs, func(device.Stream) error {
					waited = true
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				if waited != (l.Count > 0 && l.Rows > 0 && l.Cols > 0) || len(got) != l.Count {
					t.Fatalf("waited for the caller: %v; %d results, expected %d", waited, len(got), l.Count)
				}
				column, full := make([]int32, l.Count*l.Rows), make([]bool, l.Count)
				if err := bare.SolveColumns(context.Background(), costs, nil, column, full); err != nil {
					t.Fatal(err)
				}
				for k, inst := range list {
					want, err := Solve(context.Background(), inst, on(Options{Settings: solve.Settings{Algorithm: "reference"}}, d))
					var none *problem.InfeasibleError
					if full[k] == errors.As(err, &none) {
						t.Errorf("instance %d: columns say that a full matching exists: %v", k, full[k])
					}
					if errors.As(err, &none) {
						if got[k].Column != nil || got[k].Proven {
							t.Errorf("instance %d: found a matching, expected none", k)
						}
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					if got[k].Value.Float() != want.Value.Float() || got[k].Value.String() != want.Value.String() || !got[k].Proven {
						t.Errorf("instance %d: found %s (%v, proven %v), expected %s (%v)", k, got[k].Value.String(), got[k].Value.Float(), got[k].Proven, want.Value.String(), want.Value.Float())
					}
					// Duals that prove one matching optimal prove every other that is.
					for _, one := range [][]int32{got[k].Column, column[k*l.Rows : (k+1)*l.Rows]} {
						if _, err := problem.Check(inst, one, *got[k].Duals); err != nil {
							t.Errorf("instance %d: %v", k, err)
						}
					}
				}
				if err := costs.Free(); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(res.Close(), bare.Close()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestResidentRefuses(t *testing.T) {
	d := emulatedtest.Open(t)
	defer d.Close()
	for _, l := range []Layout{
		{Type: problem.Float32, Count: -1, Rows: 2, Cols: 2},
		{Type: problem.Float32, Count: 1, Rows: -2, Cols: 2},
		{Type: "half", Count: 1, Rows: 2, Cols: 2},
	} {
		if _, err := OpenResident(context.Background(), l, on(Options{}, d)); err == nil {
			t.Errorf("%+v: expected an error", l)
		}
	}
	l := Layout{Type: problem.Float32, Count: 2, Rows: 2, Cols: 2}
	res, err := OpenResident(context.Background(), l, on(Options{}, d))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	small := lay(t, d, uniform(t, rand.New(rand.NewPCG(1, 1)), span{Layout{Type: problem.Float32, Count: 1, Rows: 2, Cols: 2}, 0, 1}, 0))
	defer small.Free()
	if _, err := res.Solve(context.Background(), small, nil); err == nil {
		t.Error("too little memory: expected an error")
	}
	if err := res.SolveColumns(context.Background(), small, nil, make([]int32, 4), make([]bool, 2)); err == nil {
		t.Error("too little memory: expected an error")
	}
}

// Costs that cannot be solved with are found on the device, and leave it as it was; integers of any
// size can.
func TestResidentCosts(t *testing.T) {
	t.Parallel()
	d := emulatedtest.Open(t)
	defer d.Close()
	for _, c := range []struct {
		l   Layout
		bad []any
	}{
		{Layout{Type: problem.Int32}, []any{int32(math.MaxInt32), int32(math.MinInt32)}},
		{Layout{Type: problem.Int64}, []any{int64(math.MaxInt64), int64(1) << 61, int64(math.MinInt64)}},
		{Layout{Type: problem.Float32}, []any{float32(math.NaN()), float32(math.Inf(-1))}},
		{Layout{Type: problem.Float64}, []any{math.NaN(), math.Inf(-1)}},
		{Layout{Type: problem.Float64, Maximize: true}, []any{math.NaN(), math.Inf(1)}},
	} {
		for _, n := range []int{3, singleBlockRows + 1} {
			l := c.l
			l.Count, l.Rows, l.Cols = 2, n, n+1
			if n > singleBlockRows {
				l.Count = 1
			}
			res, err := OpenResident(context.Background(), l, on(Options{}, d))
			if err != nil {
				t.Fatal(err)
			}
			for k, bad := range append([]any{nil}, append(c.bad, nil)...) {
				list := uniform(t, rand.New(rand.NewPCG(uint64(k), 1)), span{l, 0, 1000}, 0)
				inst, at := list[len(list)-1], n*(n+1)-2
				switch x := bad.(type) {
				case int32:
					inst.I32[at] = x
				case int64:
					inst.I64[at] = x
				case float32:
					inst.F32[at] = x
				case float64:
					inst.F64[at] = x
				}
				costs := lay(t, d, list)
				results, err := res.Solve(context.Background(), costs, nil)
				taken := bad == nil || l.Type.Integer()
				if taken && err == nil && n == 3 {
					inst.Every = true
					isOptimal(t, fmt.Sprintf("%s, a cost of %v", l.Type, bad), inst, results[1].Column, results[1], nil)
				}
				if taken != (err == nil) || err != nil && !errors.Is(err, problem.ErrCost) {
					t.Errorf("%s, %d rows, a cost of %v: found the error %v", l.Type, n, bad, err)
				}
				if err := costs.Free(); err != nil {
					t.Fatal(err)
				}
			}
			if err := res.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Large instances whose costs units round are decided from the matched and the near costs alone, with the value of the exact solve.
func TestResidentRounds(t *testing.T) {
	t.Parallel()
	d := emulatedtest.Open(t)
	defer d.Close()
	for _, wider := range []int{0, 3} {
		testRounds(t, d, singleBlockRows+8, singleBlockRows+8+wider)
	}
}

func testRounds(t *testing.T, d device.Device, rows, cols int) {
	t.Helper()
	r := rand.New(rand.NewPCG(8, 1))
	drawn := make([]float64, rows*cols)
	for k := range drawn {
		drawn[k] = r.ExpFloat64()
	}
	ties := make([]float64, rows*cols) // sums of 0.1 and 0.2 are as good as 0.3 in units, and not exactly
	for k := range ties {
		ties[k] = []float64{0.1, 0.2, 0.3, 0.30000000000000004, 1e-17}[r.IntN(5)]
	}
	for name, costs := range map[string][]float64{"drawn": drawn, "ties": ties} {
		inst, err := problem.NewInstance(rows, cols, costs, name)
		if err != nil {
			t.Fatal(err)
		}
		res, err := OpenResident(context.Background(), Layout{Type: problem.Float64, Count: 1, Rows: rows, Cols: cols}, on(Options{Duals: true}, d))
		if err != nil {
			t.Fatal(err)
		}
		memory := lay(t, d, []*problem.Instance{inst})
		got, err := res.Solve(context.Background(), memory, nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Solve(context.Background(), inst, on(Options{Settings: solve.Settings{Algorithm: "host"}}, d))
		if err != nil {
			t.Fatal(err)
		}
		if c := got[0].Certificate; !got[0].Proven || c.Rounded == 0 || got[0].Value != want.Value {
			t.Errorf("%s: found %s (proven %v, %d rounded), expected %s", name, got[0].Value, got[0].Proven, c.Rounded, want.Value)
		}
		if err := errors.Join(memory.Free(), res.Close()); err != nil {
			t.Fatal(err)
		}
	}
}
