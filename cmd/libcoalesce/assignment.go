package main

/*
#include "shim.h"
*/
import "C"

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"coalesce/internal/jobs"
	"coalesce/internal/placement"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// source is what errors and results call instances of this library.
const source = "an array"

// An instance of at most onThread costs is solved on the calling thread: on a thread that C made, waiting for the
// goroutines that share a pass takes long.
const onThread = 1 << 15

// smallCosts are engine.Host's costs for one core.
const smallCosts = 1 << 12

//export goAssign
func goAssign(p *C.coalesce_assignment) C.int32_t {
	var err error
	if matchable(p) {
		var done bool
		if done, err = match(p); err == nil && done {
			return C.COALESCE_OK
		}
	}
	return assignHere(p, err)
}

// assignHere is goAssign for all that match did not solve, err being its error.
func assignHere(p *C.coalesce_assignment, err error) C.int32_t {
	var text []byte
	var report *[]byte
	if p != nil && p.flags&C.COALESCE_REPORT != 0 {
		report = &text
	}
	done := false
	switch {
	case err != nil || done:
	case plain(p):
		work := func() (err error) {
			done, err = quick(p, report)
			return err
		}
		if p.rows*p.cols <= onThread {
			err = recoverPanic(work)
		} else {
			err = <-runOnGoThread(work)
		}
	}
	whole := func() error { return assign(context.Background(), p, nil, report) }
	switch {
	case err != nil || done:
	case wantsColumnsOnly(p) || small(p):
		err = recoverPanic(whole)
	default:
		err = <-runOnGoThread(whole)
	}
	switch {
	case p == nil || p.text == nil || p.text_size <= 0:
	case err != nil:
		text = errorLine(err)
		fallthrough
	case report != nil:
		if len(text) >= int(p.text_size) && err == nil {
			return C.COALESCE_INVALID // no room
		}
		text = append(text, 0)[:min(len(text)+1, int(p.text_size))]
		text[len(text)-1] = 0
		copyText(text, p.text, p.text_size)
	}
	return codeOf(err)
}

//export goStartAssignment
func goStartAssignment(p *C.coalesce_assignment, handle *C.int64_t) C.int32_t {
	return startJob(handle, func(ctx context.Context, stop func()) (text []byte, err error) {
		err = assign(ctx, p, stop, &text)
		return text, err
	})
}

// assign solves the instances that a struct describes and writes the answers there. Unless report
// is nil, it becomes a JSON list of the command's objects, without solutions. stop ends the solve
// when the caller's progress function asks for that.
func assign(ctx context.Context, p *C.coalesce_assignment, stop func(), report *[]byte) error {
	if p == nil {
		return argumentError("no struct")
	}
	if err := checkSize(p.size, unsafe.Sizeof(*p)); err != nil {
		return err
	}
	if p.flags&C.COALESCE_SCIPY_TIES != 0 {
		return argumentError("SciPy's matching: expected matrices on the host of which columns, values and gaps are asked for, without a limit")
	}
	o := assignment.Options{Duals: p.u != nil || p.v != nil, Unchecked: p.flags&C.COALESCE_UNCHECKED != 0,
		KBest: int(p.k_best), Bottleneck: p.flags&C.COALESCE_BOTTLENECK != 0}
	var err error
	if o.Settings, err = solveSettings(p.device, p.time_limit, p.algorithm); err != nil {
		return err
	}
	if p.options != nil {
		if err := further(p, &o.Settings); err != nil {
			return err
		}
	}
	if stop != nil {
		o.Progress = progressCallback(p.progress, p.user, stop)
	}
	start, err := starting(p)
	if err != nil {
		return err
	}
	if start != nil {
		o.Start = start
	}
	if p.flags&C.COALESCE_RESIDENT != 0 {
		if o.KBest > 1 || o.Bottleneck {
			return argumentError("costs on a device: expected the best matching alone, by the sum of its costs")
		}
		return solveResident(ctx, p, o, report)
	}
	list, err := instances(p)
	if err != nil {
		return err
	}
	if o.KBest > 1 && (len(list) > 1 || report == nil) {
		return argumentError("the %d best matchings of %d matrices: expected those of one matrix, by a job", p.k_best, len(list))
	}
	var results []*assignment.Result
	if len(list) == 1 {
		var r *assignment.Result
		r, err = assignment.Solve(ctx, list[0], o)
		if err != nil && !(errors.Is(err, solve.ErrInfeasible) && r != nil) {
			return err
		}
		results = []*assignment.Result{r}
	} else if results, err = assignment.SolveBatch(ctx, list, o); err != nil {
		return err
	}
	for k, r := range results {
		writeAnswer(p, k, r)
	}
	if report != nil {
		return errors.Join(err, writeSummaries(results, report))
	}
	return err
}

// further reads the options that the struct has no fields for.
func further(p *C.coalesce_assignment, s *solve.Settings) error {
	place := placement.Placement{Device: device.Host}
	list := append(s.Fields().Select("variant"), place.Fields().Select("threads", "tuned", "pin", "frozen")...)
	if err := list.Decode([]byte(C.GoString(p.options))); err != nil {
		return solve.AsInputError(err)
	}
	if p.device != C.COALESCE_HOST {
		place.Device = fmt.Sprintf("%s:%d", device.CUDA, p.device)
	}
	return jobs.Resources{Open: openNamed, Tuning: openTuning}.Apply(&place, assignment.Subjects, s)
}

// small reports whether the solve of what a struct describes waits for no other goroutine: its costs are one core's.
func small(p *C.coalesce_assignment) bool {
	return p != nil && p.device == C.COALESCE_HOST && p.batch == 1 && p.dimensions == 0 && p.rows > 0 && p.rows <= smallCosts && p.cols <= smallCosts/p.rows
}

// plain reports whether quick may solve what a struct describes.
func plain(p *C.coalesce_assignment) bool {
	return p != nil && p.flags&^(C.COALESCE_MAXIMIZE|C.COALESCE_REPORT) == 0 && p.device == C.COALESCE_HOST && p.batch == 1 && p.start == nil && p.dimensions == 0 &&
		p.k_best <= 1 && p.start_scale == 0 && p.time_limit == 0 && p.algorithm == nil && p.options == nil &&
		p.rows > 0 && p.cols > 0 && assignment.FewCosts(int(min(p.rows, math.MaxInt32)), int(min(p.cols, math.MaxInt32)), runtime.GOMAXPROCS(0))
}

// quicks are solvers for small instances.
var quicks = sync.Pool{New: func() any { return new(assignment.QuickSolver) }}

// quick solves a small instance on the calling thread, or leaves it to assign.
func quick(p *C.coalesce_assignment, report *[]byte) (done bool, err error) {
	if err := checkSize(p.size, unsafe.Sizeof(*p)); err != nil {
		return false, err
	}
	list, err := instances(p)
	if err != nil {
		return false, err
	}
	q := quicks.Get().(*assignment.QuickSolver)
	defer quicks.Put(q)
	if report != nil || p.value != nil {
		r, err := q.Result(list[0])
		if r == nil {
			return false, err
		}
		writeAnswer(p, 0, r)
		if report != nil {
			return true, writeSummaries([]*assignment.Result{r}, report)
		}
		return true, nil
	}
	column, duals, certificate, done, err := q.Solve(list[0])
	if done {
		writeAnswer(p, 0, &assignment.Result{Column: column, Duals: &duals, Certificate: &certificate, Report: solve.Report{Proven: true}})
	}
	return done, err
}

// writeAnswer writes an answer where the struct asks for it.
func writeAnswer(p *C.coalesce_assignment, k int, r *assignment.Result) {
	rows, cols := int(p.rows), int(p.cols)
	if p.column != nil {
		column := unsafe.Slice((*int32)(unsafe.Pointer(p.column)), (k+1)*rows)[k*rows:]
		for i := range column {
			column[i] = -1
		}
		copy(column, r.Column)
	}
	if d := r.Duals; d != nil {
		if p.u != nil {
			copy(unsafe.Slice((*int64)(unsafe.Pointer(p.u)), (k+1)*rows)[k*rows:], d.U)
		}
		if p.v != nil {
			copy(unsafe.Slice((*int64)(unsafe.Pointer(p.v)), (k+1)*cols)[k*cols:], d.V)
		}
		setItem(p.scale, k, C.double(d.Scale))
	}
	value, gap, code := r.Value.Float(), math.NaN(), C.int32_t(C.COALESCE_OK)
	if r.Proven && r.Certificate != nil {
		gap = r.Certificate.Gap
	}
	if r.Column == nil {
		value, gap, code = math.NaN(), math.NaN(), C.COALESCE_INFEASIBLE
	}
	setItem(p.value, k, C.double(value))
	setItem(p.gap, k, C.double(gap))
	setItem(p.code, k, code)
}

// setItem writes the k-th of a list of C that may be missing.
func setItem[T any](list *T, k int, x T) {
	if list != nil {
		*(*T)(unsafe.Add(unsafe.Pointer(list), k*int(unsafe.Sizeof(x)))) = x
	}
}

// writeSummaries writes the summaries of results.
func writeSummaries(results []*assignment.Result, text *[]byte) error {
	list := make([]assignment.Summary, len(results))
	for k, r := range results {
		list[k] = r.Summary()
	}
	var err error
	*text, err = json.Marshal(list)
	return err
}

// instances are those that a struct describes.
func instances(p *C.coalesce_assignment) ([]*problem.Instance, error) {
	const limit = math.MaxInt32
	switch {
	case p.batch < 1 || p.batch > limit:
		return nil, argumentError("a batch of %d: expected 1 to %d", p.batch, limit)
	case p.rows < 0 || p.cols < 0 || p.rows > limit || p.cols > limit:
		return nil, argumentError("%d x %d costs: expected 0 to %d rows and columns", p.rows, p.cols, limit)
	case p.dimensions != 0:
		inst, err := places(p)
		return []*problem.Instance{inst}, err
	case p.costs == nil && p.rows > 0 && p.cols > 0:
		return nil, argumentError("no costs")
	case p.start != nil && p.batch > 1:
		return nil, argumentError("sparse costs come one at a time")
	}
	list := make([]*problem.Instance, p.batch)
	for k := range list {
		v := view{unsafe.Add(p.costs, k*int(p.batch_stride)), int(p.rows), int(p.cols), int(p.row_stride), int(p.col_stride)}
		inst, err := instance(p, v)
		if err != nil {
			return nil, err
		}
		list[k] = inst
	}
	return list, nil
}

func instance(p *C.coalesce_assignment, v view) (*problem.Instance, error) {
	var sparse *problem.Sparse
	if p.start != nil {
		first := unsafe.Slice((*int64)(unsafe.Pointer(p.start)), v.rows+1)
		count := first[v.rows]
		if count < 0 || count > math.MaxInt64/8 || count > 0 && p.col == nil {
			return nil, argumentError("%d pairs, or no columns", count)
		}
		sparse = &problem.Sparse{Start: first, Col: unsafe.Slice((*int32)(unsafe.Pointer(p.col)), count)}
		size := int(p.col_stride)
		v = view{p.costs, 1, int(count), int(count) * size, size}
	}
	numbers, err := narrowCosts(v, p._type)
	if err != nil {
		return nil, err
	}
	inst := &problem.Instance{Rows: int(p.rows), Cols: int(p.cols), Sparse: sparse, Source: source, Maximize: p.flags&C.COALESCE_MAXIMIZE != 0}
	switch c := numbers.(type) {
	case []int32:
		inst.Type, inst.I32 = problem.Int32, c
	case []int64:
		inst.Type, inst.I64, inst.Every = problem.Int64, c, slices.Contains(c, math.MaxInt64)
	case offsetUnsigned:
		inst.Type, inst.I64, inst.Every, inst.Unsigned = problem.Int64, c, true, true
	case []float32:
		inst.Type, inst.F32 = problem.Float32, c
	case []float64:
		inst.Type, inst.F64 = problem.Float64, c
	}
	return inst, limited(p, inst)
}

// limited sets the limit of an instance, and checks its shape.
func limited(p *C.coalesce_assignment, inst *problem.Instance) error {
	if p.flags&C.COALESCE_LIMIT != 0 {
		limit := float64(p.limit)
		inst.Limit = &limit
	}
	if err := inst.Check(); err != nil {
		return fmt.Errorf("%w: %w", errInvalid, err)
	}
	return nil
}

// places is the instance of points that a struct describes.
func places(p *C.coalesce_assignment) (*problem.Instance, error) {
	dim := int64(p.dimensions)
	rows, cols := int64(p.rows), int64(p.cols)
	if dim < 0 || dim > math.MaxInt32 || rows > 0 && p.row_points == nil || cols > 0 && p.col_points == nil || p.batch > 1 || p.start != nil {
		return nil, argumentError("points of %d coordinates: expected one or more, of one instance, and no other costs", dim)
	}
	metric, ok := map[C.int32_t]problem.Metric{C.COALESCE_EUCLIDEAN: problem.Euclidean, C.COALESCE_SQUARED: problem.Squared, C.COALESCE_MANHATTAN: problem.Manhattan}[p.metric]
	if !ok {
		return nil, argumentError("metric %d", p.metric)
	}
	inst, err := problem.NewPoints(problem.Points{
		Dim:    int(dim),
		Row:    unsafe.Slice((*float64)(unsafe.Pointer(p.row_points)), rows*dim),
		Col:    unsafe.Slice((*float64)(unsafe.Pointer(p.col_points)), cols*dim),
		Metric: metric, Floor: p.flags&C.COALESCE_FLOOR != 0,
	}, "points")
	if err != nil {
		return nil, err
	}
	inst.Maximize = p.flags&C.COALESCE_MAXIMIZE != 0
	return inst, limited(p, inst)
}

// starting are the duals to begin from, nil where there are none.
func starting(p *C.coalesce_assignment) (*problem.Duals, error) {
	scale := float64(p.start_scale)
	switch {
	case scale == 0:
		return nil, nil
	case p.batch != 1 || p.rows < 0 || p.cols < 0 || p.rows > math.MaxInt32 || p.cols > math.MaxInt32:
		return nil, argumentError("duals to begin from: expected one matrix")
	case p.start_u == nil && p.rows > 0 || p.start_v == nil && p.cols > 0:
		return nil, argumentError("duals to begin from: expected those of rows and of columns")
	case (scale < 0) != (p.flags&C.COALESCE_MAXIMIZE != 0) || scale-scale != 0:
		return nil, argumentError("duals to begin from: found the scale %v, expected one below 0 where it maximises, above 0 else", scale)
	}
	return &problem.Duals{
		U:     unsafe.Slice((*int64)(unsafe.Pointer(p.start_u)), p.rows),
		V:     unsafe.Slice((*int64)(unsafe.Pointer(p.start_v)), p.cols),
		Scale: scale,
	}, nil
}
