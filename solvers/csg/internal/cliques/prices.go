package cliques

import (
	"math"
	"math/rand/v2"
)

// Prices returns a price for each node such that the prices of every set of nodes add up to at
// least the weight of the edges inside the set; the sum of all prices then bounds the value of
// every partition. Prices have this property where diag(prices) - weights/2 is positive
// semidefinite: the entries of that matrix over a set add up to the difference. The least sum of
// such prices is the value of the semidefinite program max ½ Σ w(i,j) v(i)·v(j) over unit vectors,
// solved one vector after the other (the mixing method of Wang, Chang and Kolter, 2017): v(i)
// becomes the direction of Σ w(i,j) v(j), and half of the length of that sum is node i's price in
// the end. The prices are then raised until ProvesBound accepts them. The result is nil where stop came
// before that, or where the graph has too many nodes.
func (g *Graph) Prices(random *rand.Rand, stop func() bool) []float64 {
	if g.N == 0 || g.N > mostPriced {
		return nil
	}
	rank := int(math.Sqrt(2*float64(g.N))) + 1
	v := make([]float64, g.N*rank)
	for k := range v {
		v[k] = random.NormFloat64()
	}
	for i := range g.N {
		normalize(v[i*rank : (i+1)*rank])
	}
	prices, sum := make([]float64, g.N), make([]float64, rank)
	total := math.Inf(-1)
	for range mixings {
		before := total
		total = 0
		for i := range g.N {
			if stop() {
				return nil
			}
			clear(sum)
			col, weight := g.Row(i)
			for k, j := range col {
				w := float64(weight[k])
				for d, x := range v[int(j)*rank : (int(j)+1)*rank] {
					sum[d] += w * x
				}
			}
			length := normalize(sum)
			if prices[i] = length / 2; length > 0 {
				copy(v[i*rank:], sum)
			}
			total += length / 2
		}
		if total-before < 1e-4*total {
			break
		}
	}
	// Prices that are not optimal are too low by some share of their mean.
	raised := make([]float64, g.N)
	for share := 1e-6; share < 1 && !stop(); share *= 4 {
		for i, p := range prices {
			raised[i] = p + share*total/float64(g.N)
		}
		if g.proves(raised, stop) {
			return raised
		}
	}
	return nil
}

// mostPriced is the most nodes that Prices takes: a proof needs N³/3 multiplications. mixings is
// the most sweeps over all vectors.
const mostPriced, mixings = 2000, 200

// normalize scales a vector to length 1 and returns its former length; a vector of length 0 stays.
func normalize(v []float64) float64 {
	square := 0.0
	for _, x := range v {
		square += x * x
	}
	length := math.Sqrt(square)
	if length > 0 {
		for d := range v {
			v[d] /= length
		}
	}
	return length
}

// ProvesBound reports whether diag(prices) - weights/2 is proven positive semidefinite. Cholesky's method in
// float64 ends with a matrix A whose eigenvalues are then at least -γ/(1-γ) times its trace, γ =
// (n+1)u/(1-(n+1)u) and u = 2^-53 (Higham, Accuracy and Stability of Numerical Algorithms, 2nd
// edition, theorems 10.3 and 10.5). The factorization is therefore made of a matrix whose diagonal
// is smaller by four times that error. Weights have to be below 2^52, so that float64 holds their
// halves.
func (g *Graph) ProvesBound(prices []float64) bool {
	return g.proves(prices, func() bool { return false })
}

// proves is ProvesBound, or false where stop ends it early.
func (g *Graph) proves(prices []float64, stop func() bool) bool {
	return len(prices) == g.N && provesPositive(prices, func(i int, row []float64) bool {
		col, weight := g.Row(i)
		for k, j := range col {
			if w := weight[k]; w > mostEntry || w < -mostEntry {
				return false
			} else if int(j) < i {
				row[j] = float64(w)
			}
		}
		return true
	}, stop)
}

// never is the stop of what nothing ends early.
func never() bool { return false }

// provesPositive reports whether diag(prices) less half of a symmetric matrix with zeros on its diagonal is proven positive semidefinite. fill sets a row of the matrix, as far as the diagonal, whose entries
// are below 2^52, or returns false.
func provesPositive(prices []float64, fill func(i int, row []float64) bool, stop func() bool) bool {
	n := len(prices)
	trace := 0.0
	for _, p := range prices {
		if !(p >= 0 && p <= 0x1p60) {
			return false
		}
		trace += p
	}
	less := 4 * float64(n+2) * 0x1p-53 * trace
	rows := make([]float64, n*n) // of the lower triangle; row i of the factor replaces row i of the matrix
	for i := range n {
		row := rows[i*n : i*n+i+1]
		if stop() || !fill(i, row[:i]) {
			return false
		}
		for j := range i {
			row[j] = (-row[j]/2 - product(rows[j*n:j*n+j], row[:j])) / rows[j*n+j]
		}
		x := prices[i] - less - product(row[:i], row[:i])
		if row[i] = math.Sqrt(x); !(x > 0) {
			return false
		}
	}
	return true
}
