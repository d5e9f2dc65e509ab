package csg

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

const missing = -1 << 40 // of the values of best: a forbidden coalition

// best is the most that the blocks of a structure add up to, by all splittings of all coalitions.
func best(values []int64, allowed func(mask int) bool) int64 {
	f := make([]int64, len(values))
	for mask := 1; mask < len(values); mask++ {
		f[mask] = missing
		if allowed(mask) {
			f[mask] = values[mask]
		}
		for part := (mask - 1) & mask; part > mask^part; part = (part - 1) & mask {
			f[mask] = max(f[mask], f[part]+f[mask^part])
		}
	}
	return f[len(f)-1]
}

// Tables of decimals are solved exactly, by every algorithm.
func TestDecimals(t *testing.T) {
	cpu := host.Open(2)
	defer cpu.Close()
	r := rand.New(rand.NewPCG(62, 5))
	const n = 11
	for _, c := range []struct {
		name      string
		places    int
		span      int64 // of values
		least     int64
		forbidden int // in a thousand
		sizes     string
	}{
		{"tenths", 1, 30, 0, 0, ""},
		{"tied", 1, 3, 0, 0, ""},
		{"negative", 2, 1000, -1000, 0, ""},
		{"both", 2, 1000, -500, 300, ""},
		{"sizes", 3, 100000, -20000, 0, "1-3,5"},
		{"nine digits", 9, 1e12, -1e11, 0, ""},
		{"all digits", 11, 9e14, -1e14, 0, ""},
		{"all digits, forbidden", 4, 9e14, -1e14, 200, ""},
	} {
		values := make([]int64, 1<<n)
		var file strings.Builder
		for mask := range values {
			values[mask] = c.least + r.Int64N(c.span)
			if c.name == "tenths" { // as much as the agents alone, and as sums of them: many ties that float64 sums break
				values[mask] = 0
				for i := range n {
					values[mask] += int64(mask>>i&1) * int64(i%3+1)
				}
			}
			word := problem.FormatFloat(0, 64)
			if values[mask] != 0 && mask > 0 {
				word = decimalOf(values[mask], c.places)
			}
			if mask != 0 && r.IntN(1000) < c.forbidden {
				values[mask], word = missing, "-inf"
			}
			fmt.Fprintln(&file, word)
		}
		inst, err := ReadFrom(strings.NewReader(file.String()), -1, c.name+".csv", ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if c.sizes != "" {
			s, err := problem.ParseSizes(c.sizes)
			if err == nil {
				err = inst.Restrict(s)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if inst.Places != c.places {
			t.Fatalf("%s: found %d places, expected %d", c.name, inst.Places, c.places)
		}
		want := decimalOf(best(values, func(mask int) bool { return values[mask] != missing && inst.Sizes.Allows(uint64(mask)) }), c.places)
		check := func(how string, r *Result, err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s, %s: %v", c.name, how, err)
			}
			text, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			// Prices and sums of float64 leave a gap where values have all digits and nothing else may be tried.
			exact := c.span < 1e14 || r.Solved != "" || how == "algorithm " || how == "algorithm price" && c.forbidden == 0
			if how == "algorithm dp" && r.Solved == "" && c.span > 1e14 {
				t.Errorf("%s, %s: found values added as floats, expected integers", c.name, how)
			}
			if !r.Proven || exact && (string(r.Value) != want || r.Bound != r.Value) || !bytes.Contains(text, []byte(`"value":`+string(r.Value))) {
				t.Errorf("%s, %s (%s): found %s, bound %s, expected %s", c.name, how, r.Solved, r.Value, r.Bound, want)
			}
			if optimum, _ := solve.Number(want).Rat(); optimum != nil {
				bound, _ := r.Bound.Rat()
				value, _ := r.Value.Rat()
				if bound.Cmp(optimum) < 0 || value.Cmp(optimum) > 0 {
					t.Errorf("%s, %s: found %s, bound %s, expected %s between", c.name, how, r.Value, r.Bound, want)
				}
			}
			if v, err := Verify(inst, text); err != nil || len(v.Failures) > 0 {
				t.Errorf("%s, %s: %v, refuted %v", c.name, how, err, v)
			}
		}
		for _, algorithm := range append(Algorithms(), "") {
			r, err := Solve(context.Background(), inst, Options{Settings: solve.Settings{Devices: []device.Device{cpu}, Algorithm: algorithm}})
			check("algorithm "+algorithm, r, err)
		}
		kept, table, err := SolveCover(context.Background(), inst, Options{Settings: solve.Settings{Devices: []device.Device{cpu}}})
		check("cover", kept, err)
		if few, err := BestFew(context.Background(), inst, table, inst.GrandCoalition(), 3); err != nil || c.span < 1e14 && few[0].Value != solve.Number(want).Float() {
			t.Errorf("%s: found %v, %v, expected %s first", c.name, few, err, want)
		}
		reference, err := Reference(inst, Apart)
		check("reference", reference, err)
	}
}

// Values of more digits than a float64 has stay binary, and those of arrays.
func TestPlaces(t *testing.T) {
	for text, want := range map[string]int{
		"0\n0.1\n0.2\n0.3\n":              1,
		"0\n1.0\n2\n-inf\n":               0,
		"0\n1e-3\n2.50\n-inf\n":           3,
		"0\n0.1\n1e14\n1\n":               0, // 10^15 tenths
		"0\n0.1\n99999999999999\n1\n":     1,
		"0\n0.1234567890123456\n1\n1\n":   0,
		"0\n0.123456789012345\n0.5\n1\n":  0, // the 1 has 10^15 units
		"0\n0.123456789012345\n0.5\n-1\n": 0,
		"0\n0.123456789012345\n0.5\n0\n":  15,
	} {
		inst, err := ReadFrom(strings.NewReader(text), -1, "x.csv", ReadOptions{})
		if err != nil || inst.Places != want {
			t.Errorf("%q: found %+v, %v, expected %d places", text, inst, err, want)
		}
	}
	inst, err := problem.NewInstance([]float64{0, 0.1, 0.2, 0.3}, "an array")
	if err != nil || inst.Places != 0 {
		t.Errorf("found %+v, %v, expected binary values", inst, err)
	}
}

func decimalOf(units int64, places int) string {
	l := problem.Listing{Scale: places}
	return l.Decimal(big.NewInt(units))
}
