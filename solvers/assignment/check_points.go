package assignment

import (
	"errors"
	"fmt"

	"coalesce/autotune/tuned"
	"coalesce/generated/assignment"
	"coalesce/runtime/device"
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

// newPointChecker is a checker for one problem of points.
func newPointChecker(d device.Device, p *normal) (_ *checker, err error) {
	q, f := p.inst.Points, &assignment.Pointcheck
	w := tuned.Workload{Fixed: map[string]string{"metric": string(q.Metric), "value": string(p.inst.Type)}, Size: p.cols}
	v := tuned.Fastest(f, d.Facts(), w, nil)
	if v == nil {
		return nil, fmt.Errorf("%s has no variant for %s distances as %s", f.Name, q.Metric, p.inst.Type)
	}
	return newPointCheckerOf(d, v, p)
}

func newPointCheckerOf(d device.Device, v *device.Variant, p *normal) (_ *checker, err error) {
	q, f := p.inst.Points, &assignment.Pointcheck
	c := &checker{variant: v, name: fmt.Sprintf("%s, %s %s", d.Facts(), f.Name, v.Label), rows: p.rows, cols: p.cols}
	w := &pointSweep{threads: f.Int(v, "block"), rows: f.Int(v, "rows"), dim: q.Dim}
	if w.kernels, err = assignment.LoadPointcheck(d, v); err != nil {
		return nil, err
	}
	if err = c.take(d); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	c.points = w
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	s, err := d.NewStream()
	if err != nil {
		return nil, err
	}
	for _, b := range []struct {
		to   *device.Buffer
		from []float64
	}{{&w.rowPoints, q.Row}, {&w.colPoints, q.Col}} {
		if *b.to, err = d.Alloc(8 * int64(len(b.from))); err == nil {
			err = s.Upload(*b.to, 0, bytesOf(b.from))
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

// Close gives back the points and the module.
func (w *pointSweep) Close() error {
	var errs []error
	for _, b := range []device.Buffer{w.rowPoints, w.colPoints} {
		if b != nil {
			errs = append(errs, b.Free())
		}
	}
	return errors.Join(append(errs, w.kernels.Close())...)
}

// launch enqueues the two kernels.
func (w *pointSweep) launch(h *shard, sign, shift int64, limited, rules uint64, limit int64) error {
	m, n, dim := uint64(h.rows), uint64(h.cols), uint64(w.dim)
	if h.rows > 0 {
		g := device.Grid{Blocks: int64((h.rows + w.threads - 1) / w.threads), Threads: w.threads}
		if err := w.kernels.Pairs(h.stream, g, w.rowPoints, w.colPoints, dim, h.work, m, n, sign, shift, limited, limit); err != nil {
			return err
		}
	}
	if h.cols == 0 {
		return nil
	}
	groups, strips := max(1, (h.rows+w.rows-1)/w.rows), (h.cols+w.threads-1)/w.threads
	g := device.Grid{Blocks: int64(groups) * int64(strips), Threads: w.threads}
	return w.kernels.Sweep(h.stream, g, w.rowPoints, w.colPoints, dim, h.work, m, n, sign, shift, rules)
}
