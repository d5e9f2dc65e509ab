package tabu

import (
	"fmt"
	"math"
	"unsafe"

	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/solvers/cores"
	"coalesce/solvers/qubo/problem"
)

// A layout is how a variant of qubo/bulk holds a problem. The low shift bits of a key are the item
// of a thread, and narrow rows hold weights divided by 2^(6-shift); shift is 0 for rows of the
// same type as the gains.
type layout struct {
	block, items int
	cluster      int    // blocks of a search
	meet         string // how the blocks exchange their best moves: barrier or messages
	row          string
	shift        int
	size         int64 // of every weight, where row is bits
}

// threads is the number of threads of a search.
func (f layout) threads() int { return f.block * f.cluster }

// capacity is the largest number of variables.
func (f layout) capacity() int { return f.threads() * f.items }

// record is the length of a solution on the device, in words of 32 bits.
func (f layout) record() int { return (f.items + 31) / 32 * f.threads() }

// bits is the size of a coefficient in bits.
func (f layout) bits() int {
	switch f.row {
	case "bits":
		return 1
	case "int8", "pairs":
		return 8
	case "int16":
		return 16
	case "int32", "float32":
		return 32
	}
	return 64
}

// rowBytes is the size of a row in bytes.
func (f layout) rowBytes() int { return f.capacity() * f.bits() / 8 }

// shiftArgument is the kernels' argument shift: the shift, and the size of all weights where rows are bits.
func (f layout) shiftArgument() uint64 { return uint64(f.shift) + qubo.BulkSizes*uint64(f.size) }

// gain is the size of a gain in bytes.
func (f layout) gain() int { return max(4, f.bits()/8) }

// near is the number of neighbouring coefficients that a thread reads at once.
func (f layout) near() int {
	if f.row == "bits" {
		return 32
	}
	piece := 16
	for f.items*f.bits()/8%piece != 0 {
		piece /= 2
	}
	return piece * 8 / f.bits()
}

// variable is the variable that a thread holds as one of its items.
func (f layout) variable(thread, item int) int {
	return f.variableBy(f.near(), thread, item)
}

func (f layout) variableBy(near, thread, item int) int {
	return item/near*near*f.threads() + thread*near + item%near
}

// requirements are the properties of a problem by which a variant is chosen.
type requirements struct {
	weight, delta int64 // as in spans
	grain         int64 // the largest power of two that divides every weight
	n             int
	size          int64  // of every weight, where any two variables have one and all are of one size; else 0
	row           string // type of rows that is asked for; empty: any
}

func needsOf(p *problem.Normal) requirements {
	s := p.Spans()
	needs := requirements{weight: s.Weight, delta: s.Delta, grain: s.Grain, n: p.N}
	if s.Least == s.Weight && len(p.Col) == p.N*(p.N-1) {
		needs.size = s.Weight
	}
	return needs
}

// Bounds on the gains of a type of rows, within which a search is exact: gains of pairs have 16
// bits, two of which are no gain; gains of float32 are added to 2^23, and have 24 bits.
const (
	pairs    = 1<<14 - 1
	float32s = 1<<23 - 1
	words32  = 1<<30 - 1
	words64  = 1<<62 - 1
)

// layoutFor is how a variant holds the problem, or the error that says why it cannot.
func (s requirements) layoutFor(v *device.Variant) (layout, error) {
	family := &qubo.Bulk
	f := layout{block: family.Int(v, "block"), items: family.Int(v, "items"), cluster: family.Int(v, "cluster"),
		meet: family.Value(v, "meet"), row: family.Value(v, "row")}
	if s.row != "" && f.row != s.row {
		return f, fmt.Errorf("%s has rows of %s, expected %s", v.Label, f.row, s.row)
	}
	if f.capacity() < s.n {
		return f, fmt.Errorf("%s has room for %d variables, the problem has %d", v.Label, f.capacity(), s.n)
	}
	limit, gain := int64(words64), int64(words64)
	switch f.row {
	case "bits":
		f.shift, f.size, gain = 5, s.size, 1<<23
		if s.size == 0 && s.n > 0 {
			return f, fmt.Errorf("%s: a weight between any two variables, all of one size, is expected", v.Label)
		}
	case "int8", "int16", "pairs":
		limit = math.MaxInt8
		if f.row == "int16" {
			limit = math.MaxInt16
		}
		for f.shift = 6; f.shift > 4 && s.weight>>(6-f.shift) > limit; f.shift-- {
		}
		c := int64(1) << (6 - f.shift)
		if s.grain%c != 0 {
			return f, fmt.Errorf("%s: weights of up to %d that are no multiples of %d, expected at most %d", v.Label, s.weight, c, limit)
		}
		limit *= c
		if gain = 1<<(29-f.shift) - 1; f.row == "pairs" {
			gain = pairs
		} else if f.items > 16 && f.shift < 5 {
			return f, fmt.Errorf("%s: weights of up to %d leave keys no room for more than 16 items", v.Label, s.weight)
		}
	case "int32":
		limit, gain = words32, words32
	case "float32":
		limit, gain = float32s, float32s
	}
	if s.weight > limit || s.delta > gain {
		return f, fmt.Errorf("%s: weights of up to %d and gains of up to %d, expected at most %d and %d", v.Label, s.weight, s.delta, limit, gain)
	}
	return f, nil
}

// rowsOf lays rows first to last-1 out for the device. They fill room.
func (f layout) rowsOf(p *problem.Normal, first, last int, room []byte) {
	cores.Split(last-first, problem.RowsPerCore(p.N), func(from, to int) {
		for i := from; i < to; i++ {
			col, weight := p.Row(first + i)
			f.layOut(room[i*f.rowBytes():], col, weight)
		}
	})
}

// layOut writes one row, of columns and weights, to the beginning of room.
func (f layout) layOut(room []byte, col []int32, weight []int64) {
	clear(room[:f.rowBytes()])
	row := unsafe.Pointer(&room[0])
	switch f.row {
	case "bits":
		writeSigns(room, col, weight)
	case "int8":
		writeRow(unsafe.Slice((*int8)(row), f.capacity()), col, weight, f.shift)
	case "pairs":
		bytes := unsafe.Slice((*int8)(row), f.capacity())
		writeRow(bytes, col, weight, f.shift)
		borrow(bytes)
	case "int16":
		writeRow(unsafe.Slice((*int16)(row), f.capacity()), col, weight, f.shift)
	case "int32":
		writeRow(unsafe.Slice((*int32)(row), f.capacity()), col, weight, f.shift)
	case "float32":
		writeRow(unsafe.Slice((*float32)(row), f.capacity()), col, weight, f.shift)
	default:
		writeRow(unsafe.Slice((*int64)(row), f.capacity()), col, weight, f.shift)
	}
}

// writeRow sets the weights of a row whose entries are all 0.
func writeRow[T int8 | int16 | int32 | int64 | float32](row []T, col []int32, weight []int64, shift int) {
	down := 0
	if shift > 0 {
		down = 6 - shift
	}
	for k, j := range col {
		row[j] = T(weight[k] >> down)
	}
}

// borrow prepares a row of pairs: the kernel extends the signs of two neighbours a and b to the
// halves of a word, which is then to be the number 65536 b + a. A negative a borrows 1 from b.
func borrow(row []int8) {
	for k := 0; k < len(row); k += 2 {
		if row[k] < 0 {
			row[k+1]--
		}
	}
}

// writeSigns sets a bit for each negative weight of a row.
func writeSigns(row []byte, col []int32, weight []int64) {
	for k, j := range col {
		row[j>>3] |= byte(uint64(weight[k])>>63) << (j & 7)
	}
}

// diagOf are the gains at x = 0, in the type of gains.
func (f layout) diagOf(p *problem.Normal) []byte {
	if f.gain() == 8 {
		return device.Bytes(append(make([]int64, 0, f.capacity()), append(p.Diag[:p.N:p.N], make([]int64, f.capacity()-p.N)...)...))
	}
	if f.row == "float32" {
		return device.Bytes(diagonal[float32](f, p))
	}
	return device.Bytes(diagonal[int32](f, p))
}

func diagonal[T int32 | float32](f layout, p *problem.Normal) []T {
	d := make([]T, f.capacity())
	for i, v := range p.Diag {
		d[i] = T(v)
	}
	return d
}

// gainAt is the gain of one item of a thread, among the gains of a search as the device holds
// them.
func (f layout) gainAt(gains []byte, thread, item int) int64 {
	v := integerAt(gains, item*f.threads()+thread, f.gain())
	if f.row == "float32" {
		return int64(math.Float32frombits(uint32(v)))
	}
	return v
}

// pack converts a solution to a record of the device.
func (f layout) pack(x []uint64, n int) []uint32 {
	r := make([]uint32, f.record())
	f.each(n, func(word, at, i int) { r[word] |= uint32(problem.Bit(x, i)) << at })
	return r
}

// unpack converts a record of the device to a solution.
func (f layout) unpack(r []uint32, n int) []uint64 {
	x := make([]uint64, problem.Words(n))
	f.each(n, func(word, at, i int) { x[i>>6] |= uint64(r[word]>>at&1) << (i & 63) })
	return x
}

// each calls tell for every variable i with the word and the bit of a record that hold it.
func (f layout) each(n int, tell func(word, at, i int)) {
	near, threads := f.near(), f.threads()
	for t := range threads {
		for j := range f.items {
			if i := f.variableBy(near, t, j); i < n {
				tell(j/32*threads+t, j%32, i)
			}
		}
	}
}
