package assignment

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
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
	Dim    int
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
		return fmt.Errorf("metric %q: expected one of %s", p.Metric, strings.Join(Metrics(), ", "))
	}
	if p.Dim < 1 {
		return fmt.Errorf("points of %d coordinates: expected 1 or more", p.Dim)
	}
	if len(p.Row) != inst.Rows*p.Dim || len(p.Col) != inst.Cols*p.Dim {
		return fmt.Errorf("%d and %d coordinates: expected %d and %d", len(p.Row), len(p.Col), inst.Rows*p.Dim, inst.Cols*p.Dim)
	}
	if p.Floor != (inst.Type == Int64) || !p.Floor && inst.Type != Float64 {
		return fmt.Errorf("costs of points as %s: expected float64, int64 when they are cut to integers", inst.Type)
	}
	for k, x := range p.Row {
		if x-x != 0 {
			return fmt.Errorf("%w: point of row %d: found the coordinate %v, expected a number", ErrCost, k/p.Dim, x)
		}
	}
	for k, x := range p.Col {
		if x-x != 0 {
			return fmt.Errorf("%w: point of column %d: found the coordinate %v, expected a number", ErrCost, k/p.Dim, x)
		}
	}
	return nil
}

// Cost is the distance of row i's point and column j's.
func (p *Points) Cost(i, j int) float64 {
	return p.finish(p.sum(p.Row[i*p.Dim:(i+1)*p.Dim], p.Col[j*p.Dim:(j+1)*p.Dim]))
}

func (p *Points) sum(a, b []float64) float64 {
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

func (p *Points) finish(c float64) float64 {
	if p.Metric == Euclidean {
		c = math.Sqrt(c)
	}
	if p.Floor {
		c = math.Floor(c)
	}
	return c
}

// most is no less than the largest distance: that of the corners of the box
// around all points.
func (p *Points) most() float64 {
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
	return p.finish(p.sum(low, high))
}

// ReadPoints reads the points of rows and of columns from two files of any
// dense format that Read knows, a point a row.
func ReadPoints(rows, cols string, metric Metric, floor bool, o ReadOptions) (*Instance, error) {
	o.Maximize = false
	p := Points{Metric: metric, Floor: floor}
	var dims [2]int
	for k, path := range []string{rows, cols} {
		inst, err := Read(path, o)
		if err != nil {
			return nil, err
		}
		list, err := coordinates(inst)
		if err := errors.Join(err, inst.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		dims[k] = inst.Cols
		if k == 0 {
			p.Row = list
		} else {
			p.Col = list
		}
	}
	if dims[0] != dims[1] {
		return nil, fmt.Errorf("found points of %d coordinates in %s and of %d in %s, expected as many", dims[0], rows, dims[1], cols)
	}
	p.Dim = dims[0]
	return NewPoints(p, rows+", "+cols)
}

// coordinates are the entries of a matrix as float64, in memory of their own.
func coordinates(inst *Instance) ([]float64, error) {
	if !inst.Dense() {
		return nil, errors.New("found a sparse matrix, expected a point a row")
	}
	if inst.Type.Integer() && countForbidden(inst) > 0 {
		return nil, errors.New("found coordinates that are infinite, or the largest of their type, expected smaller ones")
	}
	list := make([]float64, inst.Len())
	for k := range list {
		switch inst.Type {
		case Int32:
			list[k] = float64(inst.I32[k])
		case Int64:
			list[k] = float64(inst.I64[k])
		case Float32:
			list[k] = float64(inst.F32[k])
		default:
			list[k] = inst.F64[k]
		}
	}
	return list, nil
}
