package hungarian

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
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/enginetest"
	"coalesce/solvers/assignment/internal/reference"
	"coalesce/solvers/assignment/problem"
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
		value := problem.Value(assignment.Tree.Value(v, "value"))
		if !emulatedtest.EveryVariant() && value != problem.Int32 {
			continue
		}
		cases := enginetest.Cases(t, value, 12)
		for at, name := range slices.Sorted(maps.Keys(cases)) {
			if !emulatedtest.EveryVariant() && (at%3 != 0 || cases[name].Cols > 48) {
				continue
			}
			p := cases[name]
			want := problem.Infinity
			if sol, err := reference.Solve(p, nil); err == nil {
				if want, err = enginetest.CheckOptimal(p, sol); err != nil {
					t.Fatal(name, err)
				}
			}
			// The second of three members has no row at all.
			shares := [][]int{{0, p.Rows / 3, p.Rows / 3, p.Rows}, {0, p.Rows / 2, p.Rows}, {0, p.Rows}}
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
	v := assignment.Tree.Variant("block=512,items=4,rows=4,barrier=peers,paths=many,matchedtrees=stop,value=int32")
	cases, starts, wants := wideCases(t)
	for k, p := range cases {
		if k == 0 {
			continue // a long list is nothing new here
		}
		if err := peersAgree(t, d, s, v, p, []int{0, p.Rows / 8, p.Rows}, starts[k], wants[k], (p.Cols+7)/8*8); err != nil {
			t.Errorf("%d x %d: %v", p.Rows, p.Cols, err)
		}
	}
}

// peersAgree solves p twice by members with rows first[k] to first[k+1].
func peersAgree(t *testing.T, d device.Device, s device.Stream, v *device.Variant, p *problem.Normal, first []int, start *problem.Prices, want int64, width int) error {
	m := enginetest.MatrixOn(t, d, s, p)
	size := int64(p.Instance.Type.Size())
	var parts []*engine.Matrix
	for k, to := range first[1:] {
		from := first[k]
		n := size * int64((to-from)*p.Cols)
		b, err := d.Alloc(n)
		if err != nil {
			return err
		}
		defer b.Free()
		if err := s.Copy(b, 0, m.Costs, size*int64(from*p.Cols), n); err != nil {
			return err
		}
		parts = append(parts, &engine.Matrix{Costs: b, Rows: to - from, Cols: p.Cols})
	}
	members := len(parts)
	e, err := newTreePeers(slices.Repeat([]device.Device{d}, members), slices.Repeat([]device.Stream{s}, members), v, p.Rows, p.Cols, first, width)
	if err != nil {
		return err
	}
	defer e.Close()
	for range 2 { // the second finds the memory of the first
		err := enginetest.CheckLeastCost(p, start, func(p *problem.Normal, start *problem.Prices) (*engine.Solution, error) {
			return e.Solve(context.Background(), p, parts, start)
		}, want)
		if err == nil && p.Rows > 0 {
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
func membersAgree(e *TreePeers, s device.Stream) error {
	var columns, duals [][]byte
	for _, m := range e.Members {
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
