package autotune

import (
	"testing"

	"coalesce/runtime/device"
)

func TestShare(t *testing.T) {
	f := &device.Family{Params: []string{"value"}}
	for _, v := range []string{"int32", "int32", "int32", "int64", "int64", "float32"} {
		f.Variants = append(f.Variants, device.Variant{Values: []string{v}})
	}
	w := func(v string) map[string]string { return map[string]string{"value": v} }
	for _, c := range []struct {
		fixed []map[string]string
		want  float64
	}{
		{[]map[string]string{w("int32"), w("int64")}, 13.0 / 25},
		{[]map[string]string{w("int64")}, 1},
		{[]map[string]string{w("float32"), w("int64")}, 1.0 / 13}, // one variant leaves no choice
		{[]map[string]string{w("float32")}, 1},
		{[]map[string]string{w("float32"), w("float32")}, 0.5},
		{nil, 0},
	} {
		if got := share(f, device.Facts{}, c.fixed); got != c.want {
			t.Errorf("share of %v: %v, expected %v", c.fixed, got, c.want)
		}
	}
}

func TestChoices(t *testing.T) {
	f := &device.Family{Params: []string{"value"}}
	for _, v := range []string{"int32", "int32", "float32"} {
		f.Variants = append(f.Variants, device.Variant{Values: []string{v}})
	}
	w := func(v string) map[string]string { return map[string]string{"value": v} }
	if got := choices(f, device.Facts{}, []map[string]string{w("float32"), w("int32")}); len(got) != 1 || got[0]["value"] != "int32" {
		t.Errorf("one of two workloads leaves a choice: %v", got)
	}
	if got := choices(f, device.Facts{}, []map[string]string{w("float32")}); len(got) != 1 {
		t.Errorf("the only workload, which leaves no choice: %v", got)
	}
}
