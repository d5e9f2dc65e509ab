package problem

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"coalesce/solvers/solve"
)

// A Metric is how the cost of a pair comes from its two points.
type Metric string

// The metrics, of the coordinates' differences d: the root of the sum of d²,
// the sum of d², the sum of |d|.
const (
	Euclidean Metric = "euclidean"
	Squared   Metric = "squared"
	Manhattan Metric = "manhattan"
)

// Metrics are the names of all metrics.
func Metrics() []string { return []string{string(Euclidean), string(Squared), string(Manhattan)} }

// Points are a point for every row and every column; costs are their
// distances, computed when they are needed. The sum runs over the coordinates
// in order, in float64 without fused operations; Floor cuts the result to an
// integer, as the type of the instance says then (Int64).
type Points struct {
	Dim    int       // coordinates of a point
	Row    []float64 // Rows*Dim coordinates, point by point
	Col    []float64 // Cols*Dim
	Metric Metric
	Floor  bool
}

// NewPoints makes an instance of points, whose coordinates it keeps.
func NewPoints(p Points, source string) (*Instance, error) {
	inst := &Instance{Type: Float64, Points: &p, Source: source}
	if p.Floor {
		inst.Type = Int64
	}
	if p.Dim > 0 {
		inst.Rows, inst.Cols = len(p.Row)/p.Dim, len(p.Col)/p.Dim
	}
	return inst, inst.Check()
}

func (p *Points) check(inst *Instance) error {
	if !slices.Contains(Metrics(), string(p.Metric)) {
		return solve.InvalidInput("Points.Metric", "found the metric %.40q, expected one of %s", string(p.Metric), strings.Join(Metrics(), ", "))
	}
	if p.Dim < 1 {
		return solve.InvalidInput("Points.Dim", "found points of %d coordinates, expected 1 or more", p.Dim)
	}
	if len(p.Row) != inst.Rows*p.Dim || len(p.Col) != inst.Cols*p.Dim {
		return solve.InvalidInput("Points.Row, Points.Col", "found %d and %d coordinates, expected %d and %d", len(p.Row), len(p.Col), inst.Rows*p.Dim, inst.Cols*p.Dim)
	}
	if p.Floor != (inst.Type == Int64) || !p.Floor && inst.Type != Float64 {
		return solve.InvalidInput("Type", "found %s for distances, expected float64, or int64 with Floor", inst.Type)
	}
	for k, x := range p.Row {
		if x-x != 0 {
			return solve.InvalidInput(fmt.Sprintf("Points.Row[%d]", k), "%w: point of row %d: found the coordinate %v, expected a number", ErrCost, k/p.Dim, x)
		}
	}
	for k, x := range p.Col {
		if x-x != 0 {
			return solve.InvalidInput(fmt.Sprintf("Points.Col[%d]", k), "%w: point of column %d: found the coordinate %v, expected a number", ErrCost, k/p.Dim, x)
		}
	}
	return nil
}

// Cost is the distance of row i's point and column j's.
func (p *Points) Cost(i, j int) float64 {
	return p.FromSum(p.Sum(p.Row[i*p.Dim:(i+1)*p.Dim], p.Col[j*p.Dim:(j+1)*p.Dim]))
}

// Costs writes the distances of row i from the first len(to) columns, each as Cost has it. Points of the
// plane, which most are, take a loop without calls.
func (p *Points) Costs(i int, to []float64) {
	if p.Dim != 2 {
		for j := range to {
			to[j] = p.Cost(i, j)
		}
		return
	}
	x, y, col := p.Row[2*i], p.Row[2*i+1], p.Col[:2*len(to)]
	if p.Metric == Manhattan {
		for j := range to {
			to[j] = math.Abs(x-col[2*j]) + math.Abs(y-col[2*j+1])
		}
	} else {
		for j := range to {
			dx, dy := x-col[2*j], y-col[2*j+1]
			to[j] = float64(dx*dx) + float64(dy*dy)
		}
	}
	if p.Metric == Euclidean {
		for j, c := range to {
			to[j] = math.Sqrt(c)
		}
	}
	if p.Floor {
		for j, c := range to {
			to[j] = math.Floor(c)
		}
	}
}

// Sum is the metric's sum over the coordinates of two points.
func (p *Points) Sum(a, b []float64) float64 {
	sum := 0.0
	if p.Metric == Manhattan {
		for k, x := range a {
			sum += math.Abs(x - b[k])
		}
		return sum
	}
	for k, x := range a {
		d := x - b[k]
		sum += float64(d * d)
	}
	return sum
}

// FromSum makes a Sum a distance: a root, where the metric has one, then cut
// where Floor says so.
func (p *Points) FromSum(c float64) float64 {
	if p.Metric == Euclidean {
		c = math.Sqrt(c)
	}
	if p.Floor {
		c = math.Floor(c)
	}
	return c
}

// largest is at least the largest distance: that of the corners of the box
// around all points.
func (p *Points) largest() float64 {
	if len(p.Row) == 0 || len(p.Col) == 0 {
		return 0
	}
	low, high := make([]float64, p.Dim), make([]float64, p.Dim)
	copy(low, p.Row)
	copy(high, p.Row)
	for _, list := range [][]float64{p.Row, p.Col} {
		for k, x := range list {
			low[k%p.Dim] = min(low[k%p.Dim], x)
			high[k%p.Dim] = max(high[k%p.Dim], x)
		}
	}
	return p.FromSum(p.Sum(low, high))
}
