package text

import (
	"math/rand/v2"
	"testing"

	"coalesce/solvers/formats"
)

// Lines of items are kept through blocks, with gaps between and within them.
func TestPositions(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var all, part Positions
		var want []int
		first := 1
		for range rng.IntN(6) {
			part.Reset()
			line := 0
			for range rng.IntN(8) {
				if rng.IntN(4) == 0 {
					line += rng.IntN(3)
				}
				part.Add(line)
				want = append(want, line+first)
				line++
			}
			if err := all.Append(nil, &part, first); err != nil {
				t.Fatal(err)
			}
			first += line + rng.IntN(2)
		}
		for k, line := range want {
			if got := all.Line(k); got != line {
				t.Fatalf("item %d of lines %v: line %d", k, want, got)
			}
		}
	}
	var all, part Positions
	part.Add(0)
	if err := all.Append(formats.NewBudget(1), &part, 1); err == nil {
		t.Error("found no error, expected more than the limit of 1")
	}
}
