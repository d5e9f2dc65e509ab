package assignment

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"coalesce/solvers/assignment/internal/formats"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// Results of every cost type, sense and shape that were printed with their duals are
// proven by these alone.
func TestVerifyReadsWhatIsPrinted(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 14))
	rounded := 0
	for _, value := range []problem.Value{problem.Int32, problem.Int64, problem.Float32, problem.Float64} {
		for _, kind := range []string{"uniform", "geom", "logarithmic"} {
			for _, shape := range [][2]int{{1, 1}, {7, 7}, {5, 9}, {9, 5}} {
				if kind == "logarithmic" && value.Integer() {
					continue
				}
				inst, err := Generate(kind, shape[0], shape[1], 1000, r.Uint64(), value)
				if err != nil {
					t.Fatal(err)
				}
				inst.Maximize = r.IntN(2) == 0
				if r.IntN(2) == 0 {
					limit := 300.0
					inst.Limit = &limit
				}
				solved := solved(t, inst, Options{Duals: true})
				text, err := json.Marshal(solved)
				if err != nil {
					t.Fatal(err)
				}
				v, err := Verify(inst, text, nil)
				if err != nil || v.Err() != nil || !v.BoundChecked || !v.Proven || !v.Feasible || string(v.Value) != solved.Value.String() {
					t.Errorf("%s of %s, %v: found %+v, %v", kind, value, shape, v, err)
				}
				if !solved.Certificate.Exact {
					rounded++
				}
			}
		}
	}
	if rounded < 4 {
		t.Errorf("%d of the results were rounded, expected some", rounded)
	}
}

// Rankings and worst pairs of every cost type, sense and shape are read back, and each is refuted where
// two matchings change places, one is listed twice or a better matching is hidden by a worse one.
func TestVerifyReadsRankingsAndWorstPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 15))
	swapped, worse := 0, 0
	read := func(inst *problem.Instance, r *Result) *solve.Verdict {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		v, err := Verify(inst, text, nil)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for n := range 150 {
		inst := small(rng)
		worst, err := Solve(t.Context(), inst, Options{Bottleneck: true})
		if worst == nil {
			t.Fatal(err)
		}
		if v := read(inst, worst); v.Err() != nil || !v.Proven || !v.BoundChecked {
			t.Errorf("instance %d: found %+v of %+v", n, v, worst)
		}
		if errors.Is(err, solve.ErrInfeasible) {
			continue
		}
		if rng.IntN(3) == 0 {
			limit := float64(rng.IntN(9) - 2)
			inst.Limit = &limit
		}
		ranking := solved(t, inst, Options{KBest: 2 + rng.IntN(20), Duals: true})
		if v := read(inst, ranking); v.Err() != nil || !v.Proven || !v.BoundChecked {
			t.Errorf("instance %d: found %+v of %+v", n, v, ranking)
		}
		best := ranking.Best
		for k := range best[1:] {
			ranking.Best = slices.Clone(best)
			ranking.Best[k+1] = best[k]
			if v := read(inst, ranking); v.Err() == nil {
				t.Errorf("instance %d: matching %d is listed twice, and nothing is refuted", n, k)
			}
			p, err := problem.Normalise(inst)
			if err != nil {
				t.Fatal(err)
			}
			if objective(p, inst, best[k].Column).Cmp(objective(p, inst, best[k+1].Column)) != 0 {
				ranking.Best[k], ranking.Best[k+1] = best[k+1], best[k]
				swapped++
				if v := read(inst, ranking); v.Err() == nil {
					t.Errorf("instance %d: matchings %d and %d changed places, and nothing is refuted", n, k, k+1)
				}
			}
		}
		if inst.Limit != nil {
			continue
		}
		matchings(inst, func(column []int32) {
			row := worstRow(inst, column)
			x := *worst
			if x.Column, x.Value = column, solve.Number(inst.CostDecimals(row, int(column[row]))); x.Value == worst.Value {
				return
			}
			worse++
			if v := read(inst, &x); v.Err() == nil {
				t.Errorf("instance %d: %v is worth %s, the best %s, and nothing is refuted", n, column, x.Value.String(), worst.Value.String())
			}
		})
	}
	if swapped < 100 || worse < 100 {
		t.Errorf("%d places were swapped and %d matchings worse, expected more", swapped, worse)
	}
}

// Duals are read back to the unit, also where a float64 has too few bits.
func TestDualsKeepEveryBit(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 71))
	inst, err := problem.NewInstance(200, 200, make([]float64, 200*200), "zeros")
	if err != nil {
		t.Fatal(err)
	}
	for _, scale := range []float64{1, -1, 0x1p-40, 0x1p13, -0x1p60, 0x1p1000, -0x1p-900} {
		d := problem.Duals{Scale: scale, V: make([]int64, 200)}
		for k := range 200 {
			d.U = append(d.U, r.Int64N(1<<(1+k%61))*(1-2*int64(k%2)))
		}
		copy(d.V, []int64{1 << 53, 1<<53 - 1, 1<<53 + 1, -1 << 53, problem.MaxDual, -problem.MaxDual, problem.MaxDual - 1, 1<<52 - 1})
		text, err := json.Marshal(&d)
		if err != nil {
			t.Fatal(err)
		}
		got, err := formats.ParseDuals(text, "duals", inst, scale)
		if err != nil {
			t.Errorf("scale %v: %v", scale, err)
			continue
		}
		for k := range 200 {
			if got.U[k] != d.U[k] || got.V[k] != d.V[k] {
				t.Errorf("scale %v: found %d and %d, expected %d and %d", scale, got.U[k], got.V[k], d.U[k], d.V[k])
			}
		}
	}
}

func TestDualsThatAreNoUnits(t *testing.T) {
	inst, err := problem.NewInstance(1, 1, []float64{1}, "one")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dual  string
		scale float64
	}{
		{"0.5", 1}, {"1.0000000000000002", 1024}, {"9007199254740993.5", 1}, {"1e300", 1}, {"-1e400", 1}, {"1", 0x1p62}, {"1e-30", 1}, {"1", math.MaxFloat64},
	} {
		text := `{"u": [` + c.dual + `], "v": [0]}`
		if _, err := formats.ParseDuals([]byte(text), "duals", inst, c.scale); err == nil || !strings.Contains(err.Error(), "expected a") {
			t.Errorf("%s in units of 1/%v: found %v", c.dual, c.scale, err)
		}
	}
}

// Objects that are no results of assignments are errors, never panics.
func TestVerifyRefusesOthers(t *testing.T) {
	inst, err := problem.NewInstance(2, 2, []int32{1, 2, 3, 4}, "four")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "[]", "{}", `{"problem": "csg"}`, `{"problem": "assignment", "solution": [99999999999]}`, `{"problem": "assignment", "value": []}`} {
		if v, err := Verify(inst, []byte(text), nil); err == nil {
			t.Errorf("%q: found %+v", text, v)
		}
	}
	head := `{"problem": "assignment", "size": {"rows": 2, "columns": 2}, "sense": "minimize", "type": "int32", `
	for _, text := range []string{
		head + `"solution": null}`,
		head + `"solution": []}`,
		head + `"solution": [0, 2]}`,
		head + `"solution": [0, -7]}`,
		head + `"solution": [1, 1]}`,
		head + `"solution": [0, -1]}`,
		head + `"solution": [0, 1], "matched": 2, "value": 5, "bound": 5, "gap": 0, "proven": true}`,
		head + `"solution": null, "proven": true, "certificate": {"hall": {"side": "rows", "members": [0, 99999999999], "partners": []}}}`,
		head + `"solution": null, "proven": true, "certificate": {"hall": {"side": "rows", "members": [0, 1], "partners": [0]}}}`,
		head + `"solution": [0, 1], "matched": 2, "value": 5, "duals": {"u": [1, 3], "v": [0, 1]}, "certificate": {"scale": 0}}`,
		head + `"solution": [0, 1], "matched": 2, "value": 5, "duals": {"u": [1, 3], "v": [0, 1]}, "certificate": {"scale": 0.3}}`,
	} {
		if v, err := Verify(inst, []byte(text), nil); err != nil || v.Err() == nil || v.Proven || v.BoundChecked {
			t.Errorf("%s: found %+v, %v", text, v, err)
		}
	}
	if v, err := Verify(inst, []byte(head+`"solution": [0, 1], "matched": 2, "value": 5}`), nil); err != nil || v.Err() != nil || v.Proven {
		t.Errorf("nothing is claimed: found %+v, %v", v, err)
	}
}
