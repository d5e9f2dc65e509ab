package main

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
)

// drawQUBO draws a binary quadratic program of up to seven variables in a format
// with a form, a sense, and a weight of pairs of its own.
func drawQUBO(r *rand.Rand, f family) instance {
	n := 1 + r.IntN(7)
	spins, cut := false, false
	twice := int64(1)
	inst := instance{args: []string{"solve", "qubo", "FILE", "--time-limit", "200ms"}, least: true, whole: f.whole}
	from, head := 0, ""
	switch r.IntN(6) {
	case 0:
		inst.file = "a.coo"
		inst.args = append(inst.args, "--form", "qubo")
	case 1:
		inst.file, spins, head = "a.coo", true, "# vartype=SPIN\n"
	case 2:
		inst.file, inst.least, from, twice = "a.txt", false, 1, 2
		inst.args = append(inst.args, "--format", "orlib")
	case 3:
		inst.file, inst.least, from, cut = "a.rud", false, 1, true
	case 4:
		inst.file, from, twice = "a.sparse", 1, 2
	default:
		inst.file, inst.least, from, twice = "a.txt", false, 1, 2
		inst.args = append(inst.args, "--format", "mqlib")
	}
	type term struct{ i, j int }
	var terms []term
	for i := range n {
		for j := i; j < n; j++ {
			if (i != j || !cut) && (r.IntN(3) > 0 || i == n-1) {
				terms = append(terms, term{i, j})
			}
		}
	}
	list := roundToFloats(f.drawNumbers(r, len(terms)))
	var b strings.Builder
	b.WriteString(head)
	if from == 1 {
		fmt.Fprintf(&b, "%d %d\n", n, len(terms))
	}
	for k, t := range terms {
		fmt.Fprintf(&b, "%d %d %s\n", t.i+from, t.j+from, list[k].text)
	}
	inst.data = []byte(b.String())
	inst.size = sumMagnitudes(list)
	inst.size.Mul(inst.size, big.NewRat(twice, 1))
	// Sums of floats, 64 times as large, stay finite. Integers whose sums exceed 2^56 are floats, where these hold them.
	inst.may = inst.size.Cmp(powerOfTwo(1018)) > 0
	if f.whole && inst.size.Cmp(powerOfTwo(56)) > 0 {
		inst.may, inst.whole = true, false
	}
	value := func(x int, cost []*big.Int, sum *big.Int) *big.Int {
		sum.SetInt64(0)
		for k, t := range terms {
			a, c := x>>t.i&1, x>>t.j&1
			switch {
			case spins && t.i == t.j:
				a, c = 1, 2*a-1
			case spins:
				a, c = 2*a-1, 2*c-1
			case cut:
				a, c = a^c, 1
			}
			if weight := int64(a * c); weight != 0 {
				if t.i != t.j {
					weight *= twice
				}
				sum.Add(sum, new(big.Int).Mul(cost[k], big.NewInt(weight)))
			}
		}
		return sum
	}
	inst.value = func(solution json.RawMessage, decimal bool) (*big.Rat, *big.Rat, error) {
		cost, scale := commonUnits(exactValues(list, decimal))
		best, sum := new(big.Int), new(big.Int)
		for x := range 1 << n {
			if value(x, cost, sum); x == 0 || inst.least && sum.Cmp(best) < 0 || !inst.least && sum.Cmp(best) > 0 {
				best.Set(sum)
			}
		}
		total := new(big.Rat).SetFrac(best, scale)
		var bits string
		if err := json.Unmarshal(solution, &bits); err != nil || len(bits) != n {
			return nil, total, fmt.Errorf("the solution %s, expected %d variables", solution, n)
		}
		x := 0
		for i, c := range bits {
			if c == '1' || c == '+' {
				x |= 1 << i
			}
		}
		found := new(big.Int).Set(value(x, cost, sum))
		var err error
		if none := value(0, cost, sum); !spins && (inst.least && found.Cmp(none) > 0 || !inst.least && found.Cmp(none) < 0) {
			err = fmt.Errorf("the solution %s is worse than all zeros", bits)
		}
		return new(big.Rat).SetFrac(found, scale), total, err
	}
	return inst
}
