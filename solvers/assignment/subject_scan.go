package assignment

import (
	"errors"
	"fmt"

	"coalesce/autotune/subject"
	"coalesce/generated/assignment"
	"coalesce/runtime/device"
)

// tunableScan is the host's family, assignment/hostscan: the pass that the
// host's solver begins with, column minima and the least reduced costs of
// every row.
type tunableScan struct{ tunable }

func newTunableScan() tunableScan {
	return tunableScan{tunable{family{name: "hostscan", kernels: &assignment.Hostscan}}}
}

// Fixed: a pass takes its time whatever the costs.
func (tunableScan) Fixed() []map[string]string { return tunableCheck{}.Fixed() }

func (t tunableScan) Open(d device.Device, v *device.Variant) (subject.Runner, error) {
	return scanRunner{d, v}, nil
}

type scanRunner struct {
	device  device.Device
	variant *device.Variant
}

func (scanRunner) Close() error { return nil }

func (r scanRunner) Prepare(inst subject.Instance) (subject.Job, error) {
	t, ok := inst.(*trialInstance)
	if !ok {
		return nil, errors.New("prepare assignment/hostscan: an instance of another subject")
	}
	j := &scanJob{p: t.p, threads: max(1, r.device.Facts().SMs), v: make([]int64, t.p.cols)}
	j.edges, j.bounds = make([][]edge, t.p.rows), make([]int64, t.p.rows)
	if t.p.rows > 0 {
		j.scan = rowScanOf(t.p, r.variant)
	}
	return j, nil
}

type scanJob struct {
	p       *normal
	scan    *rowScan
	threads int
	v       []int64
	edges   [][]edge
	bounds  []int64
}

const scanned = 16 // pairs asked of a row

// Reset spoils what a run writes.
func (j *scanJob) Reset(device.Stream) error {
	for k := range j.v {
		j.v[k] = -12345
	}
	for i := range j.edges {
		j.edges[i], j.bounds[i] = j.edges[i][:0], -12345
	}
	return nil
}

// Run makes the pass on all cores.
func (j *scanJob) Run(device.Stream) error {
	if j.p.rows == 0 {
		return nil
	}
	j.scan.columnMinima(make([]int64, j.p.rows), j.v, j.threads)
	each(j.threads, j.p.rows, func() func(low, high int) {
		r := j.scan.reader()
		return func(low, high int) {
			for i := low; i < high; i++ {
				j.edges[i], j.bounds[i] = r.least(i, j.v, scanned, j.p.cols, -far, j.edges[i][:0])
			}
		}
	})
	return nil
}

// Check holds the pass against the costs: the minima, and that no pair of a
// row that was left out is below what the row says of them.
func (j *scanJob) Check(device.Stream) error {
	least := make([]int64, j.p.cols)
	for k := range least {
		least[k] = far
	}
	row := make([]int64, j.p.cols)
	for i := range j.p.rows {
		for k, c := range j.p.row(i, row) {
			least[k] = min(least[k], c)
		}
	}
	for i := range j.p.rows {
		row = j.p.row(i, row)
		allowed := 0
		for k, c := range row {
			if j.v[k] != least[k] {
				return fmt.Errorf("%w: column %d: found the minimum %d, expected %d", ErrCheck, k, j.v[k], least[k])
			}
			if c != far {
				allowed++
			}
		}
		for _, e := range j.edges[i] {
			if row[e.col] != e.cost || e.cost == far {
				return fmt.Errorf("%w: row %d, column %d: found the cost %d, expected %d, each pair once", ErrCheck, i, e.col, e.cost, row[e.col])
			}
			row[e.col] = far
		}
		if n := len(j.edges[i]); n < min(scanned, allowed) || n > 2*scanned {
			return fmt.Errorf("%w: row %d: found %d pairs, expected %d to %d", ErrCheck, i, n, min(scanned, allowed), 2*scanned)
		}
		for k, c := range row {
			if c != far && c-j.v[k] < j.bounds[i] {
				return fmt.Errorf("%w: row %d, column %d: found the reduced cost %d left out, expected none below %d", ErrCheck, i, k, c-j.v[k], j.bounds[i])
			}
		}
	}
	return nil
}

// Work is the number of pairs, read twice.
func (j *scanJob) Work() float64 { return 2 * float64(j.p.rows) * float64(j.p.cols) }

func (j *scanJob) Close() error { return nil }
