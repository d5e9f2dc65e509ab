package coreprice

import (
	"context"
	"errors"
	"fmt"

	"coalesce/autotune/tuned"
	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/host"
	"coalesce/solvers/assignment/problem"
)

// A pointCore solves one problem of points: core and price whose passes compute distances (family
// assignment/points), in memory of the order of points and edges. Rows and columns are renumbered
// so that neighbours have near numbers. A warp looks at a tile of 32 columns at once and skips a
// tile whose bounding box is too far away to hold an edge that matters. Where no tile can be
// skipped, as in many dimensions, a pass computes every distance. Large square problems are solved
// from coarse to fine: see pointPasses.solve.
type pointCore struct {
	*coreEngine
	kernels    *assignment.PointsKernels
	threads    int
	group      int             // rows of a warp
	p, local   *problem.Normal // as given, and renumbered
	row, col   []int32         // old numbers of rows and columns, by new ones
	rows, cols pointSet
	coarse     []levelPoints // of a square problem, finest first
	peak       device.Buffer // of every tile of columns, the largest v
	bound      device.Buffer // of a square problem, for each row: a lower bound on c - v of pairs outside its first chunk
}

// A pointSet is the points of rows or of columns on a device.
type pointSet struct {
	n                    int
	points, tiles, boxes device.Buffer
}

// pointsVariant is the fastest variant known for a problem of points and chunks
// of k edges.
func pointsVariant(facts device.Facts, t *tuned.Database, p *problem.Normal, k int) (*device.Variant, error) {
	q, f := p.Instance.Points, &assignment.Points
	cut := "off"
	if q.Floor {
		cut = "on"
	}
	w := tuned.Workload{Fixed: map[string]string{"metric": string(q.Metric), "floor": cut}, Size: p.Cols}
	chunks := func(v *device.Variant) error {
		if f.Int(v, "k") != k {
			return fmt.Errorf("chunks of %s edges, those of assignment/core have %d", f.Value(v, "k"), k)
		}
		return nil
	}
	return t.Pick(f, facts, w, chunks)
}

// ChunkOf is the number of edges of a chunk of a variant of assignment/core.
func ChunkOf(v *device.Variant) int { return assignment.Core.Int(v, "k") }

func newPointCore(d device.Device, t *tuned.Database, v *device.Variant, p *problem.Normal) (engine.Engine, error) {
	w, err := pointsVariant(d.Facts(), t, p, ChunkOf(v))
	if err != nil {
		return nil, err
	}
	return OpenPoints(d, v, w, p)
}

// OpenPoints takes variants of assignment/core and of assignment/points.
func OpenPoints(d device.Device, v, w *device.Variant, p *problem.Normal) (_ engine.Engine, err error) {
	e := &pointCore{p: p, threads: assignment.Points.Int(w, "block"), group: assignment.Points.Int(w, "group")}
	if e.coreEngine, err = openCore(d, v, p.Rows, p.Cols, 8*p.Rows+4096); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Close())
		}
	}()
	if e.kernels, err = assignment.LoadPoints(d, w); err != nil {
		return nil, err
	}
	e.scope.CloseLater(e.kernels)
	e.renumber()
	s, err := d.NewStream()
	if err != nil {
		return nil, err
	}
	q := e.local.Instance.Points
	if e.rows, err = e.uploadPoints(d, s, q.Row, p.Rows); err == nil {
		e.cols, err = e.uploadPoints(d, s, q.Col, p.Cols)
	}
	if err = errors.Join(err, s.Sync(), s.Close()); err != nil {
		return nil, err
	}
	if e.peak, err = e.allocate(d, 8*int64(tilesOf(p.Cols))); err != nil {
		return nil, err
	}
	if !p.IsCoarseToFine() {
		return e, nil
	}
	if e.bound, err = e.allocate(d, 8*int64(p.Rows)); err != nil {
		return nil, err
	}
	// Searches from few rows are long, and reach a row many times.
	e.capacity = 32*p.Rows + 1<<12
	if e.lists, err = e.allocate(d, 16*int64(e.capacity)); err != nil {
		return nil, err
	}
	return e, e.loadCoarseLevels(d)
}

// renumber orders points by the leaves of k-d trees.
func (e *pointCore) renumber() {
	q := *e.p.Instance.Points
	e.row = host.NewPlaceTree(e.p, q.Row, e.p.Rows).Order
	e.col = host.NewPlaceTree(e.p, q.Col, e.p.Cols).Order
	q.Row, q.Col = host.GatherPoints(q.Row, q.Dim, e.row), host.GatherPoints(q.Col, q.Dim, e.col)
	inst, local := *e.p.Instance, *e.p
	inst.Points, local.Instance = &q, &inst
	e.local = &local
}

const tileSide = 32 // points of a tile, tiles of a group: a warp

func tilesOf(n int) int { return (n + tileSide - 1) / tileSide }

// allocate allocates memory that is freed with the engine.
func (e *pointCore) allocate(d device.Device, bytes int64) (device.Buffer, error) {
	b, err := e.scope.Alloc(d, bytes)
	if err != nil {
		return nil, fmt.Errorf("points of %d rows and %d columns: %w", e.p.Rows, e.p.Cols, err)
	}
	return b, nil
}

// uploadPoints lays points out for the kernels and uploads them.
func (e *pointCore) uploadPoints(d device.Device, s device.Stream, coords []float64, n int) (pointSet, error) {
	dim := e.local.Instance.Points.Dim
	tiles := tilesOf(n)
	stands := make([]float64, tiles*dim*tileSide)
	boxes := make([]float64, tilesOf(tiles)*dim*2*tileSide)
	for t := range tiles {
		for x := range dim {
			box := boxes[(t/tileSide*dim+x)*2*tileSide+t%tileSide:]
			for k := range tileSide {
				c := coords[min(t*tileSide+k, n-1)*dim+x] // the last point fills the tile
				stands[(t*dim+x)*tileSide+k] = c
				if k == 0 {
					box[0], box[tileSide] = c, c
				}
				box[0], box[tileSide] = min(box[0], c), max(box[tileSide], c)
			}
		}
	}
	to := pointSet{n: n}
	for _, b := range []struct {
		to   *device.Buffer
		from []float64
	}{{&to.points, coords}, {&to.tiles, stands}, {&to.boxes, boxes}} {
		var err error
		if *b.to, err = e.allocate(d, 8*int64(len(b.from))); err != nil {
			return to, err
		}
		if err := s.Upload(*b.to, 0, device.Bytes(b.from)); err != nil {
			return to, err
		}
	}
	return to, nil
}

// Solve implements engine.Engine; p is the problem that the engine was opened
// for.
func (e *pointCore) Solve(ctx context.Context, s device.Stream, p *problem.Normal, _ *engine.Matrix, start *problem.Prices) (*engine.Solution, error) {
	if p != e.p {
		return nil, errors.New("core of points: asked to solve others")
	}
	if p.Rows == 0 {
		return &engine.Solution{Prices: problem.Prices{V: make([]int64, p.Cols)}}, nil
	}
	finer, shift := e.local.Refined()
	if start != nil {
		local := &problem.Prices{U: make([]int64, p.Rows), V: make([]int64, p.Cols)}
		for i, k := range e.row {
			local.U[i] = start.U[k] << shift
		}
		for j, k := range e.col {
			local.V[j] = start.V[k] << shift
		}
		start = local
	}
	r := e.newRun(s, finer, nil)
	passes := &pointPasses{r, e}
	r.over = passes
	solve := r.solve
	if p.IsCoarseToFine() {
		solve = passes.solve
	}
	found, err := solve(ctx, start)
	if err != nil {
		return nil, err
	}
	found.RoundDuals(shift)
	sol := &engine.Solution{Column: make([]int32, p.Rows), Prices: problem.Prices{U: make([]int64, p.Rows), V: make([]int64, p.Cols)}, Counts: found.Counts}
	for i, k := range e.row {
		sol.U[k], sol.Column[k] = found.U[i], -1
		if j := found.Column[i]; j >= 0 {
			sol.Column[k] = e.col[j]
		}
	}
	for j, k := range e.col {
		sol.V[k] = found.V[j]
	}
	return sol, nil
}

// pointPasses are the passes of core and price over points, which compute distances.
type pointPasses struct {
	*coreRun
	e *pointCore
}

// rowGrid covers n rows, GROUP a warp.
func (r *pointPasses) rowGrid(n int) device.Grid {
	warps := (n + r.e.group - 1) / r.e.group
	return device.Grid{Blocks: int64(max(1, min((warps*32+r.e.threads-1)/r.e.threads, r.sms*64))), Threads: r.e.threads}
}

func (r *pointPasses) dimension() uint64 { return uint64(r.p.Instance.Points.Dim) }

// setColumnMinima sets v to the columns' minima, for u = 0.
func (r *pointPasses) setColumnMinima() error {
	return errors.Join(r.s.Fill(r.u, 0, r.u.Len(), 0), r.setColumnDuals(r.e.rows, r.e.cols))
}

func (r *pointPasses) makeCandidates() error {
	if err := r.tilePeaks(r.v, r.e.cols.n, 0); err != nil {
		return err
	}
	a, b := r.e.rows, r.e.cols
	return r.e.kernels.Candidates(r.s, r.rowGrid(a.n), a.points, b.tiles, b.boxes, r.e.peak, uint64(a.n), uint64(b.n), r.dimension(), r.p.Scale,
		r.p.Limit, r.v, r.col, r.cost, r.next)
}

func (r *pointPasses) priceRows() ([]uint64, error) {
	if err := r.tilePeaks(r.v, r.e.cols.n, 0); err != nil {
		return nil, err
	}
	a, b := r.e.rows, r.e.cols
	if err := r.e.kernels.Price(r.s, r.rowGrid(a.n), a.points, b.tiles, b.boxes, r.e.peak, uint64(a.n), uint64(b.n), r.dimension(), r.p.Scale,
		r.u, r.v, r.match, r.owner, r.col, r.cost, r.next, r.control, uint64(r.pool)); err != nil {
		return nil, err
	}
	return r.downloadControl()
}

func (r *pointPasses) extendReached() ([]uint64, error) {
	if err := r.tilePeaks(r.v, r.e.cols.n, 1); err != nil {
		return nil, err
	}
	a, b := r.e.rows, r.e.cols
	if err := r.e.kernels.Grow(r.s, r.rowGrid(a.n), a.points, b.tiles, b.boxes, r.e.peak, uint64(a.n), uint64(b.n), r.dimension(), r.p.Scale,
		r.u, r.v, r.match, r.owner, r.word, r.col, r.cost, r.next, r.control, uint64(r.pool)); err != nil {
		return nil, err
	}
	return r.downloadControl()
}
