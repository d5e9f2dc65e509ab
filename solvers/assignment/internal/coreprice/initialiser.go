package coreprice

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"coalesce/autotune/tuned"
	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/problem"
)

// An Initialiser finds first prices v where those of the columns' minima mislead:
// structured costs, such as distances or products. It alternates soft minima of
// rows and columns over the whole matrix while a temperature falls (Sinkhorn;
// Kosowsky and Yuille, Neural Networks 7, 1994, with over-relaxation). The
// temperature stops where few columns of a row still count: from there the core,
// chosen by these prices, goes on at a price of K entries a row.
//
// Any prices are good for an exact solver: u[i] = min c(i,j) - v[j] makes them
// feasible.
type Initialiser struct {
	kernels                      *assignment.DualsKernels
	Rows, Cols                   int // of the matrix
	grid                         device.Grid
	Schedule                     annealingSchedule // how the temperature falls
	scope                        device.Scope
	u, v, sums, partial, control device.Buffer
}

// An annealingSchedule is the schedule by which an initialiser's temperature falls.
type annealingSchedule struct {
	sample     int     // rows by which the initialiser decides whether costs are structured
	Chance     float64 // largest structure of costs that count as random
	tolerance  float64 // mean error of a column's share that ends a temperature
	relax      float64 // step of a column, all but the first of a temperature
	least      uint64  // iterations of a temperature, at least
	limit      uint64  // and at most
	total      uint64  // iterations of all temperatures, at most
	neighbours float64 // effective number of columns of a row below which the annealing ends
}

// defaultAnnealing is the schedule that left the fewest steps to the core on
// geometric, product, low-rank and two-cost matrices of 1,000 to 5,000 rows,
// permuted and perturbed. Structure is 0.6 on uniform costs of any range, and
// grows with the square root of the sample on structured ones: 3 for distances
// in the plane from 500 rows, 9 for products.
func defaultAnnealing() annealingSchedule {
	return annealingSchedule{sample: 1024, Chance: 1, tolerance: 1e-3, relax: 1.5, least: 2, limit: 16, total: 400, neighbours: 8}
}

// An initialisation is the result of an Initialiser besides the prices.
type initialisation struct {
	structured bool    // false: the costs look random, the prices mean little
	structure  float64 // how far columns differ, 0.6 by chance alone
	passes     float64 // matrix entries read, over rows*cols
}

// DualsWorkload is the description by which a variant of assignment/duals is chosen for a side of a square problem. A
// multiprocessor has a block, whose teams of warps take its part of the rows in waves, one each.
func DualsWorkload(fixed map[string]string, side int) tuned.Workload {
	return tuned.Workload{Fixed: fixed, Size: side, WaveCost: func(v *device.Variant, size, sms int) float64 {
		const warp = 32
		return tuned.WaveQuantization((size+sms-1)/max(1, sms), assignment.Duals.Int(v, "block")/warp/assignment.Duals.Int(v, "share"))
	}}
}

// OpenInitialiser loads a variant of assignment/duals and takes memory for matrices
// of that size.
func OpenInitialiser(d device.Device, v *device.Variant, rows, cols int) (*Initialiser, error) {
	kernels, err := assignment.LoadDuals(d, v)
	if err != nil {
		return nil, err
	}
	e := &Initialiser{kernels: kernels, Rows: rows, Cols: cols, Schedule: defaultAnnealing()}
	blocks := max(1, min(d.Facts().SMs, rows))
	e.grid = device.Grid{Blocks: int64(blocks), Threads: assignment.Duals.Int(v, "block"), Cooperative: true}
	e.scope.CloseLater(kernels)
	m, n := int64(rows), int64(cols)
	if err = e.scope.AllocAll(d, device.BufferFor(&e.u, 8*m), device.BufferFor(&e.v, 8*n), device.BufferFor(&e.sums, 16*n), device.BufferFor(&e.partial, 32*int64(blocks)), device.BufferFor(&e.control, 8*assignment.DualsWordWords)); err != nil {
		return nil, errors.Join(fmt.Errorf("first prices of %d x %d pairs: %w", rows, cols, err), e.Close())
	}
	return e, nil
}

// Close gives back the memory and the module.
func (e *Initialiser) Close() error { return e.scope.Close() }

// Initialise writes prices for p, whose costs are m, to the first cols words of
// prices, and says whether to use them.
func (e *Initialiser) Initialise(s device.Stream, p *problem.Normal, m *engine.Matrix, prices device.Buffer) (initialisation, error) {
	if p.Rows == 0 || p.Cols == 0 {
		return initialisation{}, nil
	}
	c := e.Schedule
	coldest := max(0.25, float64(p.Max-p.Min)*0x1p-30)
	stride := max(1, p.Rows/c.sample)
	if err := errors.Join(
		s.Fill(e.control, 0, e.control.Len(), 0),
		e.kernels.Anneal(s, e.grid, m.Costs, uint64(p.Rows), uint64(p.Cols), p.Scale, p.Limit, e.u, e.v, e.sums, e.partial, e.control, prices,
			uint64(stride), c.Chance, c.tolerance, c.relax, c.least, c.limit, c.total, c.neighbours, coldest),
	); err != nil {
		return initialisation{}, err
	}
	raw := make([]byte, 8*assignment.DualsWordWords)
	if err := s.Download(raw, e.control, 0); err != nil {
		return initialisation{}, err
	}
	word := func(k int) uint64 { return binary.LittleEndian.Uint64(raw[8*k:]) }
	return initialisation{
		structured: word(assignment.DualsWordStructured) != 0,
		structure:  math.Float64frombits(word(assignment.DualsWordStructure)),
		passes:     float64(word(assignment.DualsWordReads)) / float64(p.Rows),
	}, nil
}
