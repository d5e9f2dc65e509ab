package batch

import (
	"errors"
	"fmt"
	"math"

	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/problem"
)

// A RangeFinder finds the range of costs that are on a device, with the kernels of
// assignment/fit.
type RangeFinder struct {
	variant *device.Variant
	kernels *assignment.FitKernels
	spans   device.Buffer
	indices device.Buffer // of costs to pick
	picked  device.Buffer // the costs there
	room    int64         // costs that both hold
	scope   device.Scope
}

// A Span is the range of some costs, and the scale that follows from it.
type Span struct {
	least, largest int64 // of the allowed ones: integers, or the bits of float64
	bad            bool  // some costs cannot be solved with
	scale          float64
}

// The kernels gather what those of assignment/batch found.
var _ = [1]struct{}{}[assignment.FitFound-assignment.BatchWordWords]

// OpenFit loads the kernels for costs of a type.
func OpenFit(d device.Device, value problem.Value) (*RangeFinder, error) {
	f := &assignment.Fit
	for i := range f.Variants {
		v := &f.Variants[i]
		if f.Value(v, "value") != string(value) {
			continue
		}
		kernels, err := assignment.LoadFit(d, v)
		if err != nil {
			return nil, err
		}
		fit := &RangeFinder{variant: v, kernels: kernels}
		fit.scope.CloseLater(kernels)
		return fit, nil
	}
	return nil, fmt.Errorf("assignment/fit has no variant for costs of type %q", value)
}

// Close gives back the memory and the module.
func (f *RangeFinder) Close() error { return f.scope.Close() }

// launch scans count shares of the costs, each of length costs. The results of two neighbouring
// shares begin step words apart.
func (f *RangeFinder) launch(s device.Stream, p *problem.Normal, costs device.Buffer, count, length, all int64, problems, found device.Buffer, step int64) error {
	const warp = 32
	limit := int64(assignment.Fit.Int(f.variant, "block"))
	g := device.Grid{Blocks: count, Threads: int(min((length/assignment.FitFlight+warp-1)/warp*warp, limit))}
	g.Threads = max(g.Threads, warp)
	maximize := uint64(0)
	if p.Instance.Maximize {
		maximize = 1
	}
	return f.kernels.Range(s, g, costs, uint64(all), uint64(length), uint64(p.Rows), problem.MaxScaled(p.Rows), maximize, problems, found, uint64(step))
}

// FindRange sets the range and the scale of p, whose costs are in a buffer of the device. Each of many
// blocks scans a share of them.
func (f *RangeFinder) FindRange(d device.Device, s device.Stream, p *problem.Normal, costs device.Buffer) error {
	const share, limit = 1 << 14, 1 << 10 // costs of a block, blocks
	all := int64(p.Rows) * int64(p.Cols)
	blocks := max(1, min(all/share, limit))
	length := (all + blocks - 1) / blocks
	blocks = (all + length - 1) / length
	back := make([]byte, 8*assignment.FitWordWords*limit)
	if f.spans == nil {
		if err := f.scope.AllocAll(d, device.BufferFor(&f.spans, int64(len(back)))); err != nil {
			return err
		}
	}
	back = back[:8*assignment.FitWordWords*blocks]
	if err := errors.Join(f.launch(s, p, costs, blocks, length, all, nil, f.spans, assignment.FitWordWords), s.Download(back, f.spans, 0)); err != nil {
		return err
	}
	words := wordsOf(back)
	whole := spanOf(words)
	for k := range blocks {
		whole.join(spanOf(words[k*assignment.FitWordWords:]), p.Instance.Type)
	}
	return whole.fit(p)
}

// Pick copies the costs at some indices of a buffer to the host, as the machine holds them, into out. It keeps its memory on the device.
func (f *RangeFinder) Pick(d device.Device, s device.Stream, costs device.Buffer, indices []uint64, out []byte) error {
	if len(indices) == 0 {
		return nil
	}
	if int64(len(indices)) > f.room {
		f.room = int64(len(indices))
		if err := f.scope.AllocAll(d, device.BufferFor(&f.indices, 8*f.room), device.BufferFor(&f.picked, 8*f.room)); err != nil {
			f.room = 0
			return err
		}
	}
	const threads = 256
	g := device.Grid{Blocks: int64(len(indices)+threads-1) / threads, Threads: threads}
	return errors.Join(s.Upload(f.indices, 0, device.Bytes(indices)), f.kernels.Pick(s, g, costs, f.indices, uint64(len(indices)), f.picked), s.Download(out, f.picked, 0))
}

func spanOf(words []int64) Span {
	return Span{words[assignment.FitWordLeast], words[assignment.FitWordMost], words[assignment.FitWordBad] != 0,
		math.Float64frombits(uint64(words[assignment.FitWordScale]))}
}

// join makes a span that of two shares.
func (s *Span) join(t Span, value problem.Value) {
	s.bad = s.bad || t.bad
	before := func(x, y int64) bool { return floatOf(x) < floatOf(y) }
	if value.Integer() {
		before = func(x, y int64) bool { return x < y }
	}
	if before(t.least, s.least) {
		s.least = t.least
	}
	if before(s.largest, t.largest) {
		s.largest = t.largest
	}
}

func floatOf(word int64) float64 { return math.Float64frombits(uint64(word)) }

// fit sets the range and scale of p; an ErrCost says that some cost cannot be solved with.
func (s Span) fit(p *problem.Normal) error {
	switch {
	case s.bad && p.Instance.Type.Integer():
		return fmt.Errorf("%w: costs from %d to %d: expected at most %d in magnitude", problem.ErrCost, s.least, s.largest, problem.MaxScaled(p.Rows))
	case s.bad:
		return fmt.Errorf("%w: found one that is not a number, or an infinity that forbids nothing", problem.ErrCost)
	case p.Instance.Type.Integer():
		return p.FitIntegers(s.least, s.largest)
	}
	return p.FitFloats(floatOf(s.least), floatOf(s.largest), math.MinInt32)
}

// fittedState is what an engine has where only the device holds the costs: the device computes their
// scales, and the host gets those parts of the answers that the caller wants.
type fittedState struct {
	*RangeFinder
	p      *problem.Normal // each problem, without its range and scale
	duals  bool            // whether the caller wants them
	wanted device.Buffer   // the parts of the answers that the caller wants
	step   int64           // words of a problem in wanted
}

// OpenFitted is Open for count instances of p's shape, one after the other, whose ranges and
// scales are not known yet. duals says whether the caller wants duals beside columns.
func OpenFitted(d device.Device, v *device.Variant, p *problem.Normal, count int, checked, duals bool) (_ *Engine, err error) {
	rows, cols := p.Instance.Rows, p.Instance.Cols
	if p.Transposed {
		rows, cols = cols, rows
	}
	shapes := make([]DenseLayout, count)
	for k := range shapes {
		shapes[k] = DenseLayout{First: int64(k) * int64(rows) * int64(cols), Stride: int64(cols), Rows: rows, Cols: cols}
	}
	b, err := Open(d, v, shapes, checked)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	f := &fittedState{p: p, duals: duals, step: int64(assignment.FitWordWords + assignment.BatchCountCounts + assignment.BatchWordWords + (p.Rows+1)/2)}
	if f.RangeFinder, err = OpenFit(d, p.Instance.Type); err != nil {
		return nil, err
	}
	b.scope.CloseLater(f.RangeFinder)
	if duals {
		f.step += int64(p.Rows + p.Cols)
	}
	b.fitted, b.back = f, make([]byte, 8*f.step*int64(count))
	return b, b.scope.AllocAll(d, device.BufferFor(&f.wanted, int64(len(b.back))))
}

// computeScales finds the scales of all problems.
func (f *fittedState) computeScales(s device.Stream, b *Engine, costs device.Buffer) error {
	each := int64(f.p.Rows) * int64(f.p.Cols)
	return f.launch(s, f.p, costs, b.grid.Blocks, each, b.grid.Blocks*each, b.table, f.wanted, f.step)
}

// downloadAnswers downloads the parts of the answers that the caller wants.
func (f *fittedState) downloadAnswers(s device.Stream, b *Engine) error {
	checks, duals := uint64(0), uint64(0)
	if b.checked {
		checks = uint64(b.words)
	}
	if f.duals {
		duals = 1
	}
	g := device.Grid{Blocks: b.grid.Blocks, Threads: 256}
	if err := f.kernels.Gather(s, g, b.table, b.Answers, checks, duals, f.wanted, uint64(f.step)); err != nil {
		return err
	}
	return s.Download(b.back, f.wanted, 0)
}

// SetFittedRange sets the range and scale of p, problem k of an engine of OpenFitted, which the
// device has to have found too. An ErrCost says that some cost cannot be solved with.
func (b *Engine) SetFittedRange(k int, p *problem.Normal) error {
	span := spanOf(wordsOf(b.back)[int64(k)*b.fitted.step:])
	err := span.fit(p)
	if err == nil && p.Scale != span.scale {
		err = fmt.Errorf("%w: the device scales costs by %v, expected %v", problem.ErrCheck, span.scale, p.Scale)
	}
	return err
}
