package host

import (
	"fmt"
	"slices"
	"sync"

	"coalesce/autotune/tuned"
	genassignment "coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/solvers/assignment/problem"
)

// A RowScan reads dense costs with the kernels of assignment/hostscan.
type RowScan struct {
	p                   *problem.Normal
	costs               device.Arg
	least, below, lower device.HostKernel
}

// Facts are those of this host.
func Facts() device.Facts { return facts() }

var facts = sync.OnceValue(func() device.Facts {
	d := host.Open(0)
	defer d.Close()
	return d.Facts()
})

// newRowScan takes the fastest variant known for the cost type on this host, or
// the safe one.
func newRowScan(p *problem.Normal, t *tuned.Database) (*RowScan, error) {
	if p.Instance.Len() != p.Rows*p.Cols {
		return nil, fmt.Errorf("%s: the host holds %d of %d x %d costs", p.Instance.Source, p.Instance.Len(), p.Rows, p.Cols)
	}
	family := &genassignment.Hostscan
	w := tuned.Workload{Fixed: map[string]string{"value": string(p.Instance.Type)}, Size: p.Cols}
	v, err := t.Pick(family, Facts(), w, nil)
	if err != nil {
		return nil, err
	}
	return RowScanOf(p, v), nil
}

// RowScanOf is the scan of a dense problem's rows by a variant of
// assignment/hostscan.
func RowScanOf(p *problem.Normal, v *device.Variant) *RowScan {
	s := &RowScan{p: p, least: v.Kernels["least"], below: v.Kernels["below"], lower: v.Kernels["lower"]}
	switch inst := p.Instance; inst.Type {
	case problem.Int32:
		s.costs = host.WrapSlice(inst.I32)
	case problem.Int64:
		s.costs = host.WrapSlice(inst.I64)
	case problem.Float32:
		s.costs = host.WrapSlice(inst.F32)
	default:
		s.costs = host.WrapSlice(inst.F64)
	}
	return s
}

// ColumnMinima runs the kernel lower on u, with one copy of v for each thread, and sets v to the
// minimum of the copies.
func (s *RowScan) ColumnMinima(u, v []int64, threads int) {
	parts := slices.Repeat([]int64{problem.Infinity}, threads*len(v))
	args := []device.Arg{s.costs, device.U64(uint64(s.p.Cols)), device.F64(s.p.Scale), device.U64(uint64(s.p.Rows)), host.WrapSlice(u), host.WrapSlice(parts)}
	ParallelParts(threads, threads, func() func(low, high int) {
		return func(low, high int) {
			for b := low; b < high; b++ {
				s.lower(int64(b), int64(threads), args)
			}
		}
	})
	copy(v, parts)
	for k := len(v); k < len(parts); k++ {
		v[k%len(v)] = min(v[k%len(v)], parts[k])
	}
}

func (s *RowScan) DualsChanged([]int64) {}

func (s *RowScan) Reader() RowReader { return &scanReader{s: s} }

// A scanReader holds the arguments and results of one goroutine's launches.
type scanReader struct {
	s            *RowScan
	v            *int64 // what arg says
	arg          device.Arg
	col          []int32
	value, state []int64
	out          [3]device.Arg
}

// room makes room for n results, and takes the columns' duals or limits.
func (r *scanReader) room(n int, v []int64) {
	if len(r.col) < n {
		r.col, r.value, r.state = make([]int32, n), make([]int64, n), make([]int64, 2)
		r.out = [3]device.Arg{host.WrapSlice(r.col), host.WrapSlice(r.value), host.WrapSlice(r.state)}
	}
	if len(v) > 0 && r.v != &v[0] {
		r.v, r.arg = &v[0], host.WrapSlice(v)
	}
}

func (r *scanReader) AppendLeast(i int, v []int64, k, enough int, guess int64, out []Edge) ([]Edge, int64) {
	p := r.s.p
	r.room(2*k, v)
	// Rows with equal costs are to choose different columns.
	first := max(1, p.Cols/p.Rows)
	r.s.least(0, 1, []device.Arg{r.s.costs, device.U64(uint64(p.Cols)), device.F64(p.Scale), device.U64(uint64(i)), r.arg,
		device.U64(uint64(first)), device.U64(uint64(k)), device.U64(uint64(enough)), device.I64(guess), r.out[0], r.out[1], r.out[2]})
	return r.results(out, v), r.state[1]
}

func (r *scanReader) AppendBelow(i int, limit []int64, out []Edge) []Edge {
	p := r.s.p
	r.room(p.Cols, limit)
	r.s.below(0, 1, []device.Arg{r.s.costs, device.U64(uint64(p.Cols)), device.F64(p.Scale), device.U64(uint64(i)), r.arg, r.out[0], r.out[1], r.out[2]})
	return r.results(out, limit)
}

func (r *scanReader) results(out []Edge, v []int64) []Edge {
	for q := range r.state[0] {
		out = append(out, Edge{r.value[q], r.value[q] - v[r.col[q]], r.col[q]})
	}
	return out
}
