package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"

	"coalesce/autotune/subject"
	"coalesce/runtime/device"
)

// Poison is the byte that outputs and scratch buffers are filled with before a run.
const Poison = 0xa5

// A Binder allocates an instance's buffers, each in a role: input, output, both, or scratch. It keeps the first error, so
// Bind checks none.
type Binder struct {
	Variant // whose parameters decide sizes and grids

	device  device.Device
	scope   device.Scope
	buffers []buffer
	moved   int64 // bytes of inputs and outputs
	err     error
}

// Facts are those of the device.
func (b *Binder) Facts() device.Facts { return b.device.Facts() }

// Int is an integer parameter of the variant.
func (b *Binder) Int(param string) int {
	if err := b.check(param); err != nil {
		b.fail(err)
		return 1
	}
	return b.Variant.Int(param)
}

// Text is a parameter of the variant as go.generate has it.
func (b *Binder) Text(param string) string {
	if err := b.check(param); err != nil {
		b.fail(err)
		return ""
	}
	return b.Variant.Text(param)
}

// fail keeps the first error.
func (b *Binder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// Grid has a block for every perBlock of n items, at least one and at most 2^31-1, of so many threads.
func Grid(n, perBlock, threads int) device.Grid {
	return device.Grid{Blocks: min(max(1, (int64(n)+int64(perBlock)-1)/int64(perBlock)), math.MaxInt32), Threads: threads}
}

// A buffer is device memory with what it is for.
type buffer struct {
	name   string
	memory device.Buffer
	data   []byte             // uploaded before each run; nil: poisoned
	intact bool               // an input, which a run must not change
	check  func([]byte) error // of what a run left; nil: nothing is expected
}

// add allocates a buffer.
func (b *Binder) add(x buffer, size int) device.Buffer {
	if slices.ContainsFunc(b.buffers, func(have buffer) bool { return have.name == x.name }) {
		b.fail(fmt.Errorf("the buffer %s twice, expected a name of its own for each", x.name))
	}
	if b.err == nil {
		x.memory, b.err = b.scope.Alloc(b.device, int64(size))
	}
	if b.err != nil {
		return nil
	}
	b.buffers = append(b.buffers, x)
	return x.memory
}

// Scratch is memory of n elements that launches write before they read it.
func Scratch[T any](b *Binder, name string, n int) device.Array[T] {
	return device.Array[T]{Memory: b.add(buffer{name: name}, n*sizeOf[T]())}
}

// ScratchValues is Scratch of n numbers of the type that the variant's parameter value names.
func ScratchValues(b *Binder, name string, n int) device.Values {
	return device.Values{Memory: b.add(buffer{name: name}, n*b.Number().Size())}
}

// Input is a buffer that launches read: a run that changes it fails its check.
func Input[T any](b *Binder, name string, data []T) device.Array[T] {
	return device.Array[T]{Memory: b.input(name, device.Bytes(data))}
}

// InputValues is Input of numbers, converted to the type that the variant's parameter value names: those that the type cannot
// hold are rounded.
func InputValues(b *Binder, name string, data []int64) device.Values {
	return device.Values{Memory: b.input(name, b.values(data))}
}

func (b *Binder) input(name string, raw []byte) device.Buffer {
	b.moved += int64(len(raw))
	return b.add(buffer{name: name, data: raw, intact: true}, len(raw))
}

// InOut is a buffer that launches read and write: it has data before each run.
func InOut[T any](b *Binder, name string, data []T, check func(got []T) error) device.Array[T] {
	b.needsCheck(name, check == nil)
	raw := bytes.Clone(device.Bytes(data))
	b.moved += 2 * int64(len(raw))
	return device.Array[T]{Memory: b.add(buffer{name: name, data: raw, check: typed(len(data), check)}, len(raw))}
}

// Output is a buffer of n elements that launches write. check returns an error where they are wrong.
func Output[T any](b *Binder, name string, n int, check func(got []T) error) device.Array[T] {
	b.needsCheck(name, check == nil)
	size := n * sizeOf[T]()
	b.moved += int64(size)
	return device.Array[T]{Memory: b.add(buffer{name: name, check: typed(n, check)}, size)}
}

// needsCheck fails where an output has no check.
func (b *Binder) needsCheck(name string, none bool) {
	if none {
		b.fail(fmt.Errorf("the output %s has no check, expected Equal, Near or a function", name))
	}
}

// sizeOf is the number of bytes of an element.
func sizeOf[T any]() int { return len(device.Bytes(make([]T, 1))) }

// typed is a check of elements as one of bytes.
func typed[T any](n int, check func([]T) error) func([]byte) error {
	if check == nil {
		return nil
	}
	return func(raw []byte) error {
		got := make([]T, n)
		copy(device.Bytes(got), raw)
		return check(got)
	}
}

// values converts integers to the type that the variant's parameter value names.
func (b *Binder) values(data []int64) []byte {
	switch b.Number() {
	case device.Int16:
		return converted[int16](data)
	case device.Int32:
		return converted[int32](data)
	case device.Float32:
		return converted[float32](data)
	case device.Float64:
		return converted[float64](data)
	}
	return device.Bytes(data)
}

func converted[T device.Number](data []int64) []byte {
	out := make([]T, len(data))
	for i, x := range data {
		out[i] = T(x)
	}
	return device.Bytes(out)
}

// OutputValues is Output of n numbers of the type that the variant's parameter value names, checked as float64: int64
// beyond 2^53 are rounded.
func OutputValues(b *Binder, name string, n int, check func(got []float64) error) device.Values {
	switch b.Number() {
	case device.Int16:
		return outputAs[int16](b, name, n, check)
	case device.Int32:
		return outputAs[int32](b, name, n, check)
	case device.Int64:
		return outputAs[int64](b, name, n, check)
	case device.Float32:
		return outputAs[float32](b, name, n, check)
	}
	return device.Values(Output(b, name, n, check))
}

func outputAs[T device.Number](b *Binder, name string, n int, check func([]float64) error) device.Values {
	b.needsCheck(name, check == nil)
	return device.Values(Output(b, name, n, func(got []T) error {
		wide := make([]float64, len(got))
		for i, x := range got {
			wide[i] = float64(x)
		}
		return check(wide)
	}))
}

// Equal checks that an output is what the reference returns, element by element.
func Equal[T comparable](reference func() []T) func([]T) error {
	return compared(reference, func(got, want T) bool { return got == want })
}

// AllClose checks that each element differs from the reference's by at most tolerance times the larger magnitude of the
// element expected and 1. NaN equals NaN alone.
func AllClose[T float32 | float64](tolerance float64, reference func() []T) func([]T) error {
	return compared(reference, func(got, want T) bool {
		g, w := float64(got), float64(want)
		if g == w || math.IsNaN(g) && math.IsNaN(w) {
			return true
		}
		return math.Abs(g-w) <= tolerance*max(1, math.Abs(w)) && !math.IsInf(w, 0)
	})
}

// compared is a check against a reference, which runs once.
func compared[T any](reference func() []T, same func(got, want T) bool) func([]T) error {
	var want []T
	return func(got []T) error {
		if want == nil {
			want = reference()
		}
		if len(got) != len(want) {
			return fmt.Errorf("%d elements, the reference has %d", len(got), len(want))
		}
		for i := range got {
			if !same(got[i], want[i]) {
				return fmt.Errorf("element %d is %v, expected %v", i, got[i], want[i])
			}
		}
		return nil
	}
}

// A job is an instance with its buffers and launches.
type job struct {
	buffers []buffer
	scope   *device.Scope
	run     Launches
	work    float64
	needs   subject.Demand
}

// Reset uploads what runs read, and poisons the rest.
func (j *job) Reset(s device.Stream) error {
	var errs []error
	for _, x := range j.buffers {
		switch {
		case x.memory.Len() == 0:
		case x.data != nil:
			errs = append(errs, s.Upload(x.memory, 0, x.data))
		default:
			errs = append(errs, s.Fill(x.memory, 0, x.memory.Len(), Poison))
		}
	}
	return errors.Join(errs...)
}

// Run enqueues the launches.
func (j *job) Run(s device.Stream) error { return j.run(s) }

// Check downloads the outputs, and the inputs, which have to be as they were.
func (j *job) Check(s device.Stream) error {
	for _, x := range j.buffers {
		if x.check == nil && !x.intact {
			continue
		}
		got := make([]byte, x.memory.Len())
		if len(got) > 0 {
			if err := s.Download(got, x.memory, 0); err != nil {
				return err
			}
		}
		if x.intact && !bytes.Equal(got, x.data) {
			return fmt.Errorf("the run changed its input %s", x.name)
		}
		if x.check == nil {
			continue
		}
		if err := x.check(got); err != nil {
			return fmt.Errorf("output %s: %w", x.name, err)
		}
	}
	return nil
}

// Work is the count of Family.Operations, or of Family.Bytes.
func (j *job) Work() float64 { return j.work }

// Demand is what the family counts.
func (j *job) Demand() subject.Demand { return j.needs }

// Close frees the buffers.
func (j *job) Close() error { return j.scope.Close() }
