package problem

import (
	"math/rand/v2"
	"testing"
)

// The distances of a row are those of its pairs, to the last bit.
func TestCostsOfARow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, metric := range []Metric{Euclidean, Squared, Manhattan} {
		for _, floor := range []bool{false, true} {
			for dim := 1; dim <= 3; dim++ {
				p := Points{Dim: dim, Metric: metric, Floor: floor}
				for range 40 * dim {
					p.Row, p.Col = append(p.Row, 1000*r.NormFloat64()), append(p.Col, 1e5*r.NormFloat64())
				}
				to := make([]float64, 39)
				for i := range 40 {
					p.Costs(i, to)
					for j, c := range to {
						if c != p.Cost(i, j) {
							t.Fatalf("%s, floor %t, %d coordinates: row %d, column %d: found %v, want %v", metric, floor, dim, i, j, c, p.Cost(i, j))
						}
					}
				}
			}
		}
	}
}
