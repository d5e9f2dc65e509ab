package problem

import (
	"math"
	"testing"
)

// Every type holds what was proven of it, and not more.
func TestAs(t *testing.T) {
	all := []Value{Int16, Int32, Int64}
	inf := float32(math.Inf(-1))
	for _, c := range []struct {
		name string
		inst *Instance
		want Value
		unit int
	}{
		{"the largest of int16", held([]int32{0, 16383, 16383, 32767}), Int16, 0},
		{"one more", held([]int32{0, 16384, 16384, 5}), Int32, 0},
		{"two agents alone are worth less", held([]int32{0, 9, 8, -32767}), Int16, 0},
		{"beyond int16 below", held([]int32{0, 9, 8, -32768}), Int32, 0},
		{"int64", held([]int64{0, 1<<30 - 1, 1<<30 - 1, 0}), Int32, 0},
		{"int64 beyond int32", held([]int64{0, 1 << 30, 1 << 30, 0}), Int64, 0},
		{"int16 stay", held([]int16{0, 1, 2, 3}), Int16, 0},
		{"quarters", held([]float64{0, 0.25, -3.5, 8}), Int16, -2},
		{"thousands", held([]float64{0, 1 << 20, 1 << 40, 1 << 30}), Int32, 20},
		{"small", held([]float32{0, 0x1p-120, 0x1p-110, 0}), Int16, -120},
		{"denormal", held([]float64{0, 0x1p-1070, 0x1p-1060, 0}), Float64, 0},
		{"tenths", held([]float64{0, 0.1, 0.2, 0.7}), Int64, -55},
		{"float32 that int64 alone would hold", held([]float32{0, 1, 0x1p-31, 0}), Float32, 0},
		{"too far apart", held([]float64{0, 1, 0x1p-62, 0}), Float64, 0},
		{"so far apart that the product with the unit is 0", held([]float64{0, 0x1p770, 0x1p-400, 0}), Float64, 0},
		{"all zero", held([]float64{0, 0, 0, 0}), Int16, 0},
		{"forbidden", held([]float32{0, 4095, 4095, inf}), Int16, 0},
		{"forbidden, one more", held([]float32{0, 4095, 4097, inf}), Int32, 0},
		{"the last value", held(append(make([]float64, 1<<13-1), 0.5)), Int16, -1},
		{"sums that float64 holds", held([]float64{0, 1, 0x1p-51, 0}), Float64, 0},
		{"and that it rounds", held([]float64{0, 1, 0x1p-52, 0}), Int64, -52},
		{"the last value too fine", held(append(make([]float64, 1<<13-1), math.Pi)), Float64, 0},
	} {
		as := c.inst.ConvertTo(all...)
		if as.Type != c.want || as.unit != c.unit || as.Changed() != (c.want != c.inst.Type) {
			t.Errorf("%s: found %s in units of 2^%d, expected %s of 2^%d", c.name, as.Type, as.unit, c.want, c.unit)
		}
		if !as.Changed() {
			continue
		}
		for mask := range c.inst.Len() {
			x, want := math.Ldexp(as.Value64(mask), as.unit), c.inst.Value64(mask)
			if math.IsInf(want, -1) {
				x, want = as.Value64(mask), math.Ldexp(-1, 8*as.Type.Size()-2)
			}
			if x != want {
				t.Errorf("%s: coalition %d is %v, expected %v", c.name, mask, x, want)
			}
		}
	}
}

func held[T Number](values []T) *Instance {
	n, err := AgentsOf(uint64(len(values)))
	if err != nil {
		panic(err)
	}
	inst := &Instance{N: n}
	SetValues(inst, values)
	return inst
}

// Totals are those of the values before, and tell structures with a forbidden block.
func TestTotal(t *testing.T) {
	inst := held([]float64{0, 1.5, math.Inf(-1), 2})
	as := inst.ConvertTo(Int16)
	for claimed, want := range map[string]string{"7": "3.5", "-6": "-3", "-7": "-inf", "-16384": "-inf"} {
		if got := as.Total(claimed); got != want {
			t.Errorf("%s: found %s, expected %s", claimed, got, want)
		}
	}
	sized := held([]int32{0, 3, 4, 50})
	if err := sized.Restrict(1 << 1); err != nil {
		t.Fatal(err)
	}
	if as := sized.ConvertTo(Int16); as.I16[3] != -1<<14 || as.Total("7") != "7" || as.Total("-16384") != "-inf" {
		t.Errorf("found %v", as.I16)
	}
}

// Values of int16 that could add up to more than int16 holds become int32, with a note.
func TestPromoteInt16(t *testing.T) {
	for _, c := range []struct {
		values []int16
		want   Value
	}{
		{[]int16{0, 16383, -16383, 32767}, Int16},
		{[]int16{0, 16384, -16384, 0}, Int32},
		{[]int16{0, 0, 0, math.MinInt16}, Int32},
	} {
		inst, err := NewInstance(c.values, "test")
		if err != nil || inst.Type != c.want || len(inst.Notes) != map[Value]int{Int16: 0, Int32: 1}[c.want] {
			t.Errorf("%v: found %v, %v", c.values, inst, err)
		}
	}
	for _, c := range []struct {
		high int16
		want Value
	}{{8191, Int16}, {16383, Int16}, {16384, Int32}} { // two members are worth -(high+1), beside one of high
		inst := held([]int16{0, c.high, 0, 0, 0, 0, 0, 1})
		if err := inst.Restrict(1<<1 | 1<<3); err != nil || inst.Type != c.want || inst.Value64(3) != math.Inf(-1) {
			t.Errorf("%d: found %v, %v", c.high, inst, err)
		}
	}
}
