package hungarian

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
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/enginetest"
	"coalesce/solvers/assignment/internal/reference"
	"coalesce/solvers/assignment/problem"
)

// Members of one emulated device stand for several devices: they differ in
// nothing but that they share a launch.
func TestClassicalPeers(t *testing.T) {
	t.Parallel()
	d := emulatedtest.Open(t)
	turn := 0
	for i := range assignment.Classical.Variants {
		v := &assignment.Classical.Variants[i]
		value := problem.Value(assignment.Classical.Value(v, "value"))
		if assignment.Classical.Value(v, "devices") != "many" || !emulatedtest.EveryVariant() && value != problem.Int32 {
			continue
		}
		cases := enginetest.Cases(t, value, 12)
		if value == problem.Int32 {
			cases["many new zeros"] = enginetest.ManyZeros(t)
		}
		r := rand.New(rand.NewPCG(4, 82))
		turn++
		for at, name := range slices.Sorted(maps.Keys(cases)) {
			if !emulatedtest.EveryVariant() && at%4 != turn%4 {
				continue // the next variants run it
			}
			p, want := cases[name], problem.Infinity
			if s, err := reference.Solve(p, nil); err == nil {
				if want, err = enginetest.CheckOptimal(p, s); err != nil {
					t.Fatal(name, err)
				}
			}
			// The second of three members has no row at all.
			shares := [][]int{{0, p.Rows / 3, p.Rows / 3, p.Rows}, {0, p.Rows / 2, p.Rows}, {0, 0, p.Rows}, {0, p.Rows}}
			for k, first := range shares {
				if !emulatedtest.EveryVariant() && k != at/4%len(shares) {
					continue
				}
				if err := classicalPeersAgree(t, d, v, p, first, enginetest.FeasibleDuals(p, r), want); err != nil {
					t.Errorf("%s, %s, %v: %v", v.Label, name, first, err)
				}
			}
		}
	}
}

// classicalPeersAgree solves p by members with rows first[k] to first[k+1], in
// the same memory from nothing and from a start, on one block a member and on two,
// in launches of all updates and of two.
func classicalPeersAgree(t *testing.T, d device.Device, v *device.Variant, p *problem.Normal, first []int, start *problem.Prices, want int64) error {
	members := len(first) - 1
	g, err := collective.Open(slices.Repeat([]device.Device{d}, members))
	if err != nil {
		return err
	}
	defer g.Close()
	m := enginetest.MatrixOn(t, d, g.Streams[0], p)
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
		if err := g.Streams[0].Copy(b, 0, m.Costs, size*int64(from*p.Cols), n); err != nil {
			return err
		}
		parts = append(parts, &engine.Matrix{Costs: b, Rows: to - from, Cols: p.Cols})
	}
	e, err := NewClassicalParts(g, v, p.Rows, p.Cols, first)
	if err != nil {
		return err
	}
	defer e.Close()
	for k, from := range []*problem.Prices{nil, start, nil} {
		e.Grid.Blocks = int64(1 + k%2)
		e.Peers.budget = []uint64{classicalBudget, 2}[k%2]
		err := enginetest.CheckLeastCost(p, from, func(p *problem.Normal, start *problem.Prices) (*engine.Solution, error) {
			// A zero that got lost is found again and again.
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			sol, err := e.Solve(ctx, p, parts, start)
			if err != nil {
				return nil, err
			}
			if c := sol.Counts; c.Updates > c.Phases*int64(p.Cols) || c.Updates > 0 && e.Peers.number == 1 {
				return nil, fmt.Errorf("%d updates in %d phases of %d columns", c.Updates, c.Phases, p.Cols)
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
