package draw

import "math"

// Streams of draws.
const (
	coalitionStream = 0 // number: the coalition
	agentStream     = 1 // number: the agent's bit
)

// randomNumbers are the random numbers of one coalition, or of one agent: a function
// of (seed, number, stream) and of how many were drawn before.
//
// They are Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011; Random123, curand). Block k has
//
//	key     = (seed, seed>>32)
//	counter = (number, number>>32, k, stream)
//
// in 32-bit words, and its output (x0, x1, x2, x3) is two draws: the words
// x1:x0, then x3:x2, each 64 bits b made a float64 strictly between 0 and 1 as
// ((b>>12) + 1/2) 2^-52, without rounding. Everything else is computed from
// those draws, in the order that the code takes them, in float64 without
// fused operations.
type randomNumbers struct {
	seed, number  uint64
	stream, block uint32
	spare         float64
	have          bool
}

// uniform is the next draw, strictly between 0 and 1.
func (d *randomNumbers) uniform() float64 {
	if d.have {
		d.have = false
		return d.spare
	}
	x0, x1, x2, x3 := philox(uint32(d.number), uint32(d.number>>32), d.block, d.stream, uint32(d.seed), uint32(d.seed>>32))
	d.block++
	d.spare, d.have = unitInterval(x2, x3), true
	return unitInterval(x0, x1)
}

func unitInterval(lo, hi uint32) float64 {
	b := (uint64(hi)<<32 | uint64(lo)) >> 12
	return (float64(b) + 0.5) * 0x1p-52
}

// philox is Philox4x32-10 of the counter c and the key k. Words are variables of their
// own, since Go keeps arrays in memory.
func philox(c0, c1, c2, c3, k0, k1 uint32) (x0, x1, x2, x3 uint32) {
	for range 10 {
		p := uint64(c0) * 0xD2511F53
		q := uint64(c2) * 0xCD9E8D57
		c0, c1, c2, c3 = uint32(q>>32)^c1^k0, uint32(q), uint32(p>>32)^c3^k1, uint32(p)
		k0 += 0x9E3779B9
		k1 += 0xBB67AE85
	}
	return c0, c1, c2, c3
}

// exponential has mean 1: -ln u.
func (d *randomNumbers) exponential() float64 { return -math.Log(d.uniform()) }

// normal is Box and Muller's cosine, of two draws.
func (d *randomNumbers) normal(mean, deviation float64) float64 {
	r := math.Sqrt(2 * d.exponential())
	x := r * math.Cos(2*math.Pi*d.uniform())
	return mean + float64(deviation*x)
}

// chiSquare has k degrees of freedom: k/2 exponentials, doubled, and the
// square of a normal when k is odd.
func (d *randomNumbers) chiSquare(k int) float64 {
	x := 0.0
	for range k / 2 {
		x += d.exponential()
	}
	x *= 2
	if k%2 != 0 {
		z := d.normal(0, 1)
		x += float64(z * z)
	}
	return x
}

// rank is k with probability proportional to the k-th weight, given the sums
// of the weights of 1..k.
func (d *randomNumbers) rank(sums []float64) int {
	at := d.uniform() * sums[len(sums)-1]
	for k, sum := range sums {
		if at < sum {
			return k + 1
		}
	}
	return len(sums)
}
