package assignment

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"coalesce/generated/assignment"
	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
)

// Members of one emulated device stand for several devices: they differ in
// nothing but that they share a launch.
func TestClassicalPeers(t *testing.T) {
	d := emulatedtest.Open(t)
	turn := 0
	for i := range assignment.Classical.Variants {
		v := &assignment.Classical.Variants[i]
		value := Value(assignment.Classical.Value(v, "value"))
		if assignment.Classical.Value(v, "devices") != "many" || !emulatedtest.Every && value != Int32 {
			continue
		}
		cases := treeCases(t, value, 12)
		if value == Int32 {
			cases["many new zeros"] = manyZeros(t)
		}
		r := rand.New(rand.NewPCG(4, 82))
		turn++
		for at, name := range slices.Sorted(maps.Keys(cases)) {
			if !emulatedtest.Every && at%3 != turn%3 {
				continue // the next variants run it
			}
			p, want := cases[name], far
			if s, err := reference(p, nil); err == nil {
				if want, err = prove(p, s); err != nil {
					t.Fatal(name, err)
				}
			}
			// The second of three members has no row at all.
			shares := [][]int{{0, p.rows / 3, p.rows / 3, p.rows}, {0, p.rows / 2, p.rows}, {0, 0, p.rows}, {0, p.rows}}
			for k, first := range shares {
				if !emulatedtest.Every && k != at/3%len(shares) {
					continue
				}
				if err := classicalPeersAgree(t, d, v, p, first, startOf(p, r), want); err != nil {
					t.Errorf("%s, %s, %v: %v", v.Label, name, first, err)
				}
			}
		}
	}
}

// classicalPeersAgree solves p by members with rows first[k] to first[k+1], in
// the same memory from nothing and from a start, on one block a member and on two,
// in launches of all updates and of two.
func classicalPeersAgree(t *testing.T, d device.Device, v *device.Variant, p *normal, first []int, start *duals, want int64) error {
	members := len(first) - 1
	g, err := collective.Open(slices.Repeat([]device.Device{d}, members))
	if err != nil {
		return err
	}
	defer g.Close()
	m := matrixOn(t, d, g.Streams[0], p)
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
		if err := g.Streams[0].Copy(b, 0, m.costs, size*int64(from*p.cols), n); err != nil {
			return err
		}
		parts = append(parts, &matrix{costs: b, rows: to - from, cols: p.cols})
	}
	e, err := newClassicalParts(g, v, p.rows, p.cols, first)
	if err != nil {
		return err
	}
	defer e.Close()
	for k, from := range []*duals{nil, start, nil} {
		e.grid.Blocks = int64(1 + k%2)
		e.peers.budget = []uint64{classicalBudget, 2}[k%2]
		err := agrees(p, from, func(p *normal, start *duals) (*solution, error) {
			// A zero that got lost is found again and again.
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			sol, err := e.solve(ctx, p, parts, start)
			if err != nil {
				return nil, err
			}
			if c := sol.counts; c.Updates > c.Phases*int64(p.cols) || c.Updates > 0 && e.peers.number == 1 {
				return nil, fmt.Errorf("%d updates in %d phases of %d columns", c.Updates, c.Phases, p.cols)
			}
			return sol, e.agree()
		}, want)
		if err != nil {
			return fmt.Errorf("solve %d: %w", k, err)
		}
	}
	return nil
}

// agree asks whether all members came to the same duals of columns.
func (e *classicalShards) agree() error {
	if e.rows == 0 {
		return nil
	}
	var all [][]byte
	for k, part := range e.parts {
		v := make([]byte, 8*e.cols)
		if err := e.group.Streams[k].Download(v, part.work, part.v); err != nil {
			return err
		}
		if all = append(all, v); !bytes.Equal(v, all[0]) {
			return fmt.Errorf("member %d of %d came to other duals than the first", k, len(e.parts))
		}
	}
	return nil
}
