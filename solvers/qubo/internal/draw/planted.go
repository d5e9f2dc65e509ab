package draw

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"coalesce/solvers/qubo/problem"
)

// PlantedTiles draws a square lattice of about n spins with periodic ends, to be maximised, and its largest
// value, which is planted (F. Hamze et al., Phys. Rev. E 97, 2018). Every second square has three
// pairs of weight 1 or 2 and one of -1, so that any spins leave at least the weight 1 of it unmet:
// the planted spins do no worse in any square, and each pair belongs to one square.
func PlantedTiles(n int, seed uint64) (*problem.Instance, int64, error) {
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	side := max(4, 2*int(math.Round(math.Sqrt(float64(n))/2)))
	spin := spins(r, side*side)
	b := problem.NewBuilder(side * side)
	b.Form(problem.Ising)
	b.Maximize()
	best := int64(0)
	for row := range side {
		for col := row % 2; col < side; col += 2 {
			at := func(down, right int) int { return (row+down)%side*side + (col+right)%side }
			corners := [4]int{at(0, 0), at(0, 1), at(1, 1), at(1, 0)}
			odd := r.IntN(4)
			for k, i := range corners {
				j, weight := corners[(k+1)%4], 1+r.Int64N(2)
				if k == odd {
					weight = -1
				}
				b.PairInt(i, j, weight*spin[i]*spin[j])
				best += weight
			}
		}
	}
	inst, err := b.Build()
	if err == nil {
		inst.Source = fmt.Sprintf("tiles n=%d seed=%d", side*side, seed)
	}
	return inst, best, err
}

// equations is how many equations a spin PlantedOrthogonal draws. Above one a spin the planted spins
// stand out of the noise.
const equations = 2

// PlantedOrthogonal draws an Ising problem of n spins, or n+1 where n is odd, with all pairs, to be
// maximised, and its largest value, which is planted (F. Hamze et al., Phys. Rev. E 101, 2020):
// half of minus the sum of the squares of equations times n products with vectors of ones and
// minus ones, all of which are orthogonal to the planted spins, less a constant.
func PlantedOrthogonal(n int, seed uint64) (*problem.Instance, int64, error) {
	n += n % 2
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	spin, many := spins(r, n), equations*n
	words := problem.Words(many)
	vectors := make([]uint64, n*words) // by spins: bit k of the words is set where vector k has a one
	for k := range many {
		for at, i := range r.Perm(n) {
			if (at < n/2) == (spin[i] > 0) { // half of the products with the planted spins are 1
				vectors[i*words+k>>6] |= 1 << (k & 63)
			}
		}
	}
	inst := problem.FromPairs(n, func(i, j int) int64 {
		if i == j {
			return 0
		}
		differ := 0
		for k, w := range vectors[i*words : (i+1)*words] {
			differ += bits.OnesCount64(w ^ vectors[j*words+k])
		}
		return int64(2*differ - many)
	})
	inst.Form, inst.Sense = problem.Ising, problem.Maximize
	inst.Source = fmt.Sprintf("orthogonal n=%d seed=%d", n, seed)
	return inst, int64(n) * int64(many) / 2, inst.Check()
}

// spins draws n of them.
func spins(r *rand.Rand, n int) []int64 {
	s := make([]int64, n)
	for i := range s {
		s[i] = 2*r.Int64N(2) - 1
	}
	return s
}
