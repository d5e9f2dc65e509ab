package qubo

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"

	"coalesce/generated/qubo"
	"coalesce/runtime/device"
)

// A bulkForm is how a variant of qubo/bulk holds a problem: weights divided by
// 2^(6-shift) where its gains are keys, which have shift low bits for the
// item; shift is 0 where they are not.
type bulkForm struct {
	block, items int
	row          string
	shift        int
	size         int64 // of every weight, where row is bits
}

// capacity is the number of variables that there is room for.
func (f bulkForm) capacity() int { return f.block * f.items }

// record is the length of a solution on the device, in words of 32 bits.
func (f bulkForm) record() int { return (f.items + 31) / 32 * f.block }

// bits is the size of a coefficient.
func (f bulkForm) bits() int {
	return map[string]int{"bits": 1, "int8": 8, "int16": 16, "int32": 32, "int64": 64}[f.row]
}

// rowBytes is the size of a row.
func (f bulkForm) rowBytes() int { return f.capacity() * f.bits() / 8 }

// argument is what the kernel takes as shift.
func (f bulkForm) argument() uint64 { return uint64(f.shift) | uint64(f.size)<<8 }

// gain is the size of a gain.
func (f bulkForm) gain() int { return max(4, f.bits()/8) }

// near is how many neighbours a thread reads at once.
func (f bulkForm) near() int {
	if f.row == "bits" {
		return 32
	}
	piece := 16
	for f.items*f.bits()/8%piece != 0 {
		piece /= 2
	}
	return piece * 8 / f.bits()
}

// variable is the one of an item of a thread.
func (f bulkForm) variable(thread, item int) int {
	near := f.near()
	return item/near*near*f.block + thread*near + item%near
}

// bulkNeeds are what a problem needs of a variant.
type bulkNeeds struct {
	weight, delta int64 // as in spans
	grain         int64 // the largest power of two that divides every weight
	n             int
	size          int64 // of all weights, where there is one between any two; 0 where they differ
}

// bulkNeeds reads the weights once, on all cores.
func (p *normal) bulkNeeds() bulkNeeds {
	cores := min(runtime.GOMAXPROCS(0), 1+len(p.col)/(1<<16))
	parts := make([]bulkNeeds, cores)
	var wg sync.WaitGroup
	for c := range cores {
		wg.Go(func() {
			part := bulkNeeds{size: math.MaxInt64}
			for i := c; i < p.n; i += cores {
				high, low := p.diag[i], p.diag[i]
				_, weight := p.row(i)
				for _, w := range weight {
					part.grain |= w
					part.weight = max(part.weight, w, -w)
					part.size = min(part.size, max(w, -w))
					high += max(w, 0)
					low += min(w, 0)
				}
				part.delta = max(part.delta, high, -low)
			}
			parts[c] = part
		})
	}
	wg.Wait()
	s := bulkNeeds{n: p.n, size: math.MaxInt64}
	for _, part := range parts {
		s.size = min(s.size, part.size)
		s.weight, s.delta, s.grain = max(s.weight, part.weight), max(s.delta, part.delta), s.grain|part.grain
	}
	if s.size != s.weight || len(p.col) != p.n*(p.n-1) {
		s.size = 0
	}
	s.grain = 1 << bits.TrailingZeros64(uint64(s.grain)|1<<62)
	return s
}

// bulkFormOf holds a variant against a problem.
func bulkFormOf(v *device.Variant, p *normal, _ spans) (bulkForm, error) {
	return p.bulkNeeds().form(v)
}

func (s bulkNeeds) form(v *device.Variant) (bulkForm, error) {
	family := &qubo.Bulk
	f := bulkForm{block: family.Int(v, "block"), items: family.Int(v, "items"), row: family.Value(v, "row")}
	if f.capacity() < s.n {
		return f, fmt.Errorf("%s has room for %d variables, the problem has %d", v.Label, f.capacity(), s.n)
	}
	most, gain := int64(math.MaxInt64), int64(math.MaxInt64)
	switch f.row {
	case "bits":
		f.shift, f.size, gain = 5, s.size, 1<<23
		if s.size == 0 && s.n > 0 {
			return f, fmt.Errorf("%s: a weight between any two variables, all of one size, is expected", v.Label)
		}
	case "int8", "int16":
		most = math.MaxInt8
		if f.row == "int16" {
			most = math.MaxInt16
		}
		for f.shift = 6; f.shift > 4 && s.weight>>(6-f.shift) > most; f.shift-- {
		}
		c := int64(1) << (6 - f.shift)
		if s.grain%c != 0 {
			return f, fmt.Errorf("%s: weights of up to %d that are no multiples of %d, expected at most %d", v.Label, s.weight, c, most)
		}
		most *= c
		if gain = 1<<(29-f.shift) - 1; f.items > 16 && f.shift < 5 {
			return f, fmt.Errorf("%s: weights of up to %d leave keys no room for more than 16 items", v.Label, s.weight)
		}
	case "int32":
		most, gain = math.MaxInt32, math.MaxInt32
	}
	if s.weight > most || s.delta > gain {
		return f, fmt.Errorf("%s: weights of up to %d and gains of up to %d, expected at most %d and %d", v.Label, s.weight, s.delta, most, gain)
	}
	return f, nil
}

// bulkVariant is the variant for a problem where none is asked for: rows as
// narrow as may be, then as little room to spare, then as few threads. Bits
// take more instructions than bytes, so that they are for matrices of bytes
// that no cache holds.
func bulkVariant(p *normal) (*device.Variant, error) {
	s := p.bulkNeeds()
	var best *device.Variant
	var of bulkForm
	var refused error
	for i := range qubo.Bulk.Variants {
		v := &qubo.Bulk.Variants[i]
		f, err := s.form(v)
		if err != nil {
			refused = err
			continue
		}
		if best == nil || cmp.Or(cmp.Compare(f.rank(s.n), of.rank(s.n)), cmp.Compare(f.capacity(), of.capacity()), cmp.Compare(f.block, of.block)) < 0 {
			best, of = v, f
		}
	}
	if best == nil {
		return nil, fmt.Errorf("qubo/bulk: %d variables: no variant holds them, the last refused: %w", s.n, refused)
	}
	return best, nil
}

// rank orders types of rows, the best first.
func (f bulkForm) rank(n int) int {
	const cache = 40 << 20
	if f.row == "bits" && n*n <= cache {
		return 9
	}
	return f.bits()
}

// rowsOf lays rows first to last-1 out for the device.
func (f bulkForm) rowsOf(p *normal, first, last int) []byte {
	switch f.row {
	case "bits":
		return bulkSigns(f, p, first, last)
	case "int8":
		return bulkRows[int8](f, p, first, last)
	case "int16":
		return bulkRows[int16](f, p, first, last)
	case "int32":
		return bulkRows[int32](f, p, first, last)
	}
	return bulkRows[int64](f, p, first, last)
}

func bulkRows[T int8 | int16 | int32 | int64](f bulkForm, p *normal, first, last int) []byte {
	side, down := f.capacity(), 0
	if f.shift > 0 {
		down = 6 - f.shift
	}
	rows := make([]T, (last-first)*side)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 1+len(rows)/(1<<20)) {
		wg.Go(func() {
			for i := first + int(next.Add(1)-1); i < last; i = first + int(next.Add(1)-1) {
				to := rows[(i-first)*side:][:side]
				col, weight := p.row(i)
				for k, j := range col {
					to[j] = T(weight[k] >> down)
				}
			}
		})
	}
	wg.Wait()
	return rawBytes(rows)
}

// bulkSigns has a bit for each negative weight.
func bulkSigns(f bulkForm, p *normal, first, last int) []byte {
	rows := make([]byte, (last-first)*f.rowBytes())
	for i := first; i < last; i++ {
		to := rows[(i-first)*f.rowBytes():]
		col, weight := p.row(i)
		for k, j := range col {
			to[j>>3] |= byte(uint64(weight[k])>>63) << (j & 7)
		}
	}
	return rows
}

// diagOf are the gains at x = 0.
func (f bulkForm) diagOf(p *normal) []byte {
	if f.gain() == 8 {
		return rawBytes(append(make([]int64, 0, f.capacity()), append(p.diag[:p.n:p.n], make([]int64, f.capacity()-p.n)...)...))
	}
	d := make([]int32, f.capacity())
	for i, v := range p.diag {
		d[i] = int32(v)
	}
	return rawBytes(d)
}

// pack writes a solution as the device holds it.
func (f bulkForm) pack(x []uint64, n int) []uint32 {
	r := make([]uint32, f.record())
	f.each(n, func(word, at, i int) { r[word] |= uint32(bit(x, i)) << at })
	return r
}

// unpack reads one.
func (f bulkForm) unpack(r []uint32, n int) []uint64 {
	x := make([]uint64, words(n))
	f.each(n, func(word, at, i int) { x[i>>6] |= uint64(r[word]>>at&1) << (i & 63) })
	return x
}

// each tells of every variable the word of a record and the bit that hold it.
func (f bulkForm) each(n int, tell func(word, at, i int)) {
	for t := range f.block {
		for j := range f.items {
			if i := f.variable(t, j); i < n {
				tell(j/32*f.block+t, j%32, i)
			}
		}
	}
}
