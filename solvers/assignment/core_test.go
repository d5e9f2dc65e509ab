package assignment

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
)

func TestCoreVariants(t *testing.T) {
	d := emulatedtest.Open(t)
	for _, v := range emulatedtest.Variants(&assignment.Core) {
		t.Run(v.Label, func(t *testing.T) {
			value := Value(assignment.Core.Value(v, "value"))
			r := rand.New(rand.NewPCG(4, 79))
			threads := assignment.Core.Int(v, "block") * assignment.Core.Int(v, "cluster")
			for name, p := range treeCases(t, value, 5) {
				if p.rows*threads > 40*2048 {
					continue // a barrier of so many threads takes the emulated device long
				}
				want := far
				if s, err := reference(p, nil); err == nil {
					if want, err = prove(p, s); err != nil {
						t.Fatal(name, err)
					}
				}
				err := coreAgrees(t, d, v, p, startOf(p, r), want)
				var gave *exhausted
				if errors.As(err, &gave) {
					t.Logf("%s: %v", name, err)
				} else if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

// coreAgrees solves p without and with a start, and once more with phases by all
// blocks where one block did them.
func coreAgrees(t *testing.T, d device.Device, v *device.Variant, p *normal, start *duals, want int64) error {
	s, err := d.NewStream()
	if err != nil {
		return err
	}
	defer s.Close()
	e, err := newCoreEngine(d, v, p.rows, p.cols)
	if err != nil {
		return err
	}
	defer e.Close()
	m := matrixOn(t, d, s, p)
	core := e.(*coreEngine)
	solve := func(p *normal, start *duals) (*solution, error) {
		return core.solve(context.Background(), s, p, m, start)
	}
	for _, from := range []*duals{nil, start} {
		if err := agrees(p, from, solve, want); err != nil {
			return fmt.Errorf("start %v: %w", from != nil, err)
		}
	}
	if core.resident > 0 {
		core.resident = 0
		if err := agrees(p, nil, solve, want); err != nil {
			return fmt.Errorf("phases by all blocks: %w", err)
		}
	}
	return nil
}
