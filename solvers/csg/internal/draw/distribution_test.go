package draw

import (
	"hash/crc64"
	"math"
	"math/bits"
	"runtime"
	"testing"

	"coalesce/solvers/csg/problem"
)

// Known answers of Random123's kat_vectors for philox4x32 with 10 rounds.
func TestPhilox(t *testing.T) {
	tests := []struct {
		c    [4]uint32
		k    [2]uint32
		want [4]uint32
	}{
		{want: [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{
			[4]uint32{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, [2]uint32{0xffffffff, 0xffffffff},
			[4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
		},
		{
			[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1},
		},
	}
	for _, test := range tests {
		var got [4]uint32
		got[0], got[1], got[2], got[3] = philox(test.c[0], test.c[1], test.c[2], test.c[3], test.k[0], test.k[1])
		if got != test.want {
			t.Errorf("philox(%x, %x) = %x, want %x", test.c, test.k, got, test.want)
		}
	}
	for _, u := range []float64{unitInterval(0, 0), unitInterval(math.MaxUint32, math.MaxUint32)} {
		if u <= 0 || u >= 1 {
			t.Errorf("unit gives %v, want strictly between 0 and 1", u)
		}
	}
}

// Values stay what they were for each seed. Other processors' logarithms and cosines may
// differ in the last bit.
func TestValuesStay(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the sum was made on amd64")
	}
	sum, table := uint64(0), crc64.MakeTable(crc64.ECMA)
	for _, name := range Distributions() {
		inst, err := Generate(name, 9, 77)
		if err != nil {
			t.Fatal(err)
		}
		sum = crc64.Update(sum, table, inst.Bytes())
	}
	if sum != 0xe2ccdd0106bec29c {
		t.Errorf("all distributions, 9 agents, seed 77: found the sum %#x", sum)
	}
}

// Any value can be made without those before it, on any number of cores.
func TestGenerateIsAFunctionOfSeedAndCoalition(t *testing.T) {
	const n = 13
	for _, name := range Distributions() {
		one, err := newSource(name, n, 42)
		if err != nil {
			t.Fatal(err)
		}
		inst, err := Generate(name, n, 42)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Generate(name, n, 42)
		if err != nil {
			t.Fatal(err)
		}
		other, err := Generate(name, n, 43)
		if err != nil {
			t.Fatal(err)
		}
		same := 0
		for mask := range inst.Len() {
			if x := one.value(new(randomNumbers), mask); x != inst.F64[mask] || again.F64[mask] != x {
				t.Fatalf("%s: coalition %d: alone it is %v, Generate gives %v and %v", name, mask, x, inst.F64[mask], again.F64[mask])
			}
			if other.F64[mask] == inst.F64[mask] {
				same++
			}
		}
		if constant := name == "ties" || name == "superadditive"; !constant && same > len(inst.F64)/2 {
			t.Errorf("%s: seeds 42 and 43 share %d of %d values", name, same, len(inst.F64))
		}
		if inst.F64[0] != 0 {
			t.Errorf("%s: the empty coalition is worth %v", name, inst.F64[0])
		}
	}
	if _, err := Generate("nothing", 3, 1); err == nil {
		t.Error("an unknown distribution has no error")
	}
}

// Mean and deviation of the values of one size, where the law has both: by
// the central limit theorem the mean of k draws lies within five deviations
// over the root of k.
func TestMoments(t *testing.T) {
	const n, size = 16, 8
	s := float64(size)
	root := math.Sqrt
	tests := []struct {
		name            string
		mean, deviation float64
	}{
		{"uniform", s / 2, s / root(12)},
		{"normal", 10 * s, 0.1 * s},
		{"exponential", s, s},
		{"beta", s / 2, s / root(8)},
		{"gamma", 4 * s, s * root(8)},
		{"modified-uniform", 5*s + 0.21*25, root(100*s*s/12 + 0.21*2500/3 - 0.21*0.21*625)},
		{"modified-normal", 10*s + 0.21*25, root(0.01*s*s + 0.21*(625+0.01) - 0.21*0.21*625)},
		{"chi-square", s, root(2 * s)},
		{"weibull", s * 0.9 * math.Gamma(1+1/s), s * 0.9 * root(math.Gamma(1+2/s)-math.Gamma(1+1/s)*math.Gamma(1+1/s))},
		{"f", 9.0 / 7, root(2 * 81.0 * (1 + 9 - 2) / (1 * 49 * 5))},
		{"normal-unscaled", 10 * s, 0.01},
		{"uct-normal", 10 * s, 0.1},
		{"uct-ndcs", s, root(s)},
		{"ties", s, 0},
		{"superadditive", s * s, 0},
		{"negative", -s / 2, s / root(12)},
		{"pascal", s*s*9 + 25, root(s*s*s*0.9/0.01 + 2500.0/12)},
		{"pareto", 3 * s, math.NaN()},
	}
	for _, test := range tests {
		inst, err := Generate(test.name, n, 5)
		if err != nil {
			t.Fatal(err)
		}
		count, mean, square := 0.0, 0.0, 0.0
		for mask, x := range inst.F64 {
			if bits.OnesCount(uint(mask)) == size {
				count++
				mean += x
				square += x * x
			}
		}
		mean /= count
		deviation := root(max(0, square/count-mean*mean))
		wide := test.deviation
		if math.IsNaN(wide) {
			wide = deviation
		}
		if math.Abs(mean-test.mean) > 5*wide/root(count)+1e-9 {
			t.Errorf("%s: mean of %v draws %v, want %v", test.name, count, mean, test.mean)
		}
		if !math.IsNaN(test.deviation) && math.Abs(deviation-test.deviation) > 0.06*test.deviation+1e-6 {
			t.Errorf("%s: deviation %v, want %v", test.name, deviation, test.deviation)
		}
	}
}

// The laws without moments, and those that depend on the agents.
func TestShapes(t *testing.T) {
	const n = 12
	mustMake := func(name string) *problem.Instance {
		inst, err := Generate(name, n, 9)
		if err != nil {
			t.Fatal(err)
		}
		return inst
	}
	for _, name := range []string{"ndcs", "chi-square", "weibull", "f", "exponential", "gamma"} {
		for mask, x := range mustMake(name).F64[1:] {
			if x <= 0 {
				t.Fatalf("%s: coalition %d is worth %v, want more than 0", name, mask+1, x)
			}
		}
	}
	own := ownNumbers("agent-based-uniform", n, 9)
	for mask, x := range mustMake("agent-based-uniform").F64 {
		most := 0.0
		for i, p := range own {
			if mask>>i&1 != 0 {
				most += 2 * p
			}
		}
		if x < 0 || x > most {
			t.Fatalf("agent-based-uniform: coalition %d is worth %v, want at most %v", mask, x, most)
		}
	}
	forbidden := 0
	for mask, x := range mustMake("infeasible").F64 {
		if math.IsInf(x, -1) {
			forbidden++
			if bits.OnesCount(uint(mask)) < 2 {
				t.Errorf("infeasible: coalition %d of one agent is forbidden", mask)
			}
		}
	}
	if forbidden < 1<<n/3 || forbidden > 1<<n*2/3 {
		t.Errorf("infeasible: %d of %d coalitions are forbidden, want about half", forbidden, 1<<n)
	}
	within := 0
	for mask, x := range mustMake("cauchy").F64[1:] {
		if math.Abs(x-10*float64(bits.OnesCount(uint(mask+1)))) < 0.1 {
			within++
		}
	}
	if share := float64(within) / (1<<n - 1); math.Abs(share-0.5) > 0.05 {
		t.Errorf("cauchy: %v of the values within a scale of the location, want half", share)
	}
	for mask, x := range mustMake("zipf").F64[1:] {
		s := float64(bits.OnesCount(uint(mask + 1)))
		if x < s || x > s*s+50 {
			t.Fatalf("zipf: coalition %d is worth %v, want %v to %v", mask+1, x, s, s*s+50)
		}
	}
}

func TestFootprint(t *testing.T) {
	inst, err := GenerateAs("ties", 9, 1, problem.Int64)
	if err != nil {
		t.Fatal(err)
	}
	if got := problem.Footprint(9, problem.Int64); got != int64(len(inst.Bytes())) {
		t.Errorf("footprint %d, want %d", got, len(inst.Bytes()))
	}
	for _, n := range []int{-1, problem.MaxAgents + 1} {
		if problem.Footprint(n, problem.Int32) != math.MaxInt64 {
			t.Errorf("%d agents have a footprint", n)
		}
		if _, err := Generate("ties", n, 1); err == nil {
			t.Errorf("%d agents are generated", n)
		}
	}
	if _, err := Generate("ties", 37, 1); err == nil {
		t.Error("37 agents are generated")
	}
}

func TestGenerateIntegersNeverOverflow(t *testing.T) {
	for _, name := range Distributions() {
		for _, as := range []problem.Value{problem.Int32, problem.Int64, problem.Float32} {
			inst, err := GenerateAs(name, 10, 3, as)
			if err != nil {
				t.Fatal(err)
			}
			if inst.Type != as || len(inst.Notes) != 0 {
				t.Errorf("%s as %s: became %s, %v", name, as, inst.Type, inst.Notes)
			}
			if as != problem.Int32 {
				continue
			}
			one, err := newSource(name, 10, 3)
			if err != nil {
				t.Fatal(err)
			}
			for mask, x := range inst.I32 {
				y := one.value(new(randomNumbers), uint64(mask)) * ScaleInt32
				if math.Abs(y) < valueLimit32 && math.Abs(float64(x)-y) > 0.5 {
					t.Fatalf("%s: coalition %d is %d, want %v rounded", name, mask, x, y)
				}
			}
		}
	}
}

func BenchmarkGenerate(b *testing.B) {
	for _, name := range []string{"uniform", "normal", "ndcs", "agent-based-uniform", "zipf"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Generate(name, 18, 1); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*(1<<18)/b.Elapsed().Seconds(), "values/s")
		})
	}
}
