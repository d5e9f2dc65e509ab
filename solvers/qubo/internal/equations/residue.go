package equations

import "math/bits"

// A residue is an integer modulo a prime.
type residue uint64

const prime = 1<<61 - 1

func residueOf(v int64) residue {
	if v %= prime; v < 0 {
		v += prime
	}
	return residue(v)
}

// signed is the integer nearest to 0.
func (a residue) signed() int64 {
	if a > prime/2 {
		return int64(a) - prime
	}
	return int64(a)
}

func (a residue) minus(b residue) residue {
	if a < b {
		a += prime
	}
	return a - b
}

func (a residue) times(b residue) residue {
	high, low := bits.Mul64(uint64(a), uint64(b))
	sum := low&prime + (high<<3 | low>>61)
	if sum >= prime {
		sum -= prime
	}
	return residue(sum)
}

// inverse is 1/a, by Fermat's little theorem.
func (a residue) inverse() residue {
	out := residue(1)
	for e := uint64(prime - 2); e > 0; e >>= 1 {
		if e&1 == 1 {
			out = out.times(a)
		}
		a = a.times(a)
	}
	return out
}

// minus is a less factor times b, entry by entry.
func minus(a, b []residue, factor residue) []residue {
	out := make([]residue, len(a))
	for k := range a {
		out[k] = a[k].minus(factor.times(b[k]))
	}
	return out
}
