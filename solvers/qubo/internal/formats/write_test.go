package formats

import (
	"bytes"
	"math/big"
	"strings"
	"testing"

	"coalesce/solvers/qubo/problem"
)

// Halves are written to the last digit.
func TestHalvesAreExact(t *testing.T) {
	for _, v := range []int64{1, -1, 3, -3, 9007199254740993, -9007199254740993} {
		inst := problem.FromPairs(2, func(i, j int) int64 { return v * int64(j-i) })
		var text bytes.Buffer
		if _, err := Write(&text, inst, "orlib"); err != nil {
			t.Fatal(err)
		}
		want := strings.Replace(new(big.Rat).SetFrac64(v, 2).FloatString(1), " ", "", -1)
		if !strings.Contains(text.String(), " "+want+"\n") {
			t.Errorf("%d: found %q, want %s", v, text.String(), want)
		}
	}
}
