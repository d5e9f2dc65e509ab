package assignment

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"coalesce/solvers/assignment/internal/draw"
	"coalesce/solvers/assignment/internal/enginetest"
	"coalesce/solvers/assignment/internal/formats"
	"coalesce/solvers/assignment/problem"
)

func drawn(t *testing.T, d draw.Drawing) *problem.Instance {
	t.Helper()
	inst, err := draw.Draw(d)
	if err != nil {
		t.Fatalf("%s: %v", d, err)
	}
	return inst
}

// Every kind is drawn as every type that it has, and solves.
func TestEveryKind(t *testing.T) {
	onlyFloats := map[string]bool{"logarithmic": true, "signed": true}
	for _, name := range draw.Kinds() {
		for _, value := range []problem.Value{problem.Int32, problem.Int64, problem.Float32, problem.Float64} {
			d := draw.Drawing{Kind: name, Rows: 15, Cols: 20, Seed: enginetest.Seed, Type: value}
			if onlyFloats[name] && value.Integer() {
				if _, err := draw.Draw(d); err == nil {
					t.Errorf("%s as %s: no error", name, value)
				}
				continue
			}
			for _, d.Permuted = range []bool{false, true} {
				inst := drawn(t, d)
				again := drawn(t, d)
				if !bytes.Equal(inst.Bytes(), again.Bytes()) || inst.Type != value {
					t.Errorf("%s: two drawings differ, or the type is %s", d, inst.Type)
				}
				solved(t, inst, Options{})
			}
		}
	}
}

// Order and r_i + c_j change nothing but the value, by their sum; the rest
// changes each cost by at most 1.
func TestDisguises(t *testing.T) {
	for _, kind := range []string{"uniform", "geom", "machol", "lowrank"} {
		d := draw.Drawing{Kind: kind, Rows: 40, Cols: 40, Range: 500, Seed: enginetest.Seed, Type: problem.Int32}
		plain := drawn(t, d)
		value := solved(t, plain, Options{}).Value.Float()
		d.Permuted = true
		if r := solved(t, drawn(t, d), Options{}); r.Value.Float() != value {
			t.Errorf("%s: found %v, expected %v", d, r.Value.Float(), value)
		}
		d.Permuted, d.Shift = false, 1000
		shifted := drawn(t, d)
		sum := 0.0
		for i := range 40 {
			sum += float64(shifted.I32[i*41] - plain.I32[i*41])
		}
		if r := solved(t, shifted, Options{}); r.Value.Float() != value+sum {
			t.Errorf("%s: found %v, expected %v", d, r.Value.Float(), value+sum)
		}
		d.Shift, d.Jitter = 0, true
		counts := map[int32]int{}
		for k, c := range drawn(t, d).I32 {
			counts[c-plain.I32[k]]++
		}
		if len(counts) != 3 || counts[-1] < 400 || counts[0] < 400 || counts[1] < 400 {
			t.Errorf("%s: found changes %v, expected -1, 0 and 1 alike", d, counts)
		}
	}
}

func TestSanityIsTheIdentity(t *testing.T) {
	for _, value := range []problem.Value{problem.Int32, problem.Float64} {
		for i, j := range solved(t, drawn(t, draw.Drawing{Kind: "planted_identity", Rows: 50, Cols: 50, Seed: enginetest.Seed, Type: value}), Options{}).Column {
			if i != int(j) {
				t.Errorf("%s: row %d is matched to %d", value, i, j)
			}
		}
	}
}

// Points kept are the points of the distances.
func TestPointsAreTheirDistances(t *testing.T) {
	for _, kind := range []string{"geom", "disjoint", "spatial"} {
		for _, value := range []problem.Value{problem.Int64, problem.Float64} {
			d := draw.Drawing{Kind: kind, Rows: 12, Cols: 17, Seed: enginetest.Seed, Type: value, Permuted: true}
			dense := drawn(t, d)
			d.Points = true
			points := drawn(t, d)
			for i := range d.Rows {
				for j := range d.Cols {
					if dense.CostDecimals(i, j) != points.CostDecimals(i, j) {
						t.Fatalf("%s as %s, %d and %d: %s kept as points, %s", kind, value, i, j, points.CostDecimals(i, j), dense.CostDecimals(i, j))
					}
				}
			}
			if a, b := solved(t, dense, Options{}), solved(t, points, Options{}); a.Value.String() != b.Value.String() {
				t.Errorf("%s as %s: found %s and %s", kind, value, a.Value.String(), b.Value.String())
			}
		}
	}
}

func TestDensity(t *testing.T) {
	for _, size := range [][2]int{{100, 100}, {50, 200}, {200, 50}} {
		inst := drawn(t, draw.Drawing{Kind: "uniform", Rows: size[0], Cols: size[1], Seed: enginetest.Seed, Type: problem.Int32, Density: 0.1})
		if n := len(inst.Sparse.Col); n < 800 || n > 1150 {
			t.Errorf("%v: found %d pairs, expected about 1000", size, n)
		}
		before := solved(t, inst, Options{})
		var b bytes.Buffer
		if err := formats.WriteMarket(&b, inst); err != nil {
			t.Fatal(err)
		}
		again, err := formats.ReadFrom(&b, -1, "a.mtx", formats.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if r := solved(t, again, Options{}); r.Value.String() != before.Value.String() || r.Certificate.Pairs != before.Certificate.Pairs {
			t.Errorf("%v: found %s after it was written, %s before", size, r.Value.String(), before.Value.String())
		}
	}
}

func TestDrawErrors(t *testing.T) {
	for _, d := range []draw.Drawing{
		{Kind: "nosuch", Type: problem.Int32},
		{Kind: "uniform", Type: "int8"},
		{Kind: "uniform", Type: problem.Int32, Rows: -1},
		{Kind: "uniform", Type: problem.Int32, Density: math.NaN()},
		{Kind: "uniform", Type: problem.Int32, Points: true},
		{Kind: "geom", Type: problem.Int32, Points: true, Jitter: true},
	} {
		d.Cols = 3
		if _, err := draw.Draw(d); err == nil {
			t.Errorf("%+v: no error", d)
		}
	}
	if _, err := draw.Generate("uniform", 10, 10, 1<<40, enginetest.Seed, problem.Int32); !errors.Is(err, problem.ErrCost) {
		t.Errorf("2^40 as int32: found %v", err)
	}
}
