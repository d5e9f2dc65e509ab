package tabu

import (
	"errors"
	"testing"

	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/qubo/problem"
)

func TestFlipping(t *testing.T) {
	d := emulatedtest.Open(t)
	for _, c := range []struct {
		n     int
		row   string
		label string
	}{{100, "int8", ""}, {200, "int8", "block=32,items=4,row=int8,cluster=2,searches=0,meet=messages"}, {90, "int16", ""}, {120, "int32", ""},
		{100, "float32", ""}, {100, "pairs", ""}, {1200, "pairs", "block=32,items=80,row=pairs,cluster=1,searches=0,meet=barrier"}} {
		f, err := OpenFlipping(d, c.n, c.row, c.label)
		if err != nil {
			t.Fatal(err)
		}
		for number := range int64(2) {
			if _, err := f.Round(number, 3); err != nil {
				t.Fatal(err)
			}
			if err := f.Check(5); err != nil {
				t.Error(err)
			}
		}
		f.draw.seed++
		if err := f.Check(1); !errors.Is(err, problem.ErrCheck) {
			t.Errorf("%s: another problem's gains pass: %v", f.Variant, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, row := range []string{"int8", "int16", "int32", "int64", "bits"} {
		labels, err := FlippingVariants(d.Facts(), 65536, row)
		if err != nil || len(labels) == 0 {
			t.Errorf("65536 variables, %s: %v, %v", row, labels, err)
		}
	}
	for n, row := range map[int]string{100: "int4", 20000: "pairs"} {
		if _, err := OpenFlipping(d, n, row, ""); err == nil {
			t.Errorf("%d variables, rows of type %s: no error", n, row)
		}
	}
}
