package csg

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// bestPartition tries every partition: the first agent's block, then the rest.
func bestPartition[T problem.Number](v []T, left uint64) T {
	if left == 0 {
		return 0
	}
	first := left & -left
	rest := left ^ first
	best := v[left]
	for sub := rest; sub != 0; {
		sub = (sub - 1) & rest
		if x := v[sub|first] + bestPartition(v, rest&^sub); x > best {
			best = x
		}
	}
	return best
}

func TestReferenceAgainstEveryPartition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 0; n <= 8; n++ {
		for round := range 12 {
			v := make([]int32, 1<<n)
			for i := range v[1:] {
				switch round % 4 {
				case 0:
					v[i+1] = rng.Int32N(1000) - 500
				case 1:
					v[i+1] = rng.Int32N(3)
				case 2:
					v[i+1] = -rng.Int32N(1000) - 1
				default:
					v[i+1] = (rng.Int32N(math.MaxInt32)) / int32(max(1, n))
				}
			}
			want := bestPartition(v, uint64(len(v)-1))
			for _, m := range Methods() {
				inst, err := problem.NewInstance(append([]int32(nil), v...), "test")
				if err != nil {
					t.Fatal(err)
				}
				r, err := Reference(inst, m)
				if err != nil {
					t.Fatalf("n=%d %s: %v", n, m, err)
				}
				if r.Value.String() != fmt.Sprint(want) {
					t.Errorf("n=%d round %d %s: value %s, every partition gives %d", n, round, m, r.Value.String(), want)
				}
			}
		}
	}
}

func TestReferenceFloats(t *testing.T) {
	for _, name := range Distributions() {
		for n := 1; n <= 8; n++ {
			for _, as := range []problem.Value{problem.Float32, problem.Float64} {
				inst, err := GenerateAs(name, n, 7, as)
				if err != nil {
					t.Fatal(err)
				}
				wide := make([]float64, inst.Len())
				for i := range wide {
					wide[i] = inst.Value64(uint64(i))
				}
				want := bestPartition(wide, inst.GrandCoalition())
				for _, m := range Methods() {
					r, err := Reference(inst, m)
					if err != nil {
						t.Fatalf("%s n=%d %s: %v", name, n, m, err)
					}
					if diff := math.Abs(r.Value.Float() - want); diff > 1e-5*math.Abs(want) {
						t.Errorf("%s n=%d %s %s: %v, every partition gives %v", name, n, as, m, r.Value, want)
					}
				}
			}
		}
	}
}

// The example of the ODP-IP release: three blocks, 150.
func TestReferenceKnownAnswer(t *testing.T) {
	v := []int32{0, 30, 40, 50, 25, 60, 55, 90, 45, 80, 70, 120, 80, 100, 115, 140}
	for _, m := range Methods() {
		inst, err := problem.NewInstance(append([]int32(nil), v...), "ODP-IP")
		if err != nil {
			t.Fatal(err)
		}
		r, err := Reference(inst, m)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(r.Structure.Lists()); r.Value.String() != "150" || got != "[[1] [2] [3 4]]" {
			t.Errorf("%s: %s %s, want 150 [[1] [2] [3 4]]", m, r.Value.String(), got)
		}
	}
}

// No structure is allowed when every coalition with agent 1 is forbidden.
func TestReferenceInfeasible(t *testing.T) {
	v := make([]float64, 16)
	for i := range v {
		if i&1 != 0 {
			v[i] = math.Inf(-1)
		}
	}
	inst, err := problem.NewInstance(v, "test")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Reference(inst, DP)
	if !errors.Is(err, solve.ErrInfeasible) || r == nil {
		t.Fatalf("found %v, expected a proof that every structure is forbidden", err)
	}
	if r.Value != "" || !r.Proven || r.Certificate.Sum != "-inf" || r.Structure != nil {
		t.Errorf("value %q of %v, proven %v, sum %s", r.Value, r.Structure, r.Proven, r.Certificate.Sum)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

func TestSplittingsCounted(t *testing.T) {
	for n := 0; n <= 14; n++ {
		v := make([]int32, 1<<n)
		for _, m := range Methods() {
			_, got := Table(v, m)
			want, err := Splittings(m, n)
			if err != nil {
				t.Fatal(err)
			}
			if want.Cmp(new(big.Int).SetUint64(got)) != 0 {
				t.Errorf("n=%d %s: %d splittings evaluated, the formula says %s", n, m, got, want)
			}
		}
	}
	if _, err := Splittings("simulated annealing", 5); err == nil {
		t.Error("an unknown method has no error")
	}
}

// Counts published with the methods, from 20 to 36 agents.
func TestSplittingsKnown(t *testing.T) {
	known := []struct {
		n              int
		dp, idp, apart int64
	}{
		{20, 1742343625, 683439368, 581130733},
		{21, 5228079450, 2041634573, 1743392200},
		{24, 141197991025, 54577747007, 47071589413},
		{26, 1270865805301, 488603926461, 423644304721},
		{29, 34314651811530, 13094224047640, 11438396227480},
		{32, 926505799458625, 351284995283773, 308836698141973},
		{36, 75047248929022825, 28242342093822748, 25015772549499853},
	}
	for _, k := range known {
		for m, want := range map[Method]int64{DP: k.dp, IDP: k.idp, Apart: k.apart} {
			got, err := Splittings(m, k.n)
			if err != nil || !got.IsInt64() || got.Int64() != want {
				t.Errorf("%s, %d agents: %s, want %d", m, k.n, got, want)
			}
		}
	}
}

// With DP, f is the optimum of every coalition.
func TestTableOfEveryCoalition(t *testing.T) {
	inst, err := GenerateAs("ndcs", 7, 3, problem.Int32)
	if err != nil {
		t.Fatal(err)
	}
	f, _ := Table(inst.I32, DP)
	for s := range f {
		if want := bestPartition(inst.I32, uint64(s)); f[s] != want {
			t.Errorf("f[%d] = %d, every partition gives %d", s, f[s], want)
		}
	}
	// Rebuilding from f alone gives the same value as with v.
	for _, v := range [][]int32{inst.I32, nil} {
		s := StructureOf(v, f)
		if _, err := problem.Check(inst, s, fmt.Sprint(f[len(f)-1])); err != nil {
			t.Error(err)
		}
	}
}

func BenchmarkReference(b *testing.B) {
	inst, err := GenerateAs("uniform", 18, 1, problem.Int32)
	if err != nil {
		b.Fatal(err)
	}
	for _, m := range Methods() {
		b.Run(string(m), func(b *testing.B) {
			var count uint64
			for b.Loop() {
				_, count = Table(inst.I32, m)
			}
			b.ReportMetric(float64(count)*float64(b.N)/b.Elapsed().Seconds(), "splittings/s")
		})
	}
}
