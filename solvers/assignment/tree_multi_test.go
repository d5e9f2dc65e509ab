package assignment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
)

// Members of one emulated device stand for several devices: they differ in
// nothing but that they share a launch.
func TestTreePeers(t *testing.T) {
	d := emulatedtest.Open(t)
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
		if !emulatedtest.Every && value != Int32 {
			continue
		}
		cases := treeCases(t, value, 12)
		for at, name := range slices.Sorted(maps.Keys(cases)) {
			if !emulatedtest.Every && (at%3 != 0 || cases[name].cols > 48) {
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
			shares := [][]int{{0, p.rows / 3, p.rows / 3, p.rows}, {0, p.rows / 2, p.rows}, {0, p.rows}}
			first := shares[at/3%3]
			if err := peersAgree(t, d, s, v, p, first, nil, want, 24); err != nil {
				t.Errorf("%s, %s, %v: %v", v.Label, name, first, err)
			}
		}
	}
}

func TestTreePeersWide(t *testing.T) {
	d := emulatedtest.Open(t)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	v := assignment.Tree.Variant("block=512,items=4,rows=4,barrier=peers,paths=many,claimed=stop,value=int32")
	cases, starts, wants := wideCases(t)
	for k, p := range cases {
		if k == 0 {
			continue // a long list is nothing new here
		}
		if err := peersAgree(t, d, s, v, p, []int{0, p.rows / 8, p.rows}, starts[k], wants[k], (p.cols+7)/8*8); err != nil {
			t.Errorf("%d x %d: %v", p.rows, p.cols, err)
		}
	}
}

// peersAgree solves p twice by members with rows first[k] to first[k+1].
func peersAgree(t *testing.T, d device.Device, s device.Stream, v *device.Variant, p *normal, first []int, start *duals, want int64, width int) error {
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
	members := len(parts)
	e, err := newTreePeers(slices.Repeat([]device.Device{d}, members), slices.Repeat([]device.Stream{s}, members), v, p.rows, p.cols, first, width)
	if err != nil {
		return err
	}
	defer e.Close()
	for range 2 { // the second finds the memory of the first
		err := agrees(p, start, func(p *normal, start *duals) (*solution, error) {
			return e.solve(context.Background(), p, parts, start)
		}, want)
		if err == nil && p.rows > 0 {
			err = membersAgree(e, s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// membersAgree asks whether all members came to the same matching and duals of
// columns: one does the closures, and tells the others.
func membersAgree(e *treePeers, s device.Stream) error {
	var columns, duals [][]byte
	for _, m := range e.members {
		column, v := make([]byte, 4*m.rows), make([]byte, 8*m.cols)
		if err := errors.Join(s.Download(column, m.work, m.column), s.Download(v, m.work, m.v)); err != nil {
			return err
		}
		columns, duals = append(columns, column), append(duals, v)
	}
	for k := range columns {
		if !bytes.Equal(columns[k], columns[0]) || !bytes.Equal(duals[k], duals[0]) {
			return fmt.Errorf("member %d of %d came to another matching or other duals than the first", k, len(columns))
		}
	}
	return nil
}
