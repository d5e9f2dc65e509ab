package host

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"coalesce/autotune/kernel"
	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	genqubo "coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/runtime/host/kernels/qubo"
	"coalesce/solvers/qubo/internal/draw"
	"coalesce/solvers/qubo/problem"
)

// trialFlips is the number of flips that a block makes in a timed run.
const trialFlips = 1000

// A trial is a drawn problem with a random start. One searcher alone makes flips, as each does on a core of its own.
type trial struct {
	n     int
	seed  uint64
	thin  bool
	most  int64 // the largest size of a weight
	flips int
}

// weight is that between two variables: none between nine in ten of them, or half of them.
func (t trial) weight(i, j int) int64 {
	u := draw.RandomWord(t.seed, uint64(min(i, j)), uint64(max(i, j)))
	if i == j || t.thin && u%10 != 0 || u>>8&1 != 0 {
		return 0
	}
	return int64(u>>9%uint64(2*t.most+1)) - t.most
}

// flipsSubject is qubo/hostflips for the tuner, with workloads of its own.
type flipsSubject struct{ *declared }

type declared = kernel.Family[trial, *genqubo.HostflipsKernels]

// Subjects are the families of this package, for the tuner.
func Subjects() []subject.Subject {
	return []subject.Subject{flipsSubject{&declared{
		Kernels: &genqubo.Hostflips,
		Load:    genqubo.LoadHostflips,
		SizesOn: map[string][]int{device.Host: {500, 3000}},
		Size:    func(t trial) int { return t.n },
		Draw: func(w kernel.Workload, n int, r *rand.Rand) trial {
			type limits struct{ weight, field int64 }
			l := map[string]limits{"int8": {127, 0}, "int16": {1<<15 - 1, 1<<15 - 2}, "int32": {1<<31 - 1, 1<<31 - 2}, "int64": {1 << 40, 1 << 60}}
			t := trial{n: n, seed: r.Uint64(), thin: w["density"] == thin, flips: trialFlips}
			if t.most = min(l[w["least"]].weight, l[w["sum"]].field/int64(n+1)); n < 200 {
				t.flips = 3*n + 1 // a case
			}
			return t
		},
		CaseSizes: []int{1, 63, 64, 65, 130},
		Bind:      bindFlips,
		Operations: func(t trial) float64 {
			return float64(t.flips) * float64(t.n)
		},
		Fits: func(v kernel.Variant, _ device.Facts, size int) error { return flipsFit(v.Variant, size) },
	}}}
}

// Sequential says that one thread makes the flips.
func (flipsSubject) Sequential() {}

// SizeUnit leaves what sizes count to the problem.
func (flipsSubject) SizeUnit() (unit string, most int) { return "", 0 }

// Workload is that of the problems drawn.
func (flipsSubject) Workload(fixed map[string]string, f device.Facts, size int) (tuned.Workload, error) {
	share := 0.5
	if fixed["density"] == thin {
		share = 0.05
	}
	return flipsWorkload(size, share, widths{least: fixed["least"], sum: fixed["sum"]}, f), nil
}

// Workloads are the widths that variants are for, each for both densities.
func (flipsSubject) Workloads() []map[string]string {
	var all []map[string]string
	seen := map[string]bool{}
	for i := range genqubo.Hostflips.Variants {
		v := &genqubo.Hostflips.Variants[i]
		least, sum := genqubo.Hostflips.Value(v, "least"), genqubo.Hostflips.Value(v, "sum")
		if !seen[least+sum] {
			seen[least+sum] = true
			for _, density := range []string{thin, dense} {
				all = append(all, map[string]string{"least": least, "sum": sum, "density": density})
			}
		}
	}
	return all
}

// bindFlips declares the buffers of a trial.
func bindFlips(b *kernel.Binder, k *genqubo.HostflipsKernels, t trial) kernel.Launches {
	switch b.Text("weight") {
	case "int8":
		if b.Text("sum") == "int16" {
			return bindFlipsAs[int8, int16](b, k, t)
		}
		return bindFlipsAs[int8, int32](b, k, t)
	case "int16":
		if b.Text("sum") == "int16" {
			return bindFlipsAs[int16, int16](b, k, t)
		}
		return bindFlipsAs[int16, int32](b, k, t)
	case "int32":
		return bindFlipsAs[int32, int32](b, k, t)
	}
	return bindFlipsAs[int64, int64](b, k, t)
}

// bindFlipsAs lays the weights out as the variant has them, and draws a start.
func bindFlipsAs[W qubo.Row, S qubo.Sum](b *kernel.Binder, k *genqubo.HostflipsKernels, t trial) kernel.Launches {
	stride := (t.n + qubo.Turn - 1) &^ (qubo.Turn - 1)
	zeros := b.Text("rows") == allWeights
	var weights []W
	var columns []int32
	start := []int64{0}
	for i := range t.n {
		for j := range t.n {
			if w := W(t.weight(i, j)); zeros {
				weights = append(weights, w)
			} else if w != 0 {
				weights, columns = append(weights, w), append(columns, int32(j))
			}
		}
		if zeros {
			weights = append(weights, make([]W, stride-t.n)...)
		}
		start = append(start, int64(len(weights)))
	}
	fields, x, free := slices.Repeat([]S{qubo.FillerField[S]()}, stride), make([]uint64, stride/64), make([]uint64, stride/64)
	r := rand.New(rand.NewPCG(t.seed, 1))
	for i := range t.n {
		x[i>>6] |= r.Uint64() & 1 << (i & 63)
		free[i>>6] |= 1 << (i & 63)
	}
	for i, f := range t.fields(x) {
		fields[i] = S(f)
	}
	tenure := t.n / 10
	end := sync.OnceValue(func() end { return t.run(tenure, x) })
	on, at, from := kernel.Input(b, "weights", append(weights, 0)), kernel.Input(b, "columns", append(columns, 0)), kernel.Input(b, "start", start)
	field := kernel.InOut(b, "fields", fields, func(got []S) error {
		for i, want := range end().field {
			if int64(got[i]) != want {
				return fmt.Errorf("variable %d has %d, expected %d", i, got[i], want)
			}
		}
		return nil
	})
	bits := kernel.InOut(b, "x", x, kernel.Equal(func() []uint64 { return end().x }))
	frees := kernel.InOut(b, "free", free, func([]uint64) error { return nil }) // which made follows from
	made := kernel.Output(b, "made", t.flips, kernel.Equal(func() []int32 { return end().made }))
	return func(s device.Stream) error {
		return k.Flips(s, device.Grid{Blocks: 1, Threads: 1}, on.Memory, at.Memory, from.Memory, field.Memory, bits.Memory, frees.Memory, made.Memory,
			uint64(stride), 0, uint64(t.flips), uint64(tenure))
	}
}

// An end is what the flips lead to.
type end struct {
	made  []int32
	field []int64
	x     []uint64
}

// fields are those of a solution.
func (t trial) fields(x []uint64) []int64 {
	field := make([]int64, t.n)
	for i := range t.n {
		if problem.Bit(x, i) != 0 {
			for j := range t.n {
				field[j] += t.weight(i, j)
			}
		}
	}
	return field
}

// run makes the flips from a solution, as plainly as it can.
func (t trial) run(tenure int, from []uint64) end {
	e := end{field: t.fields(from), x: slices.Clone(from)}
	until, rotate := make([]int, t.n), 0
	for k := range t.flips {
		best, at, place := int64(0), -1, 0
		for i, f := range e.field {
			if problem.Bit(e.x, i) != 0 {
				f = -f
			}
			// Among equals the first place from rotate on counts, and there the first variable.
			if p := (i - rotate) & (qubo.Turn - 1); until[i] <= k && (at < 0 || f > best || f == best && p < place) {
				best, at, place = f, i, p
			}
		}
		e.made = append(e.made, int32(at))
		sign := 1 - 2*int64(problem.Bit(e.x, at))
		e.x[at>>6] ^= 1 << (at & 63)
		for j := range t.n {
			e.field[j] += sign * t.weight(at, j)
		}
		until[at], rotate = k+tenure+1, 7*k&(qubo.Turn-1)
	}
	return e
}
