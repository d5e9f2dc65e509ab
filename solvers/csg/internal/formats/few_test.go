package formats

import (
	"bytes"
	"strings"
	"testing"

	"coalesce/solvers/csg/problem"
)

// Of Few, tables of up to 12 agents are lists where their values are decimals of a list, and all others tables.
func TestFew(t *testing.T) {
	array := func(values []float64) string {
		inst, err := problem.NewInstance(values, "")
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := WriteNPY(&b, inst); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for _, c := range []struct {
		name, text, lacking string
		list                bool
	}{
		{"a.csv", "1,3\n2,4\n1 2,9\n", "", true},
		{"a.csv", "1,3\n2,4\n1 2,9e40\n", "", false},
		{"a.csv", "1,3\n2,4\n", "-inf", true},
		{"a.csv", "1,3\n2,4\n", "2", false},
		{"a.csv", "1,3\n13,4\n2 3 4 5 6 7 8 9 10 11 12,1\n", "7", false},
		{"a.net", "1 -> 3\n2 -> 4.5\n", "", true},
		{"a.net", "1 -> 3\n13 -> 4.5\n", "", false},
		{"a.npy", array([]float64{0, 1, 2.5, 4}), "", true},
		{"a.npy", array([]float64{0, 1, 1e-30, 4}), "", false},
		{"a.npy", array(make([]float64, 1<<13)), "", false},
	} {
		inst, list, err := ReadGameFrom(strings.NewReader(c.text), int64(len(c.text)), c.name, ReadOptions{Form: Few, Missing: c.lacking})
		if err != nil || (list != nil) != c.list || (inst != nil) == c.list {
			t.Errorf("%s %.20q: found a list %v, a table %v (%v), expected a list: %v", c.name, c.text, list != nil, inst != nil, err, c.list)
		}
	}
}
