package coreprice

import (
	"context"
	"errors"
	"fmt"

	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/host"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/cores"
)

// OpenImplicit opens core and price for a problem whose costs no matrix holds.
func OpenImplicit(d device.Device, t *tuned.Database, v *device.Variant, p *problem.Normal) (engine.Engine, error) {
	if p.Instance.Points != nil {
		return newPointCore(d, t, v, p)
	}
	return newSparseCore(d, v, p)
}

// A sparseCore solves one sparse problem: all its pairs are the core, so that
// nothing is left to price, and where the search is stuck no full matching
// exists. Memory and work are those of the allowed pairs.
type sparseCore struct {
	*coreEngine
	p     *problem.Normal
	edges int
	least device.Buffer // square problems: the columns' minima
}

func newSparseCore(d device.Device, v *device.Variant, p *problem.Normal) (_ engine.Engine, err error) {
	c := chunksOf(p, ChunkOf(v))
	e := &sparseCore{p: p, edges: c.edges}
	if e.coreEngine, err = openCore(d, v, p.Rows, p.Cols, len(c.next)); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Close())
		}
	}()
	s, err := d.NewStream()
	if err != nil {
		return nil, err
	}
	err = errors.Join(s.Upload(e.col, 0, device.Bytes(c.col)), s.Upload(e.cost, 0, device.Bytes(c.cost)), s.Upload(e.next, 0, device.Bytes(c.next)))
	if p.Rows == p.Cols && err == nil {
		if e.least, err = e.scope.Alloc(d, 8*int64(p.Cols)); err != nil {
			err = fmt.Errorf("minima of %d columns: %w", p.Cols, err)
		} else {
			err = s.Upload(e.least, 0, device.Bytes(c.least))
		}
	}
	if err = errors.Join(err, s.Sync(), s.Close()); err != nil {
		return nil, err
	}
	return e, nil
}

// Solve implements engine.Engine; p is the problem that the engine was opened
// for.
func (e *sparseCore) Solve(ctx context.Context, s device.Stream, p *problem.Normal, _ *engine.Matrix, start *problem.Prices) (*engine.Solution, error) {
	if p != e.p {
		return nil, errors.New("core of a sparse problem: asked to solve another")
	}
	if p.Rows == 0 {
		return &engine.Solution{Prices: problem.Prices{V: make([]int64, p.Cols)}}, nil
	}
	r := e.newRun(s, p, nil)
	r.over = sparsePasses{r, e.least}
	sol, err := r.solve(ctx, start)
	if err == nil {
		sol.Counts.Passes, sol.Counts.Edges = 0, int64(e.edges)
	}
	return sol, err
}

// sparsePasses are the passes of a problem whose core is the whole problem: the minima are
// known, and no pass adds an edge.
type sparsePasses struct {
	*coreRun
	least device.Buffer
}

func (r sparsePasses) setColumnMinima() error           { return r.s.Copy(r.v, 0, r.least, 0, 8*int64(r.p.Cols)) }
func (r sparsePasses) makeCandidates() error            { return nil }
func (r sparsePasses) priceRows() ([]uint64, error)     { return r.downloadControl() }
func (r sparsePasses) extendReached() ([]uint64, error) { return r.downloadControl() }

// chunks are edges in the layout of the kernels: chunk i is the first of row i, and next has the
// number of the row's next chunk, -1 after the last. Unused edges of a chunk have column -1.
type chunks struct {
	col   []int32
	cost  []int64
	next  []int32
	least []int64 // of every column, problem.Infinity where no row may have it
	edges int
}

// chunksOf lays out a sparse problem's allowed pairs, k a chunk; a limit is an
// edge to a column of the row's own.
func chunksOf(p *problem.Normal, k int) chunks {
	first := make([]int, p.Rows+1) // of the chunks after a row's first
	first[0] = p.Rows
	cores.Split(p.Rows, 1<<10, func(low, high int) {
		r := host.ListReader{P: p}
		for i := low; i < high; i++ {
			first[i+1] = max(0, (len(r.Read(i))+ownEdges(p)+k-1)/k-1)
		}
	})
	for i := range p.Rows {
		first[i+1] += first[i]
	}
	n := first[p.Rows]
	c := chunks{col: make([]int32, n*k), cost: make([]int64, n*k), next: make([]int32, n), least: make([]int64, p.Cols)}
	cores.Split(p.Rows, 1<<10, func(low, high int) {
		r := host.ListReader{P: p}
		for i := low; i < high; i++ {
			row := r.Read(i)
			if ownEdges(p) > 0 {
				row = append(row, host.Edge{Cost: p.Limit, Col: int32(p.Cols + i)})
				r.Row = row
			}
			for chunk, after := i, first[i]; chunk >= 0; after++ {
				used := min(k, len(row))
				for e := range k {
					c.col[chunk*k+e], c.cost[chunk*k+e] = -1, problem.Infinity
					if e < used {
						c.col[chunk*k+e], c.cost[chunk*k+e] = row[e].Col, row[e].Cost
					}
				}
				row = row[used:]
				next := -1
				if after < first[i+1] {
					next = after
				}
				c.next[chunk], chunk = int32(next), next
			}
		}
	})
	for j := range c.least {
		c.least[j] = problem.Infinity
	}
	for e, j := range c.col {
		if j >= 0 {
			c.edges++
		}
		if j >= 0 && int(j) < p.Cols {
			c.least[j] = min(c.least[j], c.cost[e])
		}
	}
	return c
}

// ownEdges is the number of edges that a row has to a column of its own, which stands for leaving the
// row unmatched.
func ownEdges(p *problem.Normal) int {
	if p.Limit != problem.Infinity {
		return 1
	}
	return 0
}
