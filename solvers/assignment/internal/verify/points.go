package verify

import (
	"errors"
	"fmt"

	"coalesce/autotune/tuned"
	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/problem"
)

// A pointSweep is the certificate's way to costs that are distances: it keeps
// its own copy of the points and computes every pair's distance (family
// assignment/pointcheck).
type pointSweep struct {
	kernels              *assignment.PointcheckKernels
	threads, rows        int // of a block
	dim                  int
	rowPoints, colPoints device.Buffer
}

// OpenPoints is a checker for one problem of points.
func OpenPoints(d device.Device, t *tuned.Database, p *problem.Normal) (_ *Checker, err error) {
	q, f := p.Instance.Points, &assignment.Pointcheck
	w := tuned.Workload{Fixed: map[string]string{"metric": string(q.Metric), "value": string(p.Instance.Type)}, Size: p.Cols}
	v, err := t.Pick(f, d.Facts(), w, nil)
	if err != nil {
		return nil, err
	}
	return OpenPointsVariant(d, v, p)
}

// OpenPointsVariant is OpenPoints for a variant of assignment/pointcheck.
func OpenPointsVariant(d device.Device, v *device.Variant, p *problem.Normal) (_ *Checker, err error) {
	q, f := p.Instance.Points, &assignment.Pointcheck
	c := &Checker{variant: v, name: fmt.Sprintf("%s, %s %s", d.Facts(), f.Name, v.Label), Rows: p.Rows, Cols: p.Cols}
	w := &pointSweep{threads: f.Int(v, "block"), rows: f.Int(v, "rows"), dim: q.Dim}
	if w.kernels, err = assignment.LoadPointcheck(d, v); err != nil {
		return nil, err
	}
	c.points = w
	c.scope.CloseLater(w.kernels)
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if err = c.allocate(d); err != nil {
		return nil, err
	}
	s, err := d.NewStream()
	if err != nil {
		return nil, err
	}
	for _, b := range []struct {
		to   *device.Buffer
		from []float64
	}{{&w.rowPoints, q.Row}, {&w.colPoints, q.Col}} {
		if *b.to, err = c.scope.Alloc(d, 8*int64(len(b.from))); err == nil {
			err = s.Upload(*b.to, 0, device.Bytes(b.from))
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("certificate of points: %w", err), s.Close())
		}
	}
	if err = errors.Join(s.Sync(), s.Close()); err != nil {
		return nil, err
	}
	return c, nil
}

// launch enqueues the two kernels.
func (w *pointSweep) launch(h *Shard, sign, shift int64, limited, rules uint64, limit, width int64) error {
	m, n, dim := uint64(h.Rows), uint64(h.Cols), uint64(w.dim)
	if h.Rows > 0 {
		g := device.Grid{Blocks: int64((h.Rows + w.threads - 1) / w.threads), Threads: w.threads}
		if err := w.kernels.Pairs(h.Stream, g, w.rowPoints, w.colPoints, dim, h.Words, m, n, sign, shift, limited, limit); err != nil {
			return err
		}
	}
	if h.Cols == 0 {
		return nil
	}
	groups, strips := max(1, (h.Rows+w.rows-1)/w.rows), (h.Cols+w.threads-1)/w.threads
	g := device.Grid{Blocks: int64(groups) * int64(strips), Threads: w.threads}
	return w.kernels.Sweep(h.Stream, g, w.rowPoints, w.colPoints, dim, h.Words, m, n, sign, shift, rules, width)
}
