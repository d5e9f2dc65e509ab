package csg

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"

	"pgregory.net/rapid"
)

func TestCheckFindsWhatIsWrong(t *testing.T) {
	inst, err := problem.NewInstance([]int32{0, 3, 4, 6, 5, 9, 9, 10}, "test")
	if err != nil {
		t.Fatal(err)
	}
	good := []struct {
		s     problem.Structure
		total string
	}{{problem.Structure{1, 2, 4}, "12"}, {problem.Structure{4, 3}, "11"}, {problem.Structure{7}, "10"}}
	for _, test := range good {
		c, err := problem.Check(inst, test.s, test.total)
		if err != nil || c.Sum != test.total || !c.Partition || c.Tolerance != 0 {
			t.Errorf("%v: %+v %v", test.s, c, err)
		}
	}
	bad := []struct {
		s           problem.Structure
		total, want string
	}{
		{problem.Structure{1, 2, 4}, "13", "the total is 13, the blocks add up to 12"},
		{problem.Structure{1, 2, 4}, "12.0000001", "expected a number"},
		{problem.Structure{1, 2, 4}, "nan", "expected a number"},
		{problem.Structure{1, 2, 4}, "-inf", "the total is -inf, the blocks add up to 12"},
		{problem.Structure{1, 2}, "7", "found {3} in no block"},
		{problem.Structure{3, 2, 4}, "15", "found {2} in two blocks"},
		{problem.Structure{7, 0}, "10", "found an empty block"},
		{problem.Structure{15}, "10", "expected agents 1 to 3"},
	}
	for _, test := range bad {
		if _, err := problem.Check(inst, test.s, test.total); !errors.Is(err, problem.ErrCheck) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v %s: %v, want %s", test.s, test.total, err, test.want)
		}
	}
}

// Sums of floats in any order stay within the tolerance; a total further off
// does not pass.
func TestCheckFloats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 10).Draw(t, "n")
		v := make([]float32, 1<<n)
		sum := float32(0)
		magnitude := 0.0
		var s problem.Structure
		for i := range n {
			v[1<<i] = float32(rapid.Float64Range(-1e6, 1e6).Draw(t, "v"))
			s = append(s, 1<<i)
			magnitude += math.Abs(float64(v[1<<i]))
		}
		for _, i := range rapid.Permutation(s).Draw(t, "order") {
			sum += v[i]
		}
		inst, err := problem.NewInstance(v, "test")
		if err != nil {
			t.Fatal(err)
		}
		c, err := problem.Check(inst, s, fmt.Sprint(sum))
		if err != nil {
			t.Fatal(err)
		}
		off := float32(float64(sum) + 3*c.Tolerance + magnitude/1e5 + 1)
		if _, err := problem.Check(inst, s, fmt.Sprint(off)); !errors.Is(err, problem.ErrCheck) {
			t.Fatalf("a total of %v instead of %v passes: %v", off, sum, err)
		}
	})
}

func TestCheckExactInt64(t *testing.T) {
	const big = 1 << 61
	inst, err := problem.NewInstance([]int64{0, big, big + 1, 5}, "test")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Reference(inst, DP)
	if err != nil {
		t.Fatal(err)
	}
	if r.Value.String() != "4611686018427387905" {
		t.Errorf("exact %s, want every digit of 2^62+1", r.Value.String())
	}
	if _, err := problem.Check(inst, r.Structure, "4611686018427387904"); !errors.Is(err, problem.ErrCheck) {
		t.Error("a total that is 1 off passes")
	}
}

func TestResultJSON(t *testing.T) {
	inst, err := ReadFrom(strings.NewReader("ann,5\nbob,6\nann bob,12\n"), -1, "a.csv", ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Reference(inst, IDP)
	if err != nil {
		t.Fatal(err)
	}
	r.Seconds = solve.Seconds{}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"problem":"csg","instance":"a.csv","size":{"agents":2},"value":12,"bound":12,"gap":0,"proven":true,` +
		`"seconds":{"read":0,"prepare":0,"solve":0,"verify":0},"device":"reference","algorithm":"idp","variant":"idp",` +
		`"reason":"one core, one splitting after the other","interrupted":false,"notes":["read as CSV: 3 rows of a coalition and its value between commas"],` +
		`"solution":[[1,2]],"agents":["ann","bob"],"type":"int32","splittings":1,` +
		`"certificate":{"blocks":[{"coalition":3,"agents":["ann","bob"],"value":"12"}],"sum":"12","claimed":"12","tolerance":0,"partition":true}}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	if got := r.String(); got != "{ann, bob}\t12\ntotal\t12\n" {
		t.Errorf("printed %q", got)
	}
	if fmt.Sprint(r.BlockValues()) != "[12]" {
		t.Errorf("block values %v", r.BlockValues())
	}
}

// Every structure that a table can be rebuilt to is worth what the table says.
func TestStructureOfRebuilds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 7).Draw(t, "n")
		v := make([]int64, 1<<n)
		for i := range v[1:] {
			v[i+1] = rapid.Int64Range(-5, 5).Draw(t, "v")
		}
		inst := &problem.Instance{N: n, Type: problem.Int64, I64: v}
		want := ""
		for _, m := range Methods() {
			f, _ := Table(v, m)
			total := fmt.Sprint(f[len(f)-1])
			if want == "" {
				want = total
			}
			if total != want {
				t.Fatalf("%s finds %s, %s finds %s", Methods()[0], want, m, total)
			}
			for _, values := range [][]int64{v, nil} {
				if _, err := problem.Check(inst, StructureOf(values, f), total); err != nil {
					t.Fatalf("%s: %v", m, err)
				}
			}
		}
	})
}
