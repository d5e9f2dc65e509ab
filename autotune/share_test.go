package autotune

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"coalesce/autotune/subject"
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

// ofFamily is a subject of which a sharing asks the family alone.
type ofFamily struct {
	subject.Subject
	f *device.Family
}

func (o ofFamily) Family() *device.Family { return o.f }

// Every family has a size decided before any has two, whichever has more workloads; algorithms take
// part when every family of kernels has had three.
func TestSteps(t *testing.T) {
	s := &sharing{}
	for _, of := range []struct {
		name, target     string
		workloads, sizes int
	}{{"many", "cuda", 3, 2}, {"choice", "", 1, 2}, {"one", "cuda", 1, 5}} {
		f := &device.Family{Name: of.name, Target: of.target}
		for w := range of.workloads {
			s.units = append(s.units, &unit{
				Task:  Task{Subject: ofFamily{f: f}, Fixed: []map[string]string{{"value": fmt.Sprint(w)}}},
				order: slices.Repeat([]int{1}, of.sizes),
				known: make([]bool, of.sizes),
			})
		}
	}
	s.units[0].known[0], s.units[4].known[2] = true, true
	var got []string
	for _, step := range s.steps() {
		got = append(got, fmt.Sprintf("%d:%s/%s.%d", step.round, step.Subject.Family().Name, step.Fixed[0]["value"], step.at))
	}
	want := "0:many/1.0 0:one/0.0 1:many/2.0 1:one/0.1 2:many/0.1 2:one/0.3 3:many/1.1 3:one/0.4 3:choice/0.0 4:many/2.1 4:choice/0.1 " +
		"0:many/0.0 0:one/0.2" // which have winners
	if text := strings.Join(got, " "); text != want {
		t.Errorf("steps are\n%s, expected\n%s", text, want)
	}
}
