package assignment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
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

// uniform draws instances of one shape, some of whose pairs are forbidden.
func uniform(t *testing.T, r *rand.Rand, l Layout, forbid float64) []*problem.Instance {
	t.Helper()
	list := make([]*problem.Instance, l.Count)
	for k := range list {
		inst := &problem.Instance{Rows: l.Rows, Cols: l.Cols, Maximize: l.Maximize, Source: "test"}
		draw := make([]float64, l.Rows*l.Cols)
		for i := range draw {
			draw[i] = l.Least + math.Floor(r.Float64()*(l.Most-l.Least)*8)/8
		}
		switch l.Type {
		case Int32:
			problem.SetCosts(inst, whole[int32](draw))
		case Int64:
			problem.SetCosts(inst, whole[int64](draw))
		case Float32:
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

func whole[T Number](list []float64) []T {
	out := make([]T, len(list))
	for i, x := range list {
		out[i] = T(x)
	}
	return out
}

// Costs that are on a device are solved there as those of the host are, again and again.
func TestResident(t *testing.T) {
	d := emulatedtest.Open(t)
	defer d.Close()
	r := rand.New(rand.NewPCG(4, 5))
	for _, l := range []Layout{
		{Type: Float32, Count: 5, Rows: 7, Cols: 7, Most: 1},
		{Type: Float64, Count: 3, Rows: 4, Cols: 9, Least: -20, Most: 10, Maximize: true},
		{Type: Int64, Count: 4, Rows: 9, Cols: 5, Least: -3, Most: 90},
		{Type: Int32, Count: 4, Rows: 9, Cols: 4, Least: -3, Most: 90, Maximize: true},
		{Type: Float32, Count: 1, Rows: 1, Cols: 1, Most: 4},
		{Type: Float64, Count: 1, Rows: soloRows + 1, Cols: soloRows + 4, Most: 100},
		{Type: Int32, Count: 1, Rows: soloRows + 1, Cols: soloRows + 1, Least: -50, Most: 100, Maximize: true},
		{Type: Int32, Count: 2, Rows: 0, Cols: 3},
		{Type: Int32, Count: 2, Rows: 3, Cols: 0},
		{Type: Int32, Count: 0, Rows: 3, Cols: 3},
	} {
		t.Run(fmt.Sprintf("%d of %d x %d %s", l.Count, l.Rows, l.Cols, l.Type), func(t *testing.T) {
			res, err := OpenResident(context.Background(), l, on(Options{Duals: true}, d))
			if err != nil {
				t.Fatal(err)
			}
			for round := range 3 {
				list := uniform(t, r, l, float64(round)*0.2)
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
				for k, inst := range list {
					want, err := Solve(context.Background(), inst, on(Options{Settings: solve.Settings{Algorithm: "reference"}}, d))
					var none *InfeasibleError
					if errors.As(err, &none) {
						if got[k].Column != nil || got[k].Proven {
							t.Errorf("instance %d: found a matching, expected none", k)
						}
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					if got[k].Value != want.Value || got[k].Exact != want.Exact || !got[k].Proven {
						t.Errorf("instance %d: found %s (%v, proven %v), expected %s (%v)", k, got[k].Exact, got[k].Value, got[k].Proven, want.Exact, want.Value)
					}
					if _, err := problem.Check(inst, got[k].Column, *got[k].Duals); err != nil {
						t.Errorf("instance %d: %v", k, err)
					}
				}
				if err := costs.Free(); err != nil {
					t.Fatal(err)
				}
			}
			if err := res.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestResidentRefuses(t *testing.T) {
	d := emulatedtest.Open(t)
	defer d.Close()
	for _, l := range []Layout{
		{Type: Float32, Count: 1, Rows: 2, Cols: 2, Most: math.Inf(1)},
		{Type: Float32, Count: 1, Rows: 2, Cols: 2, Least: 2, Most: 1},
		{Type: Float64, Count: 1, Rows: 2, Cols: 2, Least: math.NaN()},
		{Type: Int64, Count: 1, Rows: 2, Cols: 2, Most: 1 << 61},
		{Type: Float32, Count: -1, Rows: 2, Cols: 2},
		{Type: Float32, Count: 1, Rows: -2, Cols: 2},
		{Type: "half", Count: 1, Rows: 2, Cols: 2},
	} {
		if _, err := OpenResident(context.Background(), l, on(Options{}, d)); err == nil {
			t.Errorf("%+v: expected an error", l)
		}
	}
	l := Layout{Type: Float32, Count: 2, Rows: 2, Cols: 2, Most: 1}
	res, err := OpenResident(context.Background(), l, on(Options{}, d))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	small := lay(t, d, uniform(t, rand.New(rand.NewPCG(1, 1)), Layout{Type: Float32, Count: 1, Rows: 2, Cols: 2, Most: 1}, 0))
	defer small.Free()
	if _, err := res.Solve(context.Background(), small, nil); err == nil {
		t.Error("too little memory: expected an error")
	}
	one, err := l.Scale()
	wide := l
	wide.Most = 1000
	other, failed := wide.Scale()
	if err != nil || failed != nil || one == other {
		t.Errorf("scales %v and %v, errors %v and %v", one, other, err, failed)
	}
	if !slices.Contains([]float64{math.Ldexp(1, 58), math.Ldexp(1, 59)}, one) {
		t.Errorf("the scale of 2 x 2 costs up to 1 is %v, expected as many bits as fit below 2^60", one)
	}
}
