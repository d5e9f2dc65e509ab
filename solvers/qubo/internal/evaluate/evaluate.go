// Package evaluate computes the objectives of many solutions, and the gains of all
// their flips, on a device that holds the whole matrix (qubo/evaluate).
package evaluate

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"coalesce/autotune/tuned"
	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/solvers/cores"
	"coalesce/solvers/qubo/problem"
)

// Coefficient types of the families that hold the whole matrix: the values of
// their parameter weight.
const (
	Int8    = "int8"
	Int32   = "int32"
	Float32 = "float32"
	Float64 = "float64"
)

// A SquareMatrix is the symmetric matrix of a problem by rows, without its diagonal:
// side x side, a weight being unit times its coefficient. Rows and columns
// from n on are zero.
type SquareMatrix struct {
	kind string
	side int // as SideOf
	unit int64
	rows []byte
	diag []byte // int32, or the kind where that is a float
}

// UnitOf is the largest integer that divides every weight, 1 for a problem without weights.
func UnitOf(p *problem.Normal) int64 {
	var g int64
	for _, w := range p.Weight {
		for w = max(w, -w); w != 0; {
			g, w = w, g%w
		}
		if g == 1 {
			break
		}
	}
	return max(1, g)
}

// CheckCoefficients says why coefficients of a kind cannot hold a problem; exactly, except
// that float32 may round where it is asked for.
func CheckCoefficients(p *problem.Normal, kind string, s problem.Spans, unit int64) error {
	largest, limit := s.Weight/unit, int64(math.MaxInt64)
	switch kind {
	case Int8:
		limit = math.MaxInt8
	case Int32:
		limit = math.MaxInt32
	case Float32, Float64:
		if sum := 2 * float64(max(1, p.N)) * float64(s.Delta); kind == Float64 && sum >= 1<<53 {
			return fmt.Errorf("objectives of up to %g, expected less than 2^53 for %s", sum, kind)
		}
		return nil
	default:
		return fmt.Errorf("coefficients of type %q, expected %s, %s, %s or %s", kind, Int8, Int32, Float32, Float64)
	}
	if largest > limit {
		return fmt.Errorf("coefficients of up to %d, expected at most %d for %s", largest, limit, kind)
	}
	if s.Delta >= 1<<30 { // sums are doubled in int32
		return fmt.Errorf("gains of up to %d, expected less than 2^30 for %s", s.Delta, kind)
	}
	return nil
}

// NarrowestKind is the smallest kind that holds a problem exactly.
func NarrowestKind(p *problem.Normal) (string, error) {
	s, unit := p.Spans(), UnitOf(p)
	var err error
	for _, kind := range []string{Int8, Int32, Float64} {
		if err = CheckCoefficients(p, kind, s, unit); err == nil {
			return kind, nil
		}
	}
	return "", err
}

// SideOf is the side of the matrix of a problem of n variables.
func SideOf(n int) int {
	const m = qubo.EvaluateMultiple
	return (max(1, n) + m - 1) / m * m
}

// LayOut lays the matrix of a problem out with coefficients of a kind, on all cores.
func LayOut(p *problem.Normal, kind string) (*SquareMatrix, error) {
	m := &SquareMatrix{kind: kind, side: SideOf(p.N), unit: UnitOf(p)}
	if err := CheckCoefficients(p, kind, p.Spans(), m.unit); err != nil {
		return nil, err
	}
	switch kind {
	case Int8:
		m.rows, m.diag = matrixOf[int8](p, m), diagonalOf[int32](p, m)
	case Int32:
		m.rows, m.diag = matrixOf[int32](p, m), diagonalOf[int32](p, m)
	case Float32:
		m.rows, m.diag = matrixOf[float32](p, m), diagonalOf[float32](p, m)
	case Float64:
		m.rows, m.diag = matrixOf[float64](p, m), diagonalOf[float64](p, m)
	}
	return m, nil
}

type coefficient interface {
	int8 | int32 | float32 | float64
}

func matrixOf[T coefficient](p *problem.Normal, m *SquareMatrix) []byte {
	c := make([]T, m.side*m.side)
	cores.Split(p.N, problem.RowsPerCore(p.N), func(from, to int) {
		for i := from; i < to; i++ {
			col, weight := p.Row(i)
			row := c[i*m.side:]
			for k, j := range col {
				row[j] = T(weight[k] / m.unit)
			}
		}
	})
	return device.Bytes(c)
}

func diagonalOf[T coefficient](p *problem.Normal, m *SquareMatrix) []byte {
	d := make([]T, m.side)
	for i, v := range p.Diag {
		d[i] = T(v)
	}
	return device.Bytes(d)
}

// An Evaluator computes objectives and gains of many solutions on a device.
// Solutions on the device are Side bits, Words() uint64, each, zero from n on.
type Evaluator struct {
	kernels *qubo.EvaluateKernels
	variant *device.Variant
	Side    int
	Unit    int64
	Rows    device.Buffer // the matrix by rows; c is another layout of it for int8, else the same buffer
	c, diag device.Buffer
	scope   device.Scope // holds the buffers and the kernels
	tile    int          // rows of a block
	batch   int          // solutions of a block
	threads int
	shared  int // bytes of a block
}

// Workload is the description by which a variant is chosen: n variables, coefficients of a kind,
// and count solutions at once. For few solutions the smallest tile suits best, as it gives
// the most blocks; such workloads are tuned apart from those of many solutions.
func Workload(kind string, n, count int) tuned.Workload {
	w := tuned.Workload{Fixed: map[string]string{"weight": kind}, Size: n, Prior: tuned.Prior{Why: "large tiles for many solutions"}}
	tile, stages := 128, 2
	if count <= Few {
		tile, stages = 64, 4
		w.Fixed["solutions"], w.Prior.Why = "few", "small tiles, of which there are more, for few solutions"
	}
	if kind != Int8 {
		stages = 3
	}
	w.Prior.Variant = qubo.Evaluate.Variant(fmt.Sprintf("tile=%d,batch=%d,stages=%d,warp=32,weight=%s", tile, tile, stages, kind))
	together := TunedCount(n, count <= Few)
	w.WaveCost = func(v *device.Variant, size, sms int) float64 { // blocks, one a multiprocessor
		return tuned.WaveQuantization(blocks(SideOf(size), together, qubo.Evaluate.Int(v, "tile"), qubo.Evaluate.Int(v, "batch")), sms)
	}
	return w
}

// Few is the largest number of solutions at once that is tuned as few.
const Few = 64

// TunedCount is the number of solutions that the tuner evaluates at once.
func TunedCount(n int, few bool) int {
	if few || n < 1000 {
		return 10
	}
	return 1000
}

// blocks is the size of a grid: a block for each tile rows and batch solutions.
func blocks(side, count, tile, batch int) int { return side / tile * ((count + batch - 1) / batch) }

// CheckFits is an error where a device has too little shared memory for a block of a variant.
func CheckFits(v *device.Variant, facts device.Facts) error {
	_, shared := shape(v)
	return facts.BlockFits(0, int64(shared))
}

// Open loads a variant, whose weight is the kind, and uploads the
// matrix.
func Open(d device.Device, s device.Stream, v *device.Variant, p *problem.Normal) (*Evaluator, error) {
	kind := qubo.Evaluate.Value(v, "weight")
	if err := room(d, kind, p.N); err != nil {
		return nil, err
	}
	m, err := LayOut(p, kind)
	if err != nil {
		return nil, err
	}
	return OpenLaid(d, s, v, m)
}

// room is an error where a device has too little memory for a matrix of n variables and its copy.
func room(d device.Device, kind string, n int) error {
	side := int64(SideOf(n))
	if need, free := 2*side*side*int64(CoefficientBytes(kind)), d.Facts().Free; free > 0 && need > free*9/10 {
		return fmt.Errorf("a matrix of %d x %d %s, %d bytes with its copy, %s has %d free: %w", side, side, kind, need, d.Facts(), free, device.ErrMemory)
	}
	return nil
}

// OpenLaid is Open with a matrix that was laid out before, with coefficients of the variant's kind.
func OpenLaid(d device.Device, s device.Stream, v *device.Variant, m *SquareMatrix) (e *Evaluator, err error) {
	f := &qubo.Evaluate
	if kind := f.Value(v, "weight"); m.kind != kind {
		return nil, fmt.Errorf("a matrix of %s, expected one of %s", m.kind, kind)
	}
	if err := room(d, m.kind, m.side); err != nil {
		return nil, err
	}
	e = &Evaluator{variant: v, Side: m.side, Unit: m.unit, tile: f.Int(v, "tile"), batch: f.Int(v, "batch")}
	e.threads, e.shared = shape(v)
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("evaluate on %s: %w", d.Facts(), err), e.Close())
			e = nil
		}
	}()
	if e.kernels, err = qubo.LoadEvaluate(d, v); err != nil {
		return e, err
	}
	e.scope.CloseLater(e.kernels)
	if err = e.scope.AllocAll(d, device.BufferFor(&e.Rows, int64(len(m.rows))), device.BufferFor(&e.diag, int64(len(m.diag)))); err != nil {
		return e, err
	}
	if err = errors.Join(s.Upload(e.Rows, 0, m.rows), s.Upload(e.diag, 0, m.diag)); err != nil {
		return e, err
	}
	if e.c = e.Rows; m.kind != Int8 {
		return e, nil
	}
	if e.c, err = e.scope.Alloc(d, int64(len(m.rows))); err != nil {
		return e, err
	}
	blocks := min((int64(len(m.rows)/16)+qubo.EvaluatePackers-1)/qubo.EvaluatePackers, 1<<14)
	return e, e.kernels.Pack(s, device.Grid{Blocks: blocks, Threads: qubo.EvaluatePackers}, e.Rows, uint64(m.side), e.c)
}

// shape is a block of a variant: its threads, and its shared memory in
// bytes. A stage has, on tensor cores, a bit of every column for every solution
// beside the coefficients.
func shape(v *device.Variant) (threads, shared int) {
	f := &qubo.Evaluate
	tile, batch, stages, kind := f.Int(v, "tile"), f.Int(v, "batch"), f.Int(v, "stages"), f.Value(v, "weight")
	if kind == Int8 {
		const columns = qubo.EvaluateTensorColumns
		return tile / qubo.EvaluateWarpRows * (batch / f.Int(v, "warp")) * 32, stages * (tile*columns + batch*columns/8)
	}
	const rows = qubo.EvaluateThreadRows // and solutions of a thread
	return tile / rows * (batch / rows), stages * qubo.EvaluateTileColumns * tile * CoefficientBytes(kind)
}

// CoefficientBytes is the size of a coefficient of a kind.
func CoefficientBytes(kind string) int {
	return map[string]int{Int8: 1, Int32: 4, Float32: 4, Float64: 8}[kind]
}

// Words is the length of a solution on the device, in uint64.
func (e *Evaluator) Words() int { return e.Side / 64 }

// GainBytes is the size of one gain.
func (e *Evaluator) GainBytes() int {
	if qubo.Evaluate.Value(e.variant, "weight") == Float64 {
		return 8
	}
	return 4
}

// HasFloats reports whether objectives and gains are floats.
func (e *Evaluator) HasFloats() bool {
	kind := qubo.Evaluate.Value(e.variant, "weight")
	return kind == Float32 || kind == Float64
}

// IsExact reports whether evaluation rounds no sum of p. That is so for every type but float32,
// which is exact while gains, doubled, stay below 2^24.
func (e *Evaluator) IsExact(p *problem.Normal) bool {
	return qubo.Evaluate.Value(e.variant, "weight") != Float32 || p.Spans().Delta < 1<<23
}

func (e *Evaluator) grid(count int) device.Grid {
	return device.Grid{Blocks: int64(blocks(e.Side, count, e.tile, e.batch)), Threads: e.threads, Shared: e.shared}
}

// EnqueueValues enqueues the computation of twice the objective of count solutions at
// x: 8 bytes each, read by Objectives.
func (e *Evaluator) EnqueueValues(s device.Stream, x device.Buffer, count int, twice device.Buffer) error {
	return errors.Join(s.Fill(twice, 0, 8*int64(count), 0), e.AddValues(s, x, count, twice))
}

// AddValues is EnqueueValues for a buffer twice that holds zeros already.
func (e *Evaluator) AddValues(s device.Stream, x device.Buffer, count int, twice device.Buffer) error {
	return e.kernels.Values(s, e.grid(count), e.c, e.diag, x, uint64(e.Side), uint64(count), e.Unit, twice)
}

// EnqueueGains does what EnqueueValues does and enqueues, for every solution, the gains of its Side flips, read by GainAt.
func (e *Evaluator) EnqueueGains(s device.Stream, x device.Buffer, count int, twice, gain device.Buffer) error {
	return errors.Join(s.Fill(twice, 0, 8*int64(count), 0), e.AddGains(s, x, count, twice, gain))
}

// AddGains is EnqueueGains for a buffer twice that holds zeros already.
func (e *Evaluator) AddGains(s device.Stream, x device.Buffer, count int, twice, gain device.Buffer) error {
	return e.kernels.Gains(s, e.grid(count), e.c, e.diag, x, uint64(e.Side), uint64(count), e.Unit, twice, gain)
}

// Objectives converts the numbers that EnqueueValues has written to objectives.
func (e *Evaluator) Objectives(twice []byte) []int64 {
	list := make([]int64, len(twice)/8)
	for k := range list {
		list[k] = e.Objective(twice[8*k:])
	}
	return list
}

// Objective converts the first of the numbers that EnqueueValues has written.
func (e *Evaluator) Objective(twice []byte) int64 {
	if e.HasFloats() {
		return int64(math.Round(*(*float64)(unsafe.Pointer(&twice[0])) / 2))
	}
	return *(*int64)(unsafe.Pointer(&twice[0])) / 2
}

// GainAt is the k-th of the gains that a device wrote.
func (e *Evaluator) GainAt(gains []byte, k int) int64 {
	at := unsafe.Pointer(&gains[k*e.GainBytes()])
	switch qubo.Evaluate.Value(e.variant, "weight") {
	case Float32:
		return int64(*(*float32)(at))
	case Float64:
		return int64(*(*float64)(at))
	}
	return int64(*(*int32)(at))
}

// Close frees the device's memory and unloads the kernels.
func (e *Evaluator) Close() error { return e.scope.Close() }
