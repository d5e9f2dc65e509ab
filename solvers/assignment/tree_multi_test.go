package assignment

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
)

// Members of one emulated device stand for several devices: they differ in
// nothing but that they share a launch.
func TestTreePeers(t *testing.T) {
	d := openEmulated(t)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range assignment.Tree.Variants {
		v := &assignment.Tree.Variants[i]
		if assignment.Tree.Value(v, "barrier") != "peers" {
			continue
		}
		value := Value(assignment.Tree.Value(v, "value"))
		if !every && value != Int32 {
			continue
		}
		cases := treeCases(t, value, 12)
		for at, name := range slices.Sorted(maps.Keys(cases)) {
			if !every && (at%3 != 0 || cases[name].cols > 48) {
				continue
			}
			p := cases[name]
			want := far
			if sol, err := reference(p, nil); err == nil {
				if want, err = prove(p, sol); err != nil {
					t.Fatal(name, err)
				}
			}
			// The second of three members has no row at all.
			first := []int{0, p.rows / 3, p.rows / 3, p.rows}
			if err := peersAgree(t, d, s, v, p, first, want); err != nil {
				t.Errorf("%s, %s: %v", v.Label, name, err)
			}
		}
	}
}

func peersAgree(t *testing.T, d device.Device, s device.Stream, v *device.Variant, p *normal, first []int, want int64) error {
	m := matrixOn(t, d, s, p)
	size := int64(p.inst.Type.Size())
	var parts []*matrix
	for k, to := range first[1:] {
		from := first[k]
		n := size * int64((to-from)*p.cols)
		b, err := d.Alloc(n)
		if err != nil {
			return err
		}
		defer b.Free()
		if err := s.Copy(b, 0, m.costs, size*int64(from*p.cols), n); err != nil {
			return err
		}
		parts = append(parts, &matrix{costs: b, rows: to - from, cols: p.cols})
	}
	e, err := newTreePeers([]device.Device{d, d, d}, []device.Stream{s, s, s}, v, p.rows, p.cols, first, 24)
	if err != nil {
		return err
	}
	defer e.Close()
	var counts []Counts
	for range 2 { // the second finds the memory of the first
		err := agrees(p, nil, func(p *normal, _ *duals) (*solution, error) {
			sol, err := e.solve(context.Background(), p, parts, nil)
			if err == nil {
				counts = append(counts, sol.counts)
			}
			return sol, err
		}, want)
		if err != nil {
			return err
		}
	}
	if len(counts) == 2 && !reflect.DeepEqual(counts[0], counts[1]) {
		return fmt.Errorf("counts %+v, then %+v", counts[0], counts[1])
	}
	return nil
}
