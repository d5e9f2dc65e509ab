package batch

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"coalesce/generated/assignment"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/assignment/internal/enginetest"
	"coalesce/solvers/assignment/problem"
)

// magnitudes draws an instance whose costs have a magnitude of their own, some of them
// forbidden, and says the range of the others.
func magnitudes[T problem.Number](r *rand.Rand, rows, cols int, maximize bool, exponents int) (inst *problem.Instance, least, most float64) {
	inst = &problem.Instance{Rows: rows, Cols: cols, Maximize: maximize, Source: "test"}
	least, most = math.Inf(1), math.Inf(-1)
	costs := make([]T, rows*cols)
	size := math.Ldexp(1, r.IntN(exponents)-exponents/2)
	for k := range costs {
		costs[k] = T((r.Float64() - 0.3) * size)
		least, most = min(least, float64(costs[k])), max(most, float64(costs[k]))
	}
	problem.SetCosts(inst, costs)
	if r.IntN(3) == 0 && !inst.Type.Integer() {
		least, most = math.Inf(1), math.Inf(-1)
		for k := range costs {
			if r.IntN(4) == 0 {
				inst.Forbid(k)
			} else {
				least, most = min(least, float64(costs[k])), max(most, float64(costs[k]))
			}
		}
	}
	if least > most {
		least, most = 0, 0
	}
	return inst, least, most
}

// The range and the scale that devices find are those of the host.
func TestFit(t *testing.T) {
	d := emulatedtest.Open(t)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := rand.New(rand.NewPCG(8, 1))
	for _, value := range []problem.Value{problem.Int32, problem.Int64, problem.Float32, problem.Float64} {
		f, err := OpenFit(d, value)
		if err != nil {
			t.Fatal(err)
		}
		for k := range 40 {
			rows, cols := 1+r.IntN(8), 8+r.IntN(90)
			if k%20 == 0 {
				rows, cols = 100, 500+r.IntN(99) // of several blocks
			}
			maximize := k%2 == 1
			var inst *problem.Instance
			var least, most float64
			switch value {
			case problem.Int32:
				inst, least, most = magnitudes[int32](r, rows, cols, maximize, 60)
			case problem.Int64:
				inst, least, most = magnitudes[int64](r, rows, cols, maximize, 104)
			case problem.Float32:
				inst, least, most = magnitudes[float32](r, rows, cols, maximize, 250)
			default:
				inst, least, most = magnitudes[float64](r, rows, cols, maximize, 2040)
			}
			want := &problem.Normal{Instance: inst, Rows: rows, Cols: cols, Limit: problem.Infinity}
			if value.Integer() {
				if err := want.FitIntegers(int64(least), int64(most)); err != nil {
					t.Fatal(err)
				}
			} else {
				if err := want.FitFloats(least, most, math.MinInt32); err != nil {
					t.Fatal(err)
				}
			}
			p := problem.Normal{Instance: inst, Rows: rows, Cols: cols, Limit: problem.Infinity}
			costs, err := d.Alloc(int64(len(inst.Bytes())))
			if err == nil {
				err = s.Upload(costs, 0, inst.Bytes())
			}
			if err != nil {
				t.Fatal(err)
			}
			whole := p
			if err := f.FindRange(d, s, &whole, costs); err != nil || whole != *want {
				t.Errorf("%s %d: range of many blocks: %v, found %+v, expected %+v", value, k, err, whole, *want)
			}
			e, err := OpenFitted(d, enginetest.SafeOf(&assignment.Batch, value), &p, 1, true, k%3 == 0)
			if err != nil {
				t.Fatal(err)
			}
			one := p
			if rows < 10 {
				if err := errors.Join(e.Solve(context.Background(), s, costs), e.SetFittedRange(0, &one)); err != nil || one != *want {
					t.Errorf("%s %d: range of one: %v, found %+v, expected %+v", value, k, err, one, *want)
				}
				if sol, full := e.Solution(0); full {
					if err := e.VerifySolution(0, &one, sol); err != nil {
						t.Errorf("%s %d: %v", value, k, err)
					}
				}
			}
			if err := errors.Join(e.Close(), costs.Free()); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
