package csg

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
	"coalesce/solvers/solve/inputtest"
)

// filled is an instance as a program fills it.
func filled(r *rand.Rand) *Instance {
	n := r.IntN(5)
	inst := &Instance{N: n, Source: "by hand", Type: []Value{Int16, Int32, Int64, Float32, Float64}[r.IntN(5)]}
	if r.IntN(3) == 0 {
		inst.Names = []string{"a", "b", "c", "d", "e"}[:n]
	}
	draw := func(mask int) int64 {
		if mask == 0 {
			return 0
		}
		return r.Int64N(101) - 40
	}
	switch inst.Type {
	case Int16:
		inst.I16 = drawnAs[int16](n, draw)
	case Int32:
		inst.I32 = drawnAs[int32](n, draw)
	case Int64:
		inst.I64 = drawnAs[int64](n, draw)
	case Float32:
		inst.F32 = drawnAs[float32](n, draw)
	default:
		inst.F64 = drawnAs[float64](n, draw)
	}
	return inst
}

func drawnAs[T Number](n int, draw func(int) int64) []T {
	values := make([]T, 1<<n)
	for mask := range values {
		values[mask] = T(draw(mask))
	}
	return values
}

// bestOf is the value of the best partition of some agents, minus infinity where each has a forbidden
// block.
func bestOf(inst *Instance, left uint64) float64 {
	if left == 0 {
		return 0
	}
	best, lowest := math.Inf(-1), left&-left
	for rest := left ^ lowest; ; rest = (rest - 1) & (left ^ lowest) {
		best = max(best, inst.Value64(rest|lowest)+bestOf(inst, left&^(rest|lowest)))
		if rest == 0 {
			return best
		}
	}
}

// Instances and options that a program fills, rightly and wrongly, are solved for what they say, or refused
// with an error that names the field. No error says that the solver is wrong.
func TestFilledInstances(t *testing.T) {
	d := host.Open(2)
	defer d.Close()
	ctx := context.Background()
	r := rand.New(rand.NewPCG(5, 7))
	solved, refused := 0, 0
	for range 1200 {
		inst := filled(r)
		o := Options{Settings: solve.Settings{Devices: []device.Device{d}, Algorithm: []string{"", "", "apart", "dp", "idp", "price"}[r.IntN(6)]}}
		var how []string
		for range r.IntN(3) {
			if r.IntN(5) == 0 {
				how = append(how, inputtest.Spoil(r, &o))
			} else {
				how = append(how, inputtest.Spoil(r, inst))
			}
		}
		if o.TimeLimit != 0 && o.TimeLimit < time.Second {
			o.TimeLimit = min(o.TimeLimit, 0)
		}
		o.Log, o.Progress, o.Checkpoint = nil, nil, "" // which would write a file
		whole := *inst
		var answer *Result
		for name, work := range map[string]func() error{
			"Solve": func() (err error) {
				answer, err = Solve(ctx, inst, o)
				if err == nil {
					text, failed := json.Marshal(answer)
					v, err := Verify(inst, text)
					return errors.Join(failed, err, func() error {
						if v == nil {
							return nil
						}
						return v.Err()
					}())
				}
				return err
			},
			"SolveCover": func() error {
				_, cover, err := SolveCover(ctx, inst, o)
				if err != nil || cover == nil {
					return err
				}
				_, err = BestFew(ctx, inst, cover, inst.Grand(), 2)
				return err
			},
			"Reference": func() error { _, err := Reference(inst, DP); return err },
			"WriteNPY":  func() error { return WriteNPY(&bytes.Buffer{}, inst) },
			"Check":     func() error { return inst.Check() },
			"Restrict":  func() error { x := whole; x.I16, x.I32, x.I64, x.F32, x.F64 = clone(inst); return x.Restrict(2) },
			"Verify":    func() error { _, err := Verify(inst, []byte(`{"problem":"csg"}`)); return err },
			"Session": func() error {
				s, err := Open(o)
				if err != nil {
					return err
				}
				_, err = s.Solve(ctx, inst)
				return errors.Join(err, s.Close())
			},
		} {
			panicked, err := inputtest.Call(work)
			switch {
			case panicked != nil:
				t.Fatalf("%s of %v: panic: %v", name, how, panicked)
			case errors.Is(err, ErrCheck):
				t.Errorf("%s of %v: %v", name, how, err)
			case err == nil || errors.Is(err, solve.ErrInfeasible) || errors.Is(err, ErrValue):
			case !errors.Is(err, solve.ErrInput) || !inputtest.Names(err.Error(), problem.Instance{}, o):
				t.Errorf("%s of %v: found the error %v, expected one that names a field", name, how, err)
			default:
				refused++
			}
		}
		if answer == nil {
			continue
		}
		want := bestOf(inst, inst.Grand())
		if got := answer.Value.Float(); answer.Value == "" && !math.IsInf(want, -1) || answer.Value != "" && math.Abs(got-want) > 1e-6*math.Abs(want) {
			t.Errorf("%v: found %q, expected %v", how, answer.Value, want)
		}
		solved++
	}
	if solved < 200 || refused < 200 {
		t.Errorf("%d instances were solved and %d calls refused, expected more", solved, refused)
	}
	for name, work := range map[string]func() error{
		"Solve": func() error {
			_, err := Solve(ctx, nil, Options{Settings: solve.Settings{Devices: []device.Device{d}}})
			return err
		},
		"SolveCover": func() error {
			_, _, err := SolveCover(ctx, nil, Options{Settings: solve.Settings{Devices: []device.Device{d}}})
			return err
		},
		"no device": func() error { _, err := Solve(ctx, filled(r), Options{}); return err },
		"a nil one": func() error {
			_, err := Solve(ctx, filled(r), Options{Settings: solve.Settings{Devices: []device.Device{nil}}})
			return err
		},
		"Reference":  func() error { _, err := Reference(nil, DP); return err },
		"method":     func() error { _, err := Reference(filled(r), "x"); return err },
		"Verify":     func() error { _, err := Verify(nil, []byte(`{"problem":"csg"}`)); return err },
		"BestFew":    func() error { _, err := BestFew(ctx, nil, nil, 0, 1); return err },
		"cover":      func() error { _, err := BestFew(ctx, filled(r), nil, 0, 1); return err },
		"WriteNPY":   func() error { return WriteNPY(nil, nil) },
		"WriteCover": func() error { return WriteCover(nil, nil, nil) },
		"Coalition":  func() error { _, err := ParseCoalition(nil, "1"); return err },
		"Certify":    func() error { _, err := Check(nil, nil, ""); return err },
		"values":     func() error { _, err := NewInstance(make([]int32, 3), ""); return err },
		"none":       func() error { _, err := NewInstance([]float64(nil), ""); return err },
		"agents":     func() error { _, err := Generate("uniform", -1, 1); return err },
		"name":       func() error { _, err := Drawn("x", 4, 1, Int32); return err },
		"type":       func() error { _, err := GenerateAs("uniform", 4, 1, "x"); return err },
		"sizes":      func() error { _, err := ParseSizes("x"); return err },
	} {
		if panicked, err := inputtest.Call(work); panicked != nil || !errors.Is(err, solve.ErrInput) {
			t.Errorf("%s: found %v, %v, expected an error of the input", name, err, panicked)
		}
	}
}

func clone(inst *Instance) ([]int16, []int32, []int64, []float32, []float64) {
	return append([]int16(nil), inst.I16...), append([]int32(nil), inst.I32...), append([]int64(nil), inst.I64...), append([]float32(nil), inst.F32...), append([]float64(nil), inst.F64...)
}
