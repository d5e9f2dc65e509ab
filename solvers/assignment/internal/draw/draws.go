package draw

import (
	"cmp"
	"math"
	"slices"

	"coalesce/solvers/assignment/problem"
)

// SplitMix64 hashes x.
func SplitMix64(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// unit makes a hash a float64 in [0, 1).
func unit(h uint64) float64 { return float64(h>>11) * 0x1p-53 }

// pair is the hash of a pair.
func (d *Drawing) pair(i, j int) uint64 {
	return SplitMix64(d.Seed ^ (uint64(i)*uint64(d.Cols) + uint64(j) + 1))
}

// streamHash is the hash of a number within a stream of its own, so that options
// leave the draws of the pairs as they are.
func (d *Drawing) streamHash(name, number uint64) uint64 {
	return SplitMix64(SplitMix64(d.Seed^name<<56) ^ number)
}

// Streams.
const (
	rowOrder = iota + 1
	colOrder
	rowShift
	colShift
	jitters
	hidden
	sparsity
	vectors
)

// valueRange is the range: the drawing's, or the default.
func (d *Drawing) valueRange() uint64 {
	switch {
	case d.Range > 0:
		return uint64(d.Range)
	case d.Type.Integer():
		return 1000
	}
	return 1
}

func uniformWhole(d *Drawing) func(i, j int) int64 {
	r := d.valueRange()
	return func(i, j int) int64 { return int64(d.pair(i, j) % r) }
}

func uniformReal(d *Drawing) func(i, j int) float64 {
	if d.Type == problem.Float32 {
		return func(i, j int) float64 { return float64(d.pair(i, j)>>40) * 0x1p-24 }
	}
	return func(i, j int) float64 { return unit(d.pair(i, j)) }
}

// coordinate k of the drawing's points, in [0, R).
func (d *Drawing) coordinate(k int) float64 {
	h := SplitMix64(d.Seed ^ uint64(k))
	if d.Range == 0 && !d.Type.Integer() {
		return unit(h)
	}
	return float64(h % d.valueRange())
}

// geomPoints: row i has coordinates 4i+1 and 4i+2, column j 4j+3 and 4j+4.
func geomPoints(d *Drawing) *problem.Points {
	p := &problem.Points{Dim: 2, Row: make([]float64, 2*d.Rows), Col: make([]float64, 2*d.Cols), Metric: problem.Euclidean, Floor: d.Type.Integer()}
	for k := range p.Row {
		p.Row[k] = d.coordinate(k/2*4 + 1 + k%2)
	}
	for k := range p.Col {
		p.Col[k] = d.coordinate(k/2*4 + 3 + k%2)
	}
	return p
}

func spatialPoints(d *Drawing) *problem.Points {
	p := geomPoints(d)
	p.Metric = problem.Squared
	for _, list := range [][]float64{p.Row, p.Col} {
		for k := range list {
			list[k] = 2*list[k] - float64(d.valueRange())
		}
	}
	return p
}

func disjointPoints(d *Drawing) *problem.Points {
	p := geomPoints(d)
	p.Metric = problem.Squared
	for i := range d.Rows / 2 {
		p.Row[2*i] += float64(d.valueRange())
	}
	for j := d.Cols / 2; j < d.Cols; j++ {
		p.Col[2*j] += float64(d.valueRange())
	}
	return p
}

func drawMachol(*Drawing) func(i, j int) int64 {
	return func(i, j int) int64 { return int64(i+1) * int64(j+1) }
}

func drawLowRank(d *Drawing) func(i, j int) float64 {
	rank := cmp.Or(d.Rank, 4)
	v := make([]float64, max(d.Rows, d.Cols)*rank)
	for k := range v {
		v[k] = unit(d.streamHash(vectors, uint64(k)))
	}
	factor := float64(d.valueRange()) / float64(rank)
	return func(i, j int) float64 {
		sum := 0.0
		for k := range rank {
			sum += float64(v[i*rank+k] * v[j*rank+k])
		}
		return sum * factor
	}
}

func drawTwoCost(d *Drawing) func(i, j int) int64 {
	return func(i, j int) int64 {
		if d.pair(i, j)>>63 == 0 {
			return 100
		}
		return 1e8
	}
}

func drawConstant(d *Drawing) func(i, j int) int64 {
	r := int64(d.valueRange())
	return func(int, int) int64 { return r }
}

func plantedWhole(d *Drawing) func(i, j int) int64 {
	r := d.valueRange()
	return func(i, j int) int64 {
		c := int64(d.streamHash(vectors, uint64(2*i))%r) + int64(d.streamHash(vectors, uint64(2*j+1))%r)
		if i != j {
			c++
		}
		return c
	}
}

func plantedReal(d *Drawing) func(i, j int) float64 {
	r := float64(d.valueRange())
	return func(i, j int) float64 {
		c := r*unit(d.streamHash(vectors, uint64(2*i))) + r*unit(d.streamHash(vectors, uint64(2*j+1)))
		if i != j {
			c += r / 10
		}
		return c
	}
}

func drawLogarithmic(d *Drawing) func(i, j int) float64 {
	return func(i, j int) float64 { return math.Pow(10, 40*unit(d.pair(i, j))-20) }
}

func drawSigned(d *Drawing) func(i, j int) float64 {
	return func(i, j int) float64 { return 40*unit(d.pair(i, j)) - 20 }
}

func drawInteger(d *Drawing) func(i, j int) int64 {
	r := max(1000, int64(d.valueRange()))
	if d.Range > 0 {
		r = d.Range
	}
	return func(i, j int) int64 { return int64(d.pair(i, j)%uint64(2*r)) - r }
}

func zeroOne(d *Drawing) func(i, j int) int64 {
	return func(i, j int) int64 { return int64(d.pair(i, j) >> 63) }
}

// permutation is a random order of n numbers, the identity unless the drawing is
// permuted.
func (d *Drawing) permutation(name uint64, n int, random bool) []int {
	list := make([]int, n)
	for k := range list {
		list[k] = k
	}
	for k := n - 1; random && k > 0; k-- {
		other := int(d.streamHash(name, uint64(k)) % uint64(k+1))
		list[k], list[other] = list[other], list[k]
	}
	return list
}

func (d *Drawing) permutations() (rows, cols []int) {
	return d.permutation(rowOrder, d.Rows, d.Permuted), d.permutation(colOrder, d.Cols, d.Permuted)
}

// permute puts points into the drawing's order.
func (d *Drawing) permute(p *problem.Points) *problem.Points {
	if !d.Permuted {
		return p
	}
	rows, cols := d.permutations()
	reorder := func(list []float64, order []int) []float64 {
		out := make([]float64, 0, len(list))
		for _, k := range order {
			out = append(out, list[k*p.Dim:(k+1)*p.Dim]...)
		}
		return out
	}
	p.Row, p.Col = reorder(p.Row, rows), reorder(p.Col, cols)
	return p
}

// noise is the sum of Shift and Jitter for a cost.
func (d *Drawing) noise() func(i, j int) int64 {
	shifts := func(name uint64, n int) []int64 {
		list := make([]int64, n)
		for k := range list {
			if d.Shift > 0 {
				list[k] = int64(d.streamHash(name, uint64(k)) % uint64(d.Shift))
			}
		}
		return list
	}
	r, c := shifts(rowShift, d.Rows), shifts(colShift, d.Cols)
	if !d.Jitter {
		return func(i, j int) int64 { return r[i] + c[j] }
	}
	seed := d.streamHash(jitters, 0)
	return func(i, j int) int64 {
		h := SplitMix64(seed ^ (uint64(i)*uint64(d.Cols) + uint64(j)))
		return r[i] + c[j] + int64(h%3) - 1
	}
}

// sparsePairs are the allowed pairs of a sparse drawing: Density times Cols columns
// a row, drawn with repetition, and a hidden matching of the smaller side.
func (d *Drawing) sparsePairs() *problem.Sparse {
	s := &problem.Sparse{Start: make([]int64, 1, d.Rows+1)}
	matching := d.permutation(hidden, max(d.Rows, d.Cols), true)
	degree := int(math.Round(d.Density * float64(d.Cols)))
	for i := range d.Rows {
		var row []int32
		if j := matching[i]; j < d.Cols {
			row = append(row, int32(j))
		}
		for k := range degree {
			if d.Cols > 0 {
				row = append(row, int32(d.streamHash(sparsity, uint64(i)*uint64(degree)+uint64(k))%uint64(d.Cols)))
			}
		}
		slices.Sort(row)
		s.Col = append(s.Col, slices.Compact(row)...)
		s.Start = append(s.Start, int64(len(s.Col)))
	}
	return s
}
