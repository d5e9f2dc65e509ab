package tune

import (
	"fmt"
	"slices"

	"coalesce/autotune/subject"
	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/families"
	"coalesce/solvers/assignment/internal/host"
	"coalesce/solvers/assignment/problem"
)

// tunableScan is the host's family, assignment/hostscan: the pass that the
// host's solver begins with, column minima and the least reduced costs of
// every row.
type tunableScan struct{ tunableFamily }

func newTunableScan() tunableScan {
	return tunableScan{tunableFamily{families.Family{Name: "hostscan", Kernels: &assignment.Hostscan}}}
}

// Workloads: a pass takes its time whatever the costs.
func (tunableScan) Workloads() []map[string]string { return tunableCheck{}.Workloads() }

func (t tunableScan) Open(d device.Device, v *device.Variant) (subject.Runner, error) {
	return subject.Open(&assignment.Hostscan, v, func(t *trialInstance) (subject.Job, error) {
		j := &scanJob{p: t.p, threads: max(1, d.Facts().SMs), v: make([]int64, t.p.Cols)}
		j.edges, j.bounds = make([][]host.Edge, t.p.Rows), make([]int64, t.p.Rows)
		if t.p.Rows > 0 {
			j.scan = host.RowScanOf(t.p, v)
		}
		return j, nil
	})
}

type scanJob struct {
	p       *problem.Normal
	scan    *host.RowScan
	threads int
	v       []int64
	edges   [][]host.Edge
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
	if j.p.Rows == 0 {
		return nil
	}
	j.scan.ColumnMinima(make([]int64, j.p.Rows), j.v, j.threads)
	host.ParallelParts(j.threads, j.p.Rows, func() func(low, high int) {
		r := j.scan.Reader()
		return func(low, high int) {
			for i := low; i < high; i++ {
				j.edges[i], j.bounds[i] = r.AppendLeast(i, j.v, scanned, j.p.Cols, -problem.Infinity, j.edges[i][:0])
			}
		}
	})
	return nil
}

// Check holds the pass against the costs: the minima, and that no pair of a
// row that was left out is below what the row says of them.
func (j *scanJob) Check(device.Stream) error {
	least := slices.Repeat([]int64{problem.Infinity}, j.p.Cols)
	row := make([]int64, j.p.Cols)
	for i := range j.p.Rows {
		for k, c := range j.p.Row(i, row) {
			least[k] = min(least[k], c)
		}
	}
	for i := range j.p.Rows {
		row = j.p.Row(i, row)
		allowed := 0
		for k, c := range row {
			if j.v[k] != least[k] {
				return fmt.Errorf("%w: column %d: found the minimum %d, expected %d", problem.ErrCheck, k, j.v[k], least[k])
			}
			if c != problem.Infinity {
				allowed++
			}
		}
		for _, e := range j.edges[i] {
			if row[e.Col] != e.Cost || e.Cost == problem.Infinity {
				return fmt.Errorf("%w: row %d, column %d: found the cost %d, expected %d, each pair once", problem.ErrCheck, i, e.Col, e.Cost, row[e.Col])
			}
			row[e.Col] = problem.Infinity
		}
		if n := len(j.edges[i]); n < min(scanned, allowed) || n > 2*scanned {
			return fmt.Errorf("%w: row %d: found %d pairs, expected %d to %d", problem.ErrCheck, i, n, min(scanned, allowed), 2*scanned)
		}
		for k, c := range row {
			if c != problem.Infinity && c-j.v[k] < j.bounds[i] {
				return fmt.Errorf("%w: row %d, column %d: found the reduced cost %d left out, expected none below %d", problem.ErrCheck, i, k, c-j.v[k], j.bounds[i])
			}
		}
	}
	return nil
}

// Work is the number of pairs, read twice.
func (j *scanJob) Work() float64 { return 2 * float64(j.p.Rows) * float64(j.p.Cols) }

// Demand is two readings of the costs.
func (j *scanJob) Demand() subject.Demand {
	return subject.Demand{Bytes: 2 * float64(len(j.p.Instance.Bytes()))}
}

func (j *scanJob) Close() error { return nil }
