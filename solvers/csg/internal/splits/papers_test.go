package splits_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/csg"
	"coalesce/solvers/csg/internal/engine"
	"coalesce/solvers/csg/internal/levels"
	"coalesce/solvers/csg/internal/splits"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// What the founding papers print of their algorithms, as tests: docs/papers/report.md and
// docs/papers/gpu-csg.md.

// published is the variant of csg/splits as GPU-CSG prints it, without sharing, of DP.
func published(t *testing.T, more ...string) *device.Variant {
	t.Helper()
	return splitsWith(t, append([]string{"lambda=2", "alpha=32", "beta=8", "block=256", "origin=launch", "collision=off", "profile=off"}, more...)...)
}

// splitsWith is the first variant of csg/splits with some values.
func splitsWith(t *testing.T, values ...string) *device.Variant {
	t.Helper()
	for i := range gencsg.Splits.Variants {
		v := &gencsg.Splits.Variants[i]
		all := strings.Split(v.Label, ",")
		if !slices.ContainsFunc(values, func(one string) bool { return !slices.Contains(all, one) }) {
			return v
		}
	}
	t.Fatalf("csg/splits has no variant with %v", values)
	return nil
}

// Tables 1 and 2 of the report: bids on three assets, ♣ agent 1, ♢ 2, ♡ 3, and the sums of all five
// disjoint sets of them. The best is 13, {♡} and {♣, ♢}.
func TestReportExample(t *testing.T) {
	v := []int32{0, 3, 2, 7, 6, 7, 4, 6}
	sums := map[string]int32{"3+4": 13, "2+5": 9, "1+6": 7, "7": 6, "1+2+4": 11}
	for blocks, want := range sums {
		sum := int32(0)
		for _, c := range strings.Split(blocks, "+") {
			sum += v[c[0]-'0']
		}
		if sum != want {
			t.Errorf("%s is worth %d, printed %d", blocks, sum, want)
		}
	}
	inst, err := problem.NewInstance(v, "the report's table 1")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range csg.Methods() {
		r, err := csg.Reference(inst, m)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(r.Structure.Lists()); r.Value.String() != "13" || got != "[[1 2] [3]]" {
			t.Errorf("%s finds %s, %s", m, r.Value.String(), got)
		}
	}
	d := emulatedtest.Open(t)
	o := csg.Options{Settings: solve.Settings{Devices: []device.Device{d}}}
	o.Variant = splitsWith(t, "construct=integer").Label
	r, err := csg.Solve(t.Context(), inst, o)
	if err != nil || r.Value.String() != "13" || fmt.Sprint(r.Structure.Lists()) != "[[1 2] [3]]" {
		t.Errorf("the report's kernel: %v, %v", r, err)
	}
}

// GPU-CSG, section 3.1: of four agents f0 to f3, {f0, f2, f3} is 1101 in binary and 13 in decimal, and
// its value is found there.
func TestPaperCoalition(t *testing.T) {
	inst, err := csg.Generate("uniform", 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	c := uint64(0b1101)
	if got := fmt.Sprint(problem.Structure{c, 0b0010}.Lists()); c != 13 || got != "[[1 3 4] [2]]" {
		t.Errorf("coalition %d is printed as %s", c, got)
	}
	if inst.Len() != 16 || inst.Value64(13) != inst.F64[13] {
		t.Errorf("%d values, that of 13 is %v", inst.Len(), inst.Value64(13))
	}
}

// probe are the procedures of csg/coalitions.cuh as a kernel: for coalition c and every number n it
// writes the nth member by initShift, the nth splitting by initialSplit, the splitting after that by
// nextSplit, and the coalition after c.
const probe = `#include "cuda/prelude.cuh"
#include "csg/coalitions.cuh"
extern "C" __global__ void __launch_bounds__(32) probe_run(unsigned int* out, unsigned long long c, unsigned long long count) {
    __shared__ unsigned char shift[32];
    if (threadIdx.x == 0) csg::initShift((u32)c, shift);
    __syncthreads();
    for (u32 n = threadIdx.x; n < (u32)count; n += 32) {
        u32 s = csg::initialSplit(n, shift);
        out[4 * n] = n < (u32)__popc((u32)c) ? shift[n] : 99;
        out[4 * n + 1] = s;
        out[4 * n + 2] = csg::nextSplit((u32)c, s);
        out[4 * n + 3] = csg::nextCoalition((u32)c);
    }
}
extern "C" __device__ unsigned long long probe_hash = 0x1ull;
`

// enumeration runs probe: rows of four numbers.
func enumeration(t *testing.T, d device.Device, c uint64, count int) [][4]uint32 {
	t.Helper()
	f := &device.Family{Name: "csg/probe", Target: device.CUDA, Variants: []device.Variant{{Label: "probe", Symbol: "probe", Hash: 1}},
		Entries: []device.Entry{{Name: "run", Params: []device.Param{{Name: "out", Type: "buffer"}, {Name: "c", Type: "uint64"}, {Name: "count", Type: "uint64"}}}},
		Source:  fstest.MapFS{"probe/pack_000.cu": {Data: []byte("#include \"probe.cu\"\n")}, "probe/probe.cu": {Data: []byte(probe)}},
		Packs:   []device.Pack{{File: "probe/pack_000.cu"}}}
	m, err := d.Load(f, &f.Variants[0])
	if err != nil {
		t.Fatal(err)
	}
	var scope device.Scope
	scope.CloseLater(m)
	defer scope.Close()
	s, err := scope.NewStream(d)
	if err != nil {
		t.Fatal(err)
	}
	out, err := scope.Alloc(d, int64(16*count))
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("run")
	raw := make([]byte, 16*count)
	if err == nil {
		err = cmp.Or(s.Launch(k, device.Grid{Blocks: 1, Threads: 32}, device.Ptr(out), device.U64(c), device.U64(uint64(count))), s.Download(raw, out, 0))
	}
	if err != nil {
		t.Fatal(err)
	}
	rows := make([][4]uint32, count)
	for i := range rows {
		for k := range rows[i] {
			rows[i][k] = binary.LittleEndian.Uint32(raw[16*i+4*k:])
		}
	}
	return rows
}

// Figure 2 and table 2 of GPU-CSG, by the kernels' own text: initShift lists 0, 2, 3 of 1101; number
// 0011 gives 0101; and numbers below 4, the highest member staying in the complement, give the three
// splittings of the table, each once. Every coalition of 8 agents is walked through like that.
func TestWalkThrough(t *testing.T) {
	d := emulatedtest.Open(t)
	rows := enumeration(t, d, 0b1101, 4)
	if got := [3]uint32{rows[0][0], rows[1][0], rows[2][0]}; got != [3]uint32{0, 2, 3} {
		t.Errorf("initShift of 1101: %v", got)
	}
	if rows[0b0011][1] != 0b0101 {
		t.Errorf("initialSplit of 0011: %04b", rows[3][1])
	}
	var table []string
	for _, row := range rows[1:] {
		part, rest := row[1], 0b1101^row[1]
		if bits.OnesCount32(part) > bits.OnesCount32(rest) {
			part, rest = rest, part
		}
		table = append(table, fmt.Sprintf("%04b %04b", part, rest))
	}
	if slices.Sort(table); fmt.Sprint(table) != "[0001 1100 0100 1001 1000 0101]" {
		t.Errorf("the splittings of 1101: %v", table)
	}
	for c := uint64(1); c < 1<<8; c += 11 {
		size := bits.OnesCount64(c)
		rows := enumeration(t, d, c, 1<<(size-1))
		seen := map[uint32]bool{}
		for n, row := range rows {
			if n > 0 && (row[1] == 0 || row[1]&^uint32(c) != 0 || seen[row[1]] || seen[uint32(c)^row[1]]) {
				t.Errorf("coalition %#b: number %d is %#b, no splitting or one before", c, n, row[1])
			}
			if seen[row[1]] = true; n+1 < len(rows) && row[2] != rows[n+1][1] {
				t.Errorf("coalition %#b: nextSplit of number %d is %#b, number %d %#b", c, n, row[2], n+1, rows[n+1][1])
			}
		}
		if next := levels.NextSet(c); uint64(rows[0][3]) != next || bits.OnesCount64(next) != size || next <= c {
			t.Errorf("nextCoalition of %#b is %#b, expected %#b", c, rows[0][3], next)
		}
	}
}

// The report's construction (¬C + ψ) ∩ C misses splittings where ψ runs below the number of
// splittings, 2^(|C|-1): of 848 of the 1,013 sets of two of 10 assets or more; of 638 where it runs below
// 2^|C|; of none where it runs up to C, as the kernel has it.
func TestIntegerConstruction(t *testing.T) {
	missed := [3]int{}
	for c := uint(1); c < 1<<10; c++ {
		size := bits.OnesCount(c)
		for k, limit := range []uint{1 << (size - 1), 1 << size, c + 1} {
			seen := map[uint]bool{}
			for psi := range limit {
				if s := (^c + psi) & c; s != 0 && s != c {
					seen[min(s, c^s)] = true
				}
			}
			if len(seen) < 1<<(size-1)-1 {
				missed[k]++
			}
		}
	}
	if missed != [3]int{848, 638, 0} {
		t.Errorf("sets that miss a splitting: %v", missed)
	}
}

// GPU-CSG, section 3.1: two coalitions with n common members share the 2^n - 1 parts that are made of
// those alone.
func TestCollisions(t *testing.T) {
	for c := uint(1); c < 1<<7; c++ {
		for d := c + 1; d < 1<<7; d++ {
			count := 0
			for s := uint(1); s < 1<<7; s++ {
				if s&^c == 0 && s&^d == 0 {
					count++
				}
			}
			if want := 1<<bits.OnesCount(c&d) - 1; count != want {
				t.Fatalf("coalitions %#b and %#b share %d parts, expected %d", c, d, count, want)
			}
		}
	}
}

// Figure 1 of GPU-CSG: the best splitting is found whether it is the second of a thread, of another lane,
// another warp or another block than the first's. All agents are worth 1 by one splitting alone.
func TestReductionScopes(t *testing.T) {
	d := emulatedtest.Open(t)
	const n = 11 // 1,024 numbers: two blocks of 256 threads of two splittings
	grand := uint64(1)<<n - 1
	for turn, number := range []uint64{1, 2, 65, 512, 1023} {
		v := make([]int32, 1<<n)
		for c := range v[1:] {
			v[c+1] = -1000
		}
		part := engine.Deposit(number, grand)
		v[part], v[grand^part] = 3, 4
		inst, err := problem.NewInstance(v, "one splitting")
		if err != nil {
			t.Fatal(err)
		}
		for k, more := range []string{"reduce=shuffle", "reduce=redux", "reduce=shared", "reduce=atomic"} {
			if !emulatedtest.Thorough() && k != turn%4 && number != 1023 {
				continue // every reduction finds the last number, which is another block's, and one each of the others
			}
			variant := splitsWith(t, more, "method=dp", "construct=table", "collision=off", "table=rebuild", "value=int32")
			if more == "reduce=shuffle" {
				variant = published(t, more)
			}
			o := csg.Options{Settings: solve.Settings{Devices: []device.Device{d}}}
			o.Variant = variant.Label
			r, err := csg.Solve(t.Context(), inst, o)
			if err != nil {
				t.Fatal(err)
			}
			if r.Value.String() != "7" || len(r.Structure) != 2 || r.Structure[0] != min(part, grand^part) && r.Structure[1] != min(part, grand^part) {
				t.Errorf("splitting %d by %s: %s %v", number, more, r.Value.String(), r.Structure)
			}
		}
	}
}

// The checkpoints of figures 3 and 4 stand where Algorithm 7 has them: the third before initialSplit, the
// barrier of line 27 between the fourth and the fifth; kernels that are not profiled are as they were.
func TestCheckpoints(t *testing.T) {
	for _, sharing := range []string{"collision=off", "collision=pair"} {
		v := splitsWith(t, sharing, "origin=launch", "beta=8", "profile=on")
		_, text := emulatedtest.VariantText(t, &gencsg.Splits, v)
		level := text[strings.Index(text, "fill(group"):]
		reduce := text[strings.LastIndex(text, "= param::reduce_redux"):] // of shuffles and redux
		for _, order := range [][]string{{level, "clock.at(1)", "clock.at(2)", "clock.at(3)", "group.first(", "evaluate(", "clock.at(4)", "reduce("},
			{reduce, "warpLargest(", "__syncthreads()", "clock.at(5)", "larger(", "clock.at(6)", "offer(", "clock.at(7)"}} {
			at := 0
			for _, part := range order[1:] {
				k := strings.Index(order[0][at:], part)
				if k < 0 {
					t.Fatalf("%s: %s does not follow", v.Label, part)
				}
				at += k
			}
			if strings.Count(order[0][:at], "__syncthreads()") > 1 {
				t.Errorf("%s: more than one barrier between the checkpoints", v.Label)
			}
		}
	}
}

// Line 5 of Algorithm 1 splits a coalition that is worth as much split as whole. Rebuilt from f alone, as
// Algorithm 2 has it on a device, where v is gone, so does every value type here; the table kept, and the
// reference, which has v, leave the coalition whole. All are worth the same.
func TestTies(t *testing.T) {
	d := emulatedtest.Open(t)
	for _, value := range []problem.Value{problem.Int32, problem.Int64, problem.Float32, problem.Float64} {
		inst, err := tied(value)
		if err != nil {
			t.Fatal(err)
		}
		r, err := csg.Reference(inst, csg.DP)
		if err != nil || len(r.Structure) != 1 || r.Value.String() != "4" {
			t.Errorf("%s, the reference: %v, %v", value, r, err)
		}
		for table, blocks := range map[string]int{"rebuild": 4, "keep": 1} {
			if table == "keep" && value != problem.Int32 {
				continue // no variant keeps the table of others: 8 bytes and a splitting are more than one atomic maximum takes
			}
			o := csg.Options{Settings: solve.Settings{Devices: []device.Device{d}}}
			o.Variant = splitsWith(t, "table="+table, "value="+string(value), "method=dp", "profile=off", "origin=each").Label
			r, err := csg.Solve(t.Context(), inst, o)
			if err != nil || len(r.Structure) != blocks || r.Value.String() != "4" {
				t.Errorf("%s, table %s: %v, %v, expected %d blocks", value, table, r, err, blocks)
			}
		}
	}
}

// tied are four agents every structure of which is worth 4.
func tied(value problem.Value) (*problem.Instance, error) {
	whole := make([]int64, 16)
	for c := range whole {
		whole[c] = int64(bits.OnesCount(uint(c)))
	}
	switch value {
	case problem.Int32:
		return problem.NewInstance(convert[int32](whole), "ties")
	case problem.Int64:
		return problem.NewInstance(whole, "ties")
	case problem.Float32:
		return problem.NewInstance(convert[float32](whole), "ties")
	}
	return problem.NewInstance(convert[float64](whole), "ties")
}

func convert[T problem.Number](list []int64) []T {
	var out []T
	for _, x := range list {
		out = append(out, T(x))
	}
	return out
}

// Algorithm 2 looks at no more than n - 1 coalitions with a splitting, and at each block once.
func TestRebuilding(t *testing.T) {
	d := emulatedtest.Open(t)
	for n := 2; n <= 9; n++ {
		inst, err := csg.GenerateAs("uniform", n, uint64(n), problem.Int32)
		if err != nil {
			t.Fatal(err)
		}
		l, err := splits.Load(d, published(t, "reduce=shuffle"))
		if err != nil {
			t.Fatal(err)
		}
		stream, err := d.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		e := &counting{Engine: l.Engine(n)}
		if err := cmp.Or(e.Alloc(d, stream), e.Upload(t.Context(), stream, inst.Bytes()), e.Run(t.Context(), stream, engine.Progress{})); err != nil {
			t.Fatal(err)
		}
		blocks, err := engine.Structure(e, stream, inst)
		if err != nil {
			t.Fatal(err)
		}
		if e.splitCount > n-1 || e.splitCount != len(blocks)-1 {
			t.Errorf("%d agents: %d coalitions were split into %d blocks", n, e.splitCount, len(blocks))
		}
		if err := cmp.Or(e.Free(), stream.Close(), l.Close()); err != nil {
			t.Error(err)
		}
	}
}

// counting counts the coalitions that an engine splits again.
type counting struct {
	engine.Engine
	splitCount int
}

func (c *counting) Split(s device.Stream, of uint64) (uint64, error) {
	part, err := c.Engine.Split(s, of)
	if part != 0 {
		c.splitCount++
	}
	return part, err
}
