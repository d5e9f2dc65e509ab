package draw

import (
	"fmt"
	"math"

	"coalesce/solvers/qubo/problem"
)

// Palubeckis draws an instance with G. Palubeckis' generator of 2002-03-21:
// maximise xᵀQx with q(i,i) from -100 to 100 and, for the given percentage of
// the pairs, q(i,j) = q(j,i) from -100 to 100. seed is the generator's first
// state, 1 to 2^31-2; p3000.1 is 3000 variables of density 50 % from 31000.
//
// A state s becomes 16807 s mod 2^31-1, and a draw is s/2^31. Whether a pair is
// drawn is decided in single precision: deciding in double gives different
// instances, some of which are in circulation.
func Palubeckis(n, density int, seed int64) (*problem.Instance, error) {
	switch {
	case n < 0 || n > 1<<16:
		return nil, fmt.Errorf("variables: found %d, expected 0 to %d", n, 1<<16)
	case density < 0 || density > 100:
		return nil, fmt.Errorf("density: found %d, expected 0 to 100 percent", density)
	case seed < 1 || seed > math.MaxInt32-1:
		return nil, fmt.Errorf("seed: found %d, expected 1 to %d", seed, math.MaxInt32-1)
	}
	q := upperTriangle(n, density, seed)
	start := func(i int) int { return i*n - i*(i-1)/2 - i } // of row i, less i
	inst := problem.FromPairs(n, func(i, j int) int64 {
		if v := int64(q[start(i)+j]); i != j {
			return 2 * v
		} else {
			return v
		}
	})
	inst.Source = fmt.Sprintf("palubeckis n=%d density=%d seed=%d", n, density, seed)
	return inst, nil
}

// upperTriangle draws the upper triangle of Q, row by row, diagonal included.
func upperTriangle(n, density int, seed int64) []int8 {
	state := seed
	draw := func() float64 {
		state = state * 16807 % math.MaxInt32
		return float64(state) / (1 << 31)
	}
	coefficient := func() int8 { return int8(int(draw()*201) - 100) }
	q := make([]int8, 0, n*(n+1)/2)
	for i := range n {
		q = append(q, coefficient())
		for range n - i - 1 {
			v := int8(0)
			if float32(draw()*100) <= float32(density) {
				v = coefficient()
			}
			q = append(q, v)
		}
	}
	return q
}
