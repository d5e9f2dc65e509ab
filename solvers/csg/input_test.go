package csg

import (
	"context"
	"errors"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
	"coalesce/solvers/solve/inputtest"
)

// What programs hand over wrongly is refused with an error of the input. scripts/adversary draws such instances at random.
func TestWrongCalls(t *testing.T) {
	d := host.Open(2)
	defer d.Close()
	ctx := context.Background()
	inst, err := problem.NewInstance([]int32{0, 5, 6, 12}, "by hand")
	if err != nil {
		t.Fatal(err)
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
		"no device": func() error { _, err := Solve(ctx, inst, Options{}); return err },
		"a nil one": func() error {
			_, err := Solve(ctx, inst, Options{Settings: solve.Settings{Devices: []device.Device{nil}}})
			return err
		},
		"Reference":  func() error { _, err := Reference(nil, DP); return err },
		"method":     func() error { _, err := Reference(inst, "x"); return err },
		"Verify":     func() error { _, err := Verify(nil, []byte(`{"problem":"csg"}`)); return err },
		"BestFew":    func() error { _, err := BestFew(ctx, nil, nil, 0, 1); return err },
		"cover":      func() error { _, err := BestFew(ctx, inst, nil, 0, 1); return err },
		"WriteNPY":   func() error { return WriteNPY(nil, nil) },
		"WriteCover": func() error { return WriteCover(nil, nil, nil) },
		"Coalition":  func() error { _, err := ParseCoalition(nil, "1"); return err },
		"Certify":    func() error { _, err := problem.Check(nil, nil, ""); return err },
		"values":     func() error { _, err := problem.NewInstance(make([]int32, 3), ""); return err },
		"none":       func() error { _, err := problem.NewInstance([]float64(nil), ""); return err },
		"agents":     func() error { _, err := Generate("uniform", -1, 1); return err },
		"name":       func() error { _, err := NewDrawn("x", 4, 1, problem.Int32); return err },
		"type":       func() error { _, err := GenerateAs("uniform", 4, 1, "x"); return err },
		"sizes":      func() error { _, err := problem.ParseSizes("x"); return err },
	} {
		if panicked, err := inputtest.RecoverPanic(work); panicked != nil || !errors.Is(err, solve.ErrInput) {
			t.Errorf("%s: found %v, %v, expected an error of the input", name, err, panicked)
		}
	}
}
