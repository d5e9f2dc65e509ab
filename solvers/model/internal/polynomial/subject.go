package polynomial

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"coalesce/autotune/kernel"
	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/generated/model"
	"coalesce/runtime/device"
)

// A trial is a polynomial with good solutions, to be timed or, if it is small, followed by the host.
type trial struct {
	*Terms
	seed   uint64
	isCase bool
	moves  float64
}

// Moves of all walks in a timed run on a GPU, so that variants with many walks have no more work. Steps of a walk in one elsewhere and in a
// case, walks where the device is no GPU, and the largest case.
const (
	trialMoves  = 1 << 21
	trialSteps  = 1000
	trialWalks  = 6
	caseSteps   = 90
	largestCase = 40
)

// Subjects are the families of this package, for the tuner.
func Subjects() []subject.Subject {
	return []subject.Subject{polynomials{&declared{
		Kernels:    &model.Polynomial,
		Load:       model.LoadPolynomial,
		Unit:       "variables",
		Most:       Most,
		SizesOn:    map[string][]int{device.CUDA: {60, 100, 400, 2000}, device.Emulated: {50, 80}},
		CaseSizes:  []int{1, 2, 31, 32, 33, largestCase},
		Size:       func(t *trial) int { return t.n },
		Draw:       draw,
		Bind:       bind,
		Operations: func(t *trial) float64 { return t.moves },
		Fits:       func(v kernel.Variant, f device.Facts, size int) error { return checkFits(v.Variant, f, size) },
	}}}
}

type declared = kernel.Family[*trial, *model.PolynomialKernels]

// polynomials is the family for the tuner, with the workloads of solves.
type polynomials struct{ *declared }

// Workload is the description by which solves choose.
func (polynomials) Workload(fixed map[string]string, _ device.Facts, size int) (tuned.Workload, error) {
	return workload(fixed["value"], size, fixed["value"] == "int16" && sequences(size)), nil
}

// sequences reports whether polynomials of so many variables are energies of binary sequences.
func sequences(n int) bool { return n > largestCase && n <= 128 }

// draw draws monomials of all degrees, of bits and of spins; those to be timed are the energies of sequences of as many spins for up to
// 128 variables.
func draw(w kernel.Workload, n int, r *rand.Rand) *trial {
	var list []monomial
	most := int64(20)
	if w["value"] == "int64" {
		most = 1 << 40
	}
	switch {
	case sequences(n):
		list = autocorrelations(n)
		list[0].coefficient *= most
	default:
		for range 10 * n {
			m := monomial{coefficient: r.Int64N(2*most+1) - most, spins: r.IntN(2) == 0}
			for range 1 + r.IntN(degree) {
				if i := int32(r.IntN(n)); !slices.Contains(m.variables, i) {
					m.variables = append(m.variables, i)
				}
			}
			slices.Sort(m.variables)
			list = append(list, m)
		}
		list[0].coefficient = most
	}
	t, err := newTerms(n, list)
	if err != nil {
		panic(err) // sizes are within Most
	}
	return &trial{Terms: t, seed: r.Uint64(), isCase: n <= largestCase}
}

// autocorrelations are the energy of a binary sequence of n spins, the sum of the squares of its autocorrelations, less its constant.
func autocorrelations(n int) []monomial {
	sums := map[[degree]int32]int64{}
	for k := 1; k < n; k++ {
		for i := range n - k {
			for j := range i {
				var odd []int32 // squares of spins are 1
				for _, v := range []int{i, i + k, j, j + k} {
					if at := slices.Index(odd, int32(v)); at >= 0 {
						odd = slices.Delete(odd, at, at+1)
					} else {
						odd = append(odd, int32(v))
					}
				}
				slices.Sort(odd)
				key := [degree]int32{-1, -1, -1, -1}
				copy(key[:], odd)
				sums[key] += 2
			}
		}
	}
	list := make([]monomial, 0, len(sums))
	for key, c := range sums {
		list = append(list, monomial{slices.DeleteFunc(key[:], func(i int32) bool { return i < 0 }), c, true})
	}
	slices.SortFunc(list, func(a, b monomial) int { return slices.Compare(a.variables, b.variables) })
	return list
}

// bind declares the buffers of a trial, whose cases the host follows; of others the first tops are computed again.
func bind(b *kernel.Binder, k *model.PolynomialKernels, t *trial) kernel.Launches {
	steps, walks, shared := trialSteps, trialWalks, sharedBytes(b.Variant.Variant, t.n)
	if t.isCase {
		steps = caseSteps
	} else if f := b.Facts(); f.Kind == device.CUDA {
		walks = resident(f, k, b.Int("block"), shared)
		steps = max(1, trialMoves/walks)
	}
	t.moves = float64(steps) * float64(walks)
	r := rand.New(rand.NewPCG(t.seed, 1))
	m := &reference{n: t.n, monomials: t.monomials}
	var rows []uint32
	for range walks {
		x := make([]uint8, t.n)
		for i := range x {
			x[i] = uint8(r.IntN(2))
		}
		value := int64(math.MaxInt64)
		if t.isCase {
			value = m.value(x)
		}
		m.elite, m.values, rows = append(m.elite, x), append(m.values, value), append(rows, t.row(x)...)
	}
	want := sync.OnceValues(func() (rows []uint32, values []int64) {
		for walk := range walks {
			x, value := m.run(walk, steps, t.seed, 3)
			x = append(x, 1) // variable n
			row := make([]uint32, t.rowWords())
			for i, v := range x {
				row[i/32] |= uint32(v) << (i % 32)
			}
			rows, values = append(rows, row...), append(values, value)
		}
		return rows, values
	})
	var found []uint32
	from, words, weights := kernel.Input(b, "from", t.from), kernel.Input(b, "terms", t.words), kernel.Input(b, "weights", t.weights)
	sheaves := kernel.Input(b, "sheaves", t.sheaves)
	elite, values := kernel.Input(b, "elite", rows), kernel.Input(b, "elite values", m.values)
	tops := kernel.Output(b, "tops", walks*t.rowWords(), func(got []uint32) error {
		found = got
		if !t.isCase {
			return nil
		}
		rows, _ := want()
		return kernel.Equal(func() []uint32 { return t.masked(rows) })(t.masked(got))
	})
	topValues := kernel.Output(b, "top values", walks, func(got []int64) error {
		if t.isCase {
			return kernel.Equal(func() []int64 { _, values := want(); return values })(got)
		}
		for walk := range 2 {
			if value := m.value(t.bits(found[walk*t.rowWords():])); got[walk] != value {
				return fmt.Errorf("walk %d: the bits have the value %d, stated is %d", walk, value, got[walk])
			}
		}
		return nil
	})
	grid := device.Grid{Blocks: int64(walks), Threads: b.Int("block"), Shared: shared}
	return func(s device.Stream) error {
		return k.Walk(s, grid, from.Memory, words.Memory, weights.Memory, sheaves.Memory, uint64(t.n), elite.Memory, values.Memory, tops.Memory, topValues.Memory, uint64(steps), t.seed, 3)
	}
}
