package tempering

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/solvers/qubo/problem"
)

// replicas is the number of replicas of a block of qubo/temper: each is one bit of the words of 32
// bits that hold x.
const replicas = qubo.TemperLadderTo - qubo.TemperLadderFrom

// slotsOf is the number of slots of a chunk: one for each lane of a warp.
const slotsOf = 32

// A temperForm is how a variant of qubo/temper holds a problem.
type temperForm struct {
	block  int
	shared bool  // replicas in shared memory, not in global memory
	unit   int64 // the size of a slot's weight; 0: slots have weights of their own
	shift  int   // gains on the device are 2^shift times those of the problem
}

// A visit says where the slots of a variable are in a chunk. Where all slots weigh the same, a and
// b are masks of the chunk's slots: all of the variable's, and those of negative weight. Otherwise
// a is the first slot and b the number of slots, both multiples of 4.
type visit struct {
	place uint32 // of the variable, and qubo.TemperLast
	base  int32  // its gain where all words are 0, plus the weights of its negative slots
	a, b  uint32
}

// A temperLayout is a problem as the device reads it. Variables are ordered by the colours of a
// greedy colouring; two variables of one colour have no pair. The place of a variable is its rank
// in that order. Neighbours of variables stand in chunks of 32 slots: a chunk has the neighbours
// of several variables, and a variable of more than 32 slots has chunks of its own. A weight of k
// units takes k slots. A task is the work of one warp at a time: one chunk, or all chunks of one
// variable.
type temperLayout struct {
	order   []int32 // variable at a place
	slots   []uint32
	weights []int32 // of slots, where they differ
	chunks  []uint32
	tasks   []uint32
	colours []uint32 // first task of each colour
	visits  []visit
	rows    []uint32 // neighbours by place, for clusters
	columns []uint32
}

// requirements are the properties of a problem by which a variant is chosen.
type requirements struct {
	n           int
	unit        int64   // divides all weights, few times each; 0: no such unit
	delta, sum  int64   // bounds on gains: the largest, and the sum over all variables
	degree      float64 // pairs of a variable, in the mean
	most        int     // pairs of a variable, at most
	temperature float64 // size of a typical field: the mean over rows of half the root of the sum of squared weights
}

// slotsEach is the largest mean number of slots that a pair may take where weights have several
// units.
const slotsEach = 2

func needsOf(p *problem.Normal) requirements {
	s := requirements{n: p.N, degree: float64(len(p.Col)) / float64(max(1, p.N))}
	var unit, size int64
	for i := range p.N {
		_, weight := p.Row(i)
		low, high, squares := p.Diag[i], p.Diag[i], 0.0
		for _, w := range weight {
			unit, size = gcd(unit, max(w, -w)), size+max(w, -w)
			low, high = low+min(w, 0), high+max(w, 0)
			squares += float64(w) * float64(w)
		}
		d := max(high, -low, 1)
		s.most = max(s.most, len(weight))
		s.delta, s.sum = max(s.delta, d), s.sum+d
		s.temperature += math.Sqrt(squares) / 2 / float64(p.N)
	}
	if unit > 0 && size/unit <= slotsEach*int64(len(p.Col)) {
		s.unit = unit
	}
	s.temperature = cmp.Or(s.temperature, 1)
	return s
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// layoutFor is how a variant holds the problem, or the error that says why it cannot: gains, their sums
// over a warp's sweep and temperatures have to fit 31 bits. Bits that are left over scale gains
// up, which makes temperatures finer.
func (s requirements) layoutFor(v *device.Variant) (temperForm, error) {
	family := &qubo.Temper
	f := temperForm{block: family.Int(v, "block"), shared: family.Value(v, "state") == "shared"}
	room := 30 - bits.Len64(uint64(s.delta))
	if family.Value(v, "weight") == "unit" {
		if f.unit = s.unit; f.unit == 0 && s.n > 0 && s.degree > 0 {
			return f, fmt.Errorf("%s: weights that are small multiples of one are expected", v.Label)
		}
		f.unit = max(1, f.unit)
		room = min(room, 31-bits.Len64(uint64(s.sum)))
	}
	room = min(room, 24-bits.Len64(uint64(s.temperature)), 16, 60-bits.Len64(uint64(s.sum)))
	if room < 0 {
		return f, fmt.Errorf("%s: gains of up to %d, %d together: too large", v.Label, s.delta, s.sum)
	}
	f.shift = room
	return f, nil
}

// sharedBytes is the dynamic shared memory of a block, which depends on the problem.
func (f temperForm) sharedBytes(n int, clusters bool) int {
	switch {
	case !f.shared:
		return 0
	case clusters:
		return 8 * n
	}
	return 4 * n
}

// staticBytes is an upper bound on a block's other shared memory, in bytes.
func (f temperForm) staticBytes() int { return 8*replicas*f.block/32 + 256 }

// variantFor is the variant for a problem where the user names none and nothing is tuned: slots of
// one weight where weights allow, replicas in shared memory where they fit, and the smallest
// blocks that fill a multiprocessor.
func variantFor(facts device.Facts, s requirements) (*device.Variant, error) {
	var best *device.Variant
	var rank []int
	var refused error
	for i := range qubo.Temper.Variants {
		v := &qubo.Temper.Variants[i]
		f, err := s.layoutFor(v)
		if err == nil {
			err = f.checkFits(facts, s.n, s.clusters())
		}
		if err != nil {
			refused = err
			continue
		}
		away := bits.Len(uint(f.block)) - bits.Len(uint(s.threads()))
		r := []int{-int(min(1, f.unit)), max(away, -away)}
		if !f.shared {
			r[1] += 16
		}
		if best == nil || slices.Compare(r, rank) < 0 {
			best, rank = v, r
		}
	}
	if best == nil {
		return nil, fmt.Errorf("qubo/temper: %d variables: no variant holds them, the last refused: %w", s.n, refused)
	}
	return best, nil
}

// threads is the size of a block that suits a problem: each warp has a few visits in each colour. With cluster moves the
// replicas of 1,536 threads, or of 1,024 where there are more variables, fit the shared memory of a multiprocessor of Hopper's. Without,
// one ladder of many sweeps finds more than several of few.
func (s requirements) threads() int {
	switch {
	case s.n <= 200:
		return 64
	case s.n <= 1200:
		return 128
	case s.n <= 4000:
		return 256
	case s.clusters() && 2*s.n <= 18000:
		return 512
	}
	return 1024
}

// checkFits holds a block's shared memory against a device.
func (f temperForm) checkFits(facts device.Facts, n int, clusters bool) error {
	return facts.BlockFits(0, int64(f.sharedBytes(n, clusters)+f.staticBytes()))
}

// coloured gives every variable a colour that none of its neighbours has. Variables of many
// neighbours are coloured first.
func coloured(p *problem.Normal) (colour []int32, count int) {
	order := make([]int32, p.N)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(p.Start[b+1]-p.Start[b], p.Start[a+1]-p.Start[a]) })
	colour, last := slices.Repeat([]int32{-1}, p.N), make([]int32, p.N+1)
	for k, i := range order {
		col, _ := p.Row(int(i))
		for _, j := range col {
			if c := colour[j]; c >= 0 {
				last[c] = int32(k) + 1
			}
		}
		c := 0
		for last[c] == int32(k)+1 {
			c++
		}
		colour[i], count = int32(c), max(count, c+1)
	}
	return colour, count
}

// slotsFor is the number of slots of a variable.
func (f temperForm) slotsFor(p *problem.Normal, i int32) int {
	_, weight := p.Row(int(i))
	if f.unit == 0 {
		return (len(weight) + 3) &^ 3
	}
	k := 0
	for _, w := range weight {
		k += int(max(w, -w) / f.unit)
	}
	return k
}

// layout is the problem as the device reads it.
func (f temperForm) layout(p *problem.Normal) (*temperLayout, error) {
	l := &temperLayout{order: make([]int32, p.N)}
	colour, count := coloured(p)
	size := make([]int32, p.N)
	for i := range size {
		size[i], l.order[i] = int32(f.slotsFor(p, int32(i))), int32(i)
	}
	slices.SortStableFunc(l.order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(colour[a], colour[b]), cmp.Compare(size[b], size[a]))
	})
	place := make([]uint32, p.N)
	for k, i := range l.order {
		place[i] = uint32(k)
	}
	for first := 0; first < p.N; {
		end := first
		for end < p.N && colour[l.order[end]] == colour[l.order[first]] {
			end++
		}
		l.colours = append(l.colours, uint32(len(l.tasks)))
		f.pack(l, p, place, size, first, end)
		first = end
	}
	if len(l.colours) != count {
		return nil, errors.New("qubo/temper: a colour without variables")
	}
	l.colours = append(l.colours, uint32(len(l.tasks)))
	l.tasks, l.chunks = append(l.tasks, uint32(len(l.chunks))), append(l.chunks, uint32(len(l.visits)))
	if len(l.slots) > math.MaxUint32 {
		return nil, fmt.Errorf("qubo/temper: %d slots: %w", len(l.slots), device.ErrMemory)
	}
	l.visits = append(l.visits, visit{}) // read ahead, not visited
	l.rows, l.columns = make([]uint32, 1, p.N+1), make([]uint32, 0, len(p.Col))
	for _, i := range l.order {
		col, _ := p.Row(int(i))
		for _, j := range col {
			l.columns = append(l.columns, place[j])
		}
		l.rows = append(l.rows, uint32(len(l.columns)))
	}
	return l, nil
}

// pack puts the variables at places first to end-1, of one colour, into chunks:
// each into the fullest that has room. The number in one chunk is limited, so that every
// warp has a chunk where there are as many variables as warps.
func (f temperForm) pack(l *temperLayout, p *problem.Normal, place []uint32, size []int32, first, end int) {
	limit := max(1, (end-first+f.block/32-1)/(f.block/32))
	var open [slotsOf + 1][][]int32 // chunks by room
	var full [][]int32
	for k := first; k < end; k++ {
		v := int32(k)
		need := int(size[l.order[k]])
		if need > slotsOf {
			l.tasks = append(l.tasks, uint32(len(l.chunks)))
			f.place(l, p, place, []int32{v})
			continue
		}
		room := need
		for room <= slotsOf && len(open[room]) == 0 {
			room++
		}
		chunk := []int32(nil)
		if room <= slotsOf {
			last := len(open[room]) - 1
			chunk, open[room] = open[room][last], open[room][:last]
		} else {
			room = slotsOf
		}
		if chunk = append(chunk, v); len(chunk) >= limit {
			full = append(full, chunk)
		} else {
			open[room-need] = append(open[room-need], chunk)
		}
	}
	for _, list := range open {
		full = append(full, list...)
	}
	for _, chunk := range full {
		l.tasks = append(l.tasks, uint32(len(l.chunks)))
		f.place(l, p, place, chunk)
	}
}

// place writes the slots and visits of one chunk, or of all chunks of a variable of more than 32
// slots.
func (f temperForm) place(l *temperLayout, p *problem.Normal, at []uint32, list []int32) {
	quiet := uint32(list[0]) // place that unused slots read: no warp writes to it meanwhile
	for _, k := range list {
		if col, _ := p.Row(int(l.order[k])); len(col) > 0 {
			quiet = at[col[0]]
			break
		}
	}
	var used int
	open := func() {
		l.chunks = append(l.chunks, uint32(len(l.visits)))
		l.slots = append(l.slots, slices.Repeat([]uint32{quiet}, slotsOf)...)
		if f.unit == 0 {
			l.weights = append(l.weights, make([]int32, slotsOf)...)
		}
		used = 0
	}
	open()
	for _, k := range list {
		i := int(l.order[k])
		v := visit{place: uint32(k), base: int32(p.Diag[i] << f.shift), a: uint32(used)}
		if f.unit != 0 {
			v.a = 0
		}
		col, weight := p.Row(i)
		for e, j := range col {
			w := weight[e] << f.shift
			repeat := int64(1)
			if f.unit != 0 {
				repeat = max(weight[e], -weight[e]) / f.unit
			}
			for range repeat {
				if used == slotsOf {
					l.visits = append(l.visits, v)
					open()
					v.a, v.b = 0, 0
				}
				slot := len(l.slots) - slotsOf + used
				l.slots[slot] = at[j]
				switch {
				case f.unit == 0:
					l.weights[slot] = int32(w)
					v.b++
				case w < 0:
					v.base -= int32(f.unit << f.shift)
					v.a, v.b = v.a|1<<used, v.b|1<<used
				default:
					v.a |= 1 << used
				}
				used++
			}
		}
		if f.unit == 0 {
			v.b = (v.b + 3) &^ 3
			used = (used + 3) &^ 3
		}
		v.place |= qubo.TemperLast
		l.visits = append(l.visits, v)
	}
}

// unpack converts a solution from the device's order, by places, to the problem's.
func (l *temperLayout) unpack(record []uint32) []uint64 {
	x := make([]uint64, problem.Words(len(l.order)))
	for k, i := range l.order {
		x[i>>6] |= uint64(record[k/32]>>(k%32)&1) << (i & 63)
	}
	return x
}

// pack converts a solution to the device's order.
func (l *temperLayout) pack(x []uint64) []uint32 {
	record := make([]uint32, (len(l.order)+31)/32)
	for k, i := range l.order {
		record[k/32] |= uint32(problem.Bit(x, int(i))) << (k % 32)
	}
	return record
}
