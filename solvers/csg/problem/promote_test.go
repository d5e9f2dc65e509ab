package problem

import (
	"errors"
	"math"
	"testing"
)

func TestPromote(t *testing.T) {
	inst, err := NewInstance([]int32{7, 1 << 30, 5, 1 << 30}, "test")
	if err != nil {
		t.Fatal(err)
	}
	if inst.Type != Int64 || inst.I32 != nil || len(inst.Notes) != 2 || inst.I64[1] != 1<<30 {
		t.Errorf("int32: %s %v %v", inst.Type, inst.I64, inst.Notes)
	}
	if inst, err = NewInstance([]int32{0, 1<<30 - 1, math.MinInt32 / 2, 0}, "test"); err != nil || inst.Type != Int64 {
		t.Errorf("2^30 agents times 2 = 2^31: %v %v", inst, err)
	}
	if inst, err = NewInstance([]int32{0, 1<<30 - 1, -(1<<30 - 1), 0}, "test"); err != nil || inst.Type != Int32 {
		t.Errorf("sums of 2^31-2: %v %v", inst, err)
	}
	if inst, err = NewInstance([]float32{0, 3e38, 0, 0}, "test"); err != nil || inst.Type != Float64 {
		t.Errorf("float32: %v %v", inst, err)
	}
	bad := []func() (*Instance, error){
		func() (*Instance, error) { return NewInstance([]int64{0, 1, math.MinInt64, 0}, "test") },
		func() (*Instance, error) { return NewInstance([]float64{0, 1, 1.7e308, 0}, "test") },
		func() (*Instance, error) { return NewInstance([]float64{0, 1, math.NaN(), 0}, "test") },
		func() (*Instance, error) {
			return NewInstance([]float32{0, 1, float32(math.Inf(1)), 0}, "test")
		},
	}
	for i, make := range bad {
		_, err := make()
		var entry *EntryError
		if !errors.As(err, &entry) || entry.Mask != 2 || entry.Name != "{2}" || !errors.Is(err, ErrValue) {
			t.Errorf("case %d: %v", i, err)
		}
	}
	if _, err := NewInstance([]int32{0, 1, 2}, "test"); err == nil {
		t.Error("three values have no error")
	}
}
