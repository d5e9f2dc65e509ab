package formats

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"coalesce/solvers/csg/problem"
)

// Values alone by size, with and without the empty coalition, are those by coalition number of the same drawn function.
func TestOrderBySize(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 3))
	for k := range 2000 {
		n := 1 + r.IntN(5)
		values := make([]int32, 1<<n)
		masks := make([]uint64, 0, 1<<n)
		for mask := range uint64(1 << n) {
			if mask > 0 {
				values[mask] = r.Int32N(2001) - 1000
			}
			masks = append(masks, mask)
		}
		slices.SortFunc(masks, func(a, b uint64) int {
			if c := bits.OnesCount64(a) - bits.OnesCount64(b); c != 0 {
				return c
			}
			return slices.Compare(problem.Agents(a), problem.Agents(b))
		})
		var text strings.Builder
		for _, mask := range masks[k%2:] {
			fmt.Fprintln(&text, values[mask])
		}
		inst, err := ReadFrom(strings.NewReader(text.String()), -1, "x.txt", ReadOptions{Order: "size"})
		if err != nil {
			t.Fatalf("%q: %v", text.String(), err)
		}
		if inst.N != n || !slices.Equal(inst.I32, values) {
			t.Fatalf("%q: found %v of %d agents, expected %v", text.String(), inst.I32, inst.N, values)
		}
	}
}

// Errors of orders name the line, what was found and what was expected.
func TestOrderErrors(t *testing.T) {
	for text, want := range map[string]string{
		"1\n2\n3\n4\n5\n": "x.txt:5: found 5 values, expected 2^n, or 2^n - 1 without the empty coalition",
		"1 2,3\n":         "x.txt:1: found coalitions and values, expected values alone, which --order size is for",
		`{"1": 2}`:        "x.txt: ",
	} {
		if _, err := ReadFrom(strings.NewReader(text), -1, "x.txt", ReadOptions{Order: "size"}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: found %v, expected %s", text, err, want)
		}
	}
}
