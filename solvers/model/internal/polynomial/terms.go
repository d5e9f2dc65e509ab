// Package polynomial searches polynomials of bits and of spins, of degree four at most and without constraints, on devices, by the family
// model/polynomial: a block a walk, which keeps the change of the value by each flip, so that a flip costs the terms of its variable. A
// walk is a tabu search in runs of a length of its own. A run begins with drawn bits, with a cross of two good solutions or with a good
// solution changed, in the manner of the memetic tabu search of Gallardo, Cotta and Fernández ("Finding low autocorrelation binary
// sequences with memetic algorithms", Applied Soft Computing 9, 2009).
package polynomial

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"coalesce/generated/model"
	"coalesce/runtime/device"
	"coalesce/solvers/model/problem"
)

// ErrUnfit is wrapped by errors that say why a form or a device does not fit the family.
var ErrUnfit = errors.New("model/polynomial does not take it")

// Most is the largest number of variables: terms have their numbers in 16 bits.
const Most = 1<<16 - 2

// degree is the largest degree.
const degree = 4

// A monomial is a coefficient times a product of bits, or of spins.
type monomial struct {
	variables   []int32 // ascending
	coefficient int64
	spins       bool
}

// Terms are a polynomial as kernels read it: of each variable, its terms with the other variables.
type Terms struct {
	n         int
	monomials []monomial
	from      []uint32 // of variable i: products of spins from 2i on, of bits from 2i+1 to 2i+2; sheaves from 2n+1+i to 2n+2+i
	words     []uint64 // other variables in 16 bits each, and the coefficient where it fits
	weights   []int64  // coefficients, where packed is false
	packed    bool     // coefficients have 16 bits and gains 32
	sheaves   []uint64 // two words each; none where bundled is false
	bundled   bool     // there are sheaves, and they hold enough terms to be of use
	form      *problem.Form
}

// New reads a form. The error wraps ErrUnfit.
func New(f *problem.Form) (*Terms, error) {
	if len(f.Rows) > 0 {
		return nil, fmt.Errorf("%w: found %d constraints, expected none", ErrUnfit, len(f.Rows))
	}
	var list []monomial
	for i, c := range f.Linear {
		if c != 0 {
			list = append(list, monomial{[]int32{int32(i)}, c, false})
		}
	}
	for _, p := range f.Pairs {
		list = append(list, monomial{[]int32{p.I, p.J}, p.Coefficient, false})
	}
	for k := range f.Products {
		p := &f.Products[k]
		if len(p.Bits) > degree {
			return nil, fmt.Errorf("%w: found a product of %d variables, expected at most %d", ErrUnfit, len(p.Bits), degree)
		}
		list = append(list, monomial{p.Bits, p.Coefficient, p.Spins})
	}
	t, err := newTerms(f.N, list)
	if err != nil {
		return nil, err
	}
	t.form = f
	return t, nil
}

// newTerms lays monomials out.
func newTerms(n int, list []monomial) (*Terms, error) {
	if n < 1 || n > Most {
		return nil, fmt.Errorf("%w: found %d variables, expected 1 to %d", ErrUnfit, n, Most)
	}
	t := &Terms{n: n, monomials: list, from: make([]uint32, 3*n+2), packed: true}
	most, count := make([]float64, n), make([]int, 2*n)
	total := 0
	for k := range list {
		m := &list[k]
		t.packed = t.packed && m.coefficient == int64(int16(m.coefficient))
		for _, i := range m.variables {
			most[i] += 4 * math.Abs(float64(m.coefficient)) // twice the largest change
			count[2*int(i)+m.kind()]++
			total++
		}
	}
	if total > math.MaxInt32 {
		return nil, fmt.Errorf("%w: found terms with %d variables in all, expected at most %d", ErrUnfit, total, math.MaxInt32)
	}
	for i, size := range most {
		t.packed = t.packed && size < math.MaxInt32
		for kind := range 2 {
			t.from[2*i+kind+1] = t.from[2*i+kind] + uint32(count[2*i+kind])
		}
	}
	t.words, t.weights = make([]uint64, max(1, total)), make([]int64, 1)
	if !t.packed {
		t.weights = make([]int64, max(1, total))
	}
	lists := make([][]int32, 2*n)
	for k := range list {
		for _, i := range list[k].variables {
			lists[2*int(i)+list[k].kind()] = append(lists[2*int(i)+list[k].kind()], int32(k))
		}
	}
	for k, own := range lists {
		for j, m := range t.spread(own, int32(k/2)) {
			t.put(t.from[k]+uint32(j), int32(k/2), &list[m])
		}
	}
	t.bind(lists)
	return t, nil
}

// A sheaf is up to six terms with two variables, whose coefficient and kind are the same: a byte with one of the two variables, which the lists
// of sheaves do not belong to, a byte with the number of terms, the highest bit of which stands for spins, the coefficient in two bytes, and of
// each term the other two variables in a byte each. Where they are fewer, the rest is variable n, which is always 1; missing terms of bits have
// n+1 twice, which is always 0.
type sheaf struct {
	other       uint8
	spins       bool
	coefficient int16
	rest        [6][2]uint8
	count       int
}

// Sheaves are made for problems of at most mostBound variables, if a sheaf has leastFill terms or more on average.
const (
	mostBound = 254
	leastFill = 3
)

// bind makes the sheaves of each variable from the lists of its products of spins and of bits. Those that come one after another are of
// different other variables where there are some, so that few lanes add to one gain.
func (t *Terms) bind(lists [][]int32) {
	t.sheaves = make([]uint64, 2)
	if !t.packed || t.n > mostBound {
		return
	}
	t.sheaves = nil
	terms := 0
	for i := range t.n {
		var of [][]sheaf // of each other variable
		for kind := range 2 {
			open := map[[2]int]int{} // of each other variable and coefficient, the place of a sheaf with room
			for _, m := range lists[2*i+kind] {
				p := &t.monomials[m]
				for _, j := range p.variables {
					if int(j) == i {
						continue
					}
					if of == nil {
						of = make([][]sheaf, t.n)
					}
					key := [2]int{int(j), int(p.coefficient)}
					at, there := open[key]
					if !there {
						at = len(of[j])
						open[key] = at
						of[j] = append(of[j], sheaf{other: uint8(j), spins: p.spins, coefficient: int16(p.coefficient)})
					}
					s := &of[j][at]
					rest, k := [2]uint8{uint8(t.n), uint8(t.n)}, 0
					for _, b := range p.variables {
						if int(b) != i && b != j {
							rest[k] = uint8(b)
							k++
						}
					}
					s.rest[s.count] = rest
					terms++
					if s.count++; s.count == len(s.rest) {
						delete(open, key)
					}
				}
			}
		}
		for round, more := 0, true; more; round++ {
			more = false
			for j := range of {
				if round < len(of[j]) {
					more = true
					t.sheaves = append(t.sheaves, of[j][round].words(t.n)...)
				}
			}
		}
		t.from[2*t.n+2+i] = uint32(len(t.sheaves) / 2)
	}
	t.bundled = 2*terms >= leastFill*len(t.sheaves)
	if len(t.sheaves) == 0 {
		t.sheaves = make([]uint64, 2)
	}
}

// words are a sheaf of a polynomial of n variables.
func (s *sheaf) words(n int) []uint64 {
	head, missing := uint64(s.other)|uint64(s.count)<<8|uint64(uint16(s.coefficient))<<16, uint8(n+1)
	if s.spins {
		head, missing = head|1<<15, uint8(n)
	}
	words := []uint64{head, 0}
	for k := range s.rest {
		rest := s.rest[k]
		if k >= s.count {
			rest = [2]uint8{missing, missing}
		}
		at := 32 + 16*k
		words[at/64] |= (uint64(rest[0]) | uint64(rest[1])<<8) << (at % 64)
	}
	return words
}

// put lays out monomial m at a place of the terms of variable i.
func (t *Terms) put(place uint32, i int32, m *monomial) {
	shift, word := 0, uint64(0)
	for _, other := range m.variables {
		if other != i {
			word |= uint64(other) << shift
			shift += 16
		}
	}
	for ; shift < 48; shift += 16 {
		word |= uint64(t.n) << shift // which is always 1
	}
	if t.packed {
		word |= uint64(uint16(m.coefficient)) << 48
	} else {
		t.weights[place] = m.coefficient
	}
	t.words[place] = word
}

// warp is the lanes whose additions to gains are one instruction, and the banks of shared memory.
const warp = 32

// spread orders the monomials of variable i so that among each 32 few others have gains in one bank, and few are the same: it takes the
// first that fit of a list that was shuffled.
func (t *Terms) spread(own []int32, i int32) []int32 {
	const window = 2 * warp
	rand.New(rand.NewPCG(uint64(i), uint64(t.n))).Shuffle(len(own), func(a, b int) { own[a], own[b] = own[b], own[a] })
	for first := 0; first < len(own); first += warp {
		var used [degree - 1][warp]int // additions to each bank by the first others, by the second, and by the third
		end := first
		for most := 0; end < min(first+warp, len(own)); most++ {
			for k := end; k < min(len(own), first+window) && end < first+warp; k++ {
				place, free := 0, true
				for _, other := range t.monomials[own[k]].variables {
					if other != i {
						free = free && used[place][other%warp] <= most
						place++
					}
				}
				if !free {
					continue
				}
				place = 0
				for _, other := range t.monomials[own[k]].variables {
					if other != i {
						used[place][other%warp]++
						place++
					}
				}
				own[k], own[end] = own[end], own[k]
				end++
			}
		}
	}
	return own
}

// kind is 0 of a product of spins, else 1.
func (m *monomial) kind() int {
	if m.spins {
		return 0
	}
	return 1
}

// rowWords is the number of words that hold the bits of a solution, and one more bit, n, which is always 1.
func (t *Terms) rowWords() int { return t.n/32 + 1 }

// row packs bits.
func (t *Terms) row(x []uint8) []uint32 {
	row := make([]uint32, t.rowWords())
	for i, v := range x {
		row[i/32] |= uint32(v) << (i % 32)
	}
	return row
}

// bits unpacks a row.
func (t *Terms) bits(row []uint32) []uint8 {
	x := make([]uint8, t.n)
	for i := range x {
		x[i] = uint8(row[i/32] >> (i % 32) & 1)
	}
	return x
}

// masked is rows without the bits of variable n and beyond, which are of no solution.
func (t *Terms) masked(rows []uint32) []uint32 {
	out := append([]uint32(nil), rows...)
	for k := t.n / 32; k < len(out); k += t.rowWords() {
		out[k] &^= ^uint32(0) << (t.n % 32)
	}
	return out
}

// sharedBytes is the dynamic shared memory of a block of a variant: gains, steps and bits, for sheaves in bytes too.
func sharedBytes(v *device.Variant, n int) int {
	gain, bytes := 8, 0
	if model.Polynomial.Value(v, "value") == "int16" {
		gain = 4
	}
	if model.Polynomial.Value(v, "change") == "pair" {
		bytes = n + 2
	}
	return n*(gain+4) + 4*(n/32+1) + bytes
}
