package integer

import (
	"math/rand/v2"
	"slices"
	"testing"

	"coalesce/solvers/solve/inputtest"
)

// Cuts of random multipliers hold for all solutions, also those made of other cuts, and some exclude others.
func TestRoundingsHold(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 4))
	made, sharp := 0, 0
	for range inputtest.Draws(2000) {
		p := drawn(r)
		if len(p.Rows) == 0 {
			continue
		}
		solutions := all(p)
		rows := slices.Clone(p.Rows)
		for range 4 {
			c := Rounding{Scale: int64(2 + r.IntN(40))}
			if r.IntN(2) == 0 {
				c.Scale = fineScale
			}
			for i := range rows {
				if r.IntN(2) == 0 {
					c.Rows = append(c.Rows, [2]int64{int64(i), int64(r.IntN(int(min(c.Scale, 1<<20)))) - c.Scale/3})
				}
			}
			for j := range p.Prices {
				if r.IntN(2) == 0 {
					c.Flipped = append(c.Flipped, int32(j))
				}
			}
			row, ok := c.asRow(rows, len(p.Prices))
			if !ok {
				continue
			}
			made++
			rows = append(rows, row)
			alone := &Problem{Prices: p.Prices, Rows: []Row{row}}
			for _, s := range solutions {
				if !alone.Feasible(s.Ones) {
					t.Fatalf("%+v: the cut %+v is %+v, which excludes %v", p, c, row, s.Ones)
				}
			}
			if len(all(alone)) < 1<<len(p.Prices) {
				sharp++
			}
		}
	}
	if made < 500 || sharp < made/20 {
		t.Errorf("%d cuts, of which %d exclude anything", made, sharp)
	}
}
