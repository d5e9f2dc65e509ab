package csg

import (
	"math"
	"sync"
	"unsafe"
)

// A unit is what a processor's vector registers do for one value type. A
// register holds one chunk: lanes = 2^b values, the b lowest bits of a tile's
// coalitions. The 3^b splittings (l1, l2) of the subsets of a chunk are laid
// out over planes registers: lane i of plane j stands for one splitting, its
// operands' lanes are left[j][i] and right[j][i]. So a tile is expanded by a
// permutation into a plane, planes are convolved register by register without
// an idle lane, and the accumulators are merged once a target tile, lane i of
// plane j going to left|right. Lanes left over repeat the splitting (0, 0).
type unit[T Value] struct {
	bits   int // b
	group  int // conv works on 2^group chunks at once
	planes int
	lowest T
	// target[j<<bits+i] is the lane that lane i of plane j is merged into.
	target []uint8
	// left and right hold planes permutations of a register's lanes.
	left, right []uint8

	conv   func(d, a, b *T, from, to, proper int)
	dot    func(d, a, b *T, t int)
	expand func(dst, src *T, side, plane, chunks int)

	scratch sync.Pool // of *[]T, aligned to a register
}

// newUnit lays the splittings of chunks of 2^bits values out over planes.
func newUnit[T Value](bits int, lowest T) *unit[T] {
	u := &unit[T]{bits: bits, lowest: lowest}
	lanes := 1 << bits
	for l := range lanes {
		for l1 := l; ; l1 = (l1 - 1) & l {
			u.left = append(u.left, uint8(l1))
			u.right = append(u.right, uint8(l^l1))
			if l1 == 0 {
				break
			}
		}
	}
	for len(u.left)%lanes != 0 {
		u.left = append(u.left, 0)
		u.right = append(u.right, 0)
	}
	u.planes = len(u.left) / lanes
	for i := range u.left {
		u.target = append(u.target, u.left[i]|u.right[i])
	}
	return u
}

// takeScratch returns n values of scratch memory at a multiple of 64 bytes.
func (u *unit[T]) takeScratch(n int) *[]T {
	if s, ok := u.scratch.Get().(*[]T); ok && len(*s) >= n {
		return s
	}
	size := int(unsafe.Sizeof(u.lowest))
	words := make([]T, n+64/size)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(words)))&63) / size
	words = words[skip : skip+n]
	return &words
}

// level raises a slice of tile h by all pairs of tiles h1, h\h1, both not
// empty.
func (u *unit[T]) level(f []T, k, h, from, to int) {
	size, chunks := 1<<k, 1<<(k-u.bits)
	rest := h & (h - 1)
	if rest == 0 || from == to {
		return
	}
	s := u.takeScratch((u.planes + 2) * size)
	defer u.scratch.Put(s)
	acc, a, b := (*s)[:u.planes*size], (*s)[u.planes*size:][:size], (*s)[(u.planes+1)*size:][:size]
	for i := range acc {
		acc[i] = u.lowest
	}
	for h2 := rest; h2 != 0; h2 = (h2 - 1) & rest {
		left, right := f[(h^h2)<<k:][:size], f[h2<<k:][:size]
		for j := range u.planes {
			u.expand(&a[0], &left[0], 0, j, chunks)
			u.expand(&b[0], &right[0], 1, j, chunks)
			u.conv(&acc[j*size], &a[0], &b[0], from, to, 0)
		}
	}
	d := f[h<<k:][:size]
	for c := from << u.group; c < to<<u.group; c++ {
		u.merge(d[c<<u.bits:], acc[c<<u.bits:], size)
	}
}

// merge raises a chunk d by its accumulators, one register every stride.
func (u *unit[T]) merge(d, acc []T, stride int) {
	lanes := 1 << u.bits
	d = d[:lanes]
	for j := range u.planes {
		part, target := acc[j*stride:][:lanes], u.target[j*lanes:][:lanes]
		for i, x := range part {
			if l := int(target[i]); x > d[l&(lanes-1)] {
				d[l&(lanes-1)] = x
			}
		}
	}
}

// couple raises tile h by the pair (h, 0), group by group: groups before it,
// then chunks of the group before the chunk, then splittings of the chunk.
func (u *unit[T]) couple(f []T, k, h int) {
	size, lanes := 1<<k, 1<<u.bits
	groups := 1 << (k - u.bits - u.group)
	width := lanes << u.group
	s := u.takeScratch(3 * u.planes * size)
	defer u.scratch.Put(s)
	n := u.planes * size
	acc, a, b := (*s)[:n], (*s)[n:2*n], (*s)[2*n:3*n]
	for i := range acc {
		acc[i] = u.lowest
	}
	zero, d := f[:size], f[h<<k:][:size]
	for j := range u.planes {
		u.expand(&b[j*size], &zero[0], 1, j, size/lanes)
	}
	for g := range groups {
		for j := range u.planes {
			u.conv(&acc[j*size], &a[j*size], &b[j*size], g, g+1, 1)
		}
		for c := range 1 << u.group {
			base := g*width + c*lanes
			for j := range u.planes {
				u.dot(&acc[j*size+base], &a[j*size+g*width], &b[j*size], c)
			}
			chunk := d[base:][:lanes]
			u.merge(chunk, acc[base:], size)
			for l := range chunk {
				for l1 := l; l1 != 0; {
					l1 = (l1 - 1) & l
					if x := chunk[l1] + zero[l^l1]; x > chunk[l] {
						chunk[l] = x
					}
				}
			}
			for j := range u.planes {
				out := a[j*size+base:][:lanes]
				for i, l := range u.left[j*lanes:][:lanes] {
					out[i] = chunk[l]
				}
			}
		}
	}
}

func lowestOf[T Value]() (lowest T) {
	switch p := any(&lowest).(type) {
	case *int32:
		*p = math.MinInt32
	case *int64:
		*p = math.MinInt64
	case *float32:
		*p = float32(math.Inf(-1))
	case *float64:
		*p = math.Inf(-1)
	}
	return lowest
}

// vectorUnit is the fastest unit of this processor for tiles of 2^k values; nil where
// there is none that they are large enough for.
func vectorUnit[T Value](k int) *unit[T] {
	for _, u := range vectorUnits[T]() {
		if k >= u.bits+u.group {
			return u
		}
	}
	return nil
}

// Level does a block of the entry level of tiles of 2^k values with the
// processor's vector registers. It returns false, having done nothing, where
// vectorUnit knows none.
func Level[T Value](f []T, k int, block int64, high, p, split int) bool {
	u := vectorUnit[T](k)
	if u == nil {
		return false
	}
	h, from, to := Target(block, high, p, split, 1<<(k-u.bits-u.group))
	u.level(f, k, h, from, to)
	return true
}

// Couple does a block of the entry couple, or returns false as Level does.
func Couple[T Value](f []T, k int, block int64, high, p int) bool {
	u := vectorUnit[T](k)
	if u == nil {
		return false
	}
	h, _, _ := Target(block, high, p, 0, 1)
	u.couple(f, k, h)
	return true
}
