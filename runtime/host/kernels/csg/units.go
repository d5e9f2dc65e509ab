package csg

import "sync"

// A set of units is one for each value type, of the same instructions.
type set struct {
	has     bool // the processor has the instructions
	int32   func() *unit[int32]
	int64   func() *unit[int64]
	float32 func() *unit[float32]
	float64 func() *unit[float64]
}

// once makes, when it is first asked for, the unit of registers of 2^bits lanes, each of
// `words` of the words that expand permutes, whose conv works on 2^group of them at once.
func once[T Value, I uint8 | uint32 | uint64](bits, group, words int, conv func(d, a, b *T, from, to, proper int),
	dot func(d, a, b *T, t int), expand func(dst, src *T, index *I, chunks int)) func() *unit[T] {
	return sync.OnceValue(func() *unit[T] {
		u := newUnit(bits, lowestOf[T]())
		u.group, u.conv, u.dot = group, conv, dot
		var index [2][]I
		for side, lanes := range [2][]uint8{u.left, u.right} {
			for _, l := range lanes {
				for w := range words {
					index[side] = append(index[side], I(int(l)*words+w))
				}
			}
		}
		u.expand = func(dst, src *T, side, plane, chunks int) {
			expand(dst, src, &index[side][plane*words<<bits], chunks)
		}
		return u
	})
}

// vectorUnits are the units of a value type that this processor has, the fastest first.
func vectorUnits[T Value]() (list []*unit[T]) {
	for _, s := range sets {
		if !s.has {
			continue
		}
		var u any
		switch any(T(0)).(type) {
		case int32:
			u = s.int32()
		case int64:
			u = s.int64()
		case float32:
			u = s.float32()
		case float64:
			u = s.float64()
		}
		list = append(list, u.(*unit[T]))
	}
	return list
}
