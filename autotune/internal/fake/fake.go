// Package fake is a device and a subject for tests of the tuner: variants that
// take known times, and planted ones that answer wrongly, crash or hang.
package fake

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"coalesce/autotune/subject"
	"coalesce/runtime/device"
)

// A Clock is moved by what runs on the device.
type Clock struct{ T time.Time }

// Now reads the clock.
func (c *Clock) Now() time.Time { return c.T }

// Device runs host kernels at once and counts their time on Clock, which may be
// nil for real time.
type Device struct {
	F       device.Facts
	Clock   *Clock
	Fills   int // calls of Fill
	Buffers int // not freed
	// Note is called with each "fill" and its bytes, and each "launch"; may be nil.
	Note func(what string, bytes int64)
	// Hollow devices load every variant, whose kernels do nothing.
	Hollow bool
}

// Facts returns F.
func (d *Device) Facts() device.Facts { return d.F }

// A buffer has its bytes from the first that is no fill of the whole: a meter fills megabytes before
// each sample, and reads none.
type buffer struct {
	d    *Device
	n    int64
	all  byte // while data is nil, every byte is this one
	data []byte
}

func (b *buffer) Len() int64  { return b.n }
func (b *buffer) Free() error { b.d.Buffers--; return nil }

// bytes are what the buffer holds.
func (b *buffer) bytes() []byte {
	if b.data == nil {
		b.data = bytes.Repeat([]byte{b.all}, int(b.n))
	}
	return b.data
}

// Alloc fails beyond Facts.Memory, when that is set.
func (d *Device) Alloc(n int64) (device.Buffer, error) {
	if d.F.Memory > 0 && n > d.F.Memory {
		return nil, fmt.Errorf("%d bytes: %w", n, device.ErrMemory)
	}
	d.Buffers++
	return &buffer{d: d, n: n}, nil
}

type module struct {
	v      *device.Variant
	hollow bool
}
type kernel struct {
	run   device.HostKernel
	fault bool // a launch fails
}

func (k kernel) Resources() device.Resources       { return device.Resources{} }
func (k kernel) BlocksPerSM(_, _ int) (int, error) { return 1, nil }
func (m module) Close() error                      { return nil }
func (m module) Kernel(entry string) (device.Kernel, error) {
	if m.hollow {
		return kernel{run: func(int64, int64, []device.Arg) {}}, nil
	}
	if k := m.v.Kernels[entry]; k != nil {
		return kernel{k, strings.Contains(m.v.Label, "plant=fault")}, nil
	}
	return nil, fmt.Errorf("%s: %w", entry, device.ErrNoEntry)
}

// Load refuses a variant with plant=compile.
func (d *Device) Load(f *device.Family, v *device.Variant) (device.Module, error) {
	if f.Value(v, "plant") == "compile" {
		return nil, errors.New("error: expected a ';'")
	}
	return module{v, d.Hollow}, nil
}

// NewStream returns a stream that does everything at once.
func (d *Device) NewStream() (device.Stream, error) { return &stream{d}, nil }

// Close does nothing.
func (d *Device) Close() error { return nil }

type stream struct{ d *Device }

func (s *stream) now() time.Time {
	if s.d.Clock != nil {
		return s.d.Clock.T
	}
	return time.Now()
}

func (s *stream) Upload(dst device.Buffer, off int64, src []byte) error {
	copy(dst.(*buffer).bytes()[off:], src)
	return nil
}

func (s *stream) Download(dst []byte, src device.Buffer, off int64) error {
	copy(dst, src.(*buffer).bytes()[off:])
	return nil
}

func (s *stream) Fill(dst device.Buffer, off, n int64, value byte) error {
	s.d.Fills++
	if b := dst.(*buffer); b.data == nil && n == b.n {
		b.all = value
	} else {
		part := b.bytes()[off : off+n]
		for k := range part {
			part[k] = value
		}
	}
	if s.d.Note != nil {
		s.d.Note("fill", n)
	}
	return nil
}

func (s *stream) Copy(dst device.Buffer, dstOff int64, src device.Buffer, srcOff, n int64) error {
	copy(dst.(*buffer).bytes()[dstOff:dstOff+n], src.(*buffer).bytes()[srcOff:srcOff+n])
	return nil
}

func (s *stream) Launch(k device.Kernel, g device.Grid, args ...device.Arg) error {
	if s.d.Note != nil {
		s.d.Note("launch", 0)
	}
	if k.(kernel).fault {
		return errors.New("planted fault: misaligned address")
	}
	for i := range g.Blocks {
		k.(kernel).run(i, g.Blocks, args)
	}
	return nil
}

func (s *stream) Record() (device.Event, error) { return event(s.now()), nil }
func (s *stream) Wait(device.Event) error       { return nil }
func (s *stream) Sync() error                   { return nil }
func (s *stream) Close() error                  { return nil }

type event time.Time

func (e event) Since(start device.Event) (time.Duration, error) {
	return time.Time(e).Sub(time.Time(start.(event))), nil
}

// Subject adds up the numbers below an instance's size. Its family, toy/sum, has
// a variant for each of Plants: "" is right, "wrong" is off by one where the
// size is odd, "late" is wrong from the fifth run on, "big" beyond Large, "crash" panics, "exit"
// leaves the process, "hang" does not end, "compile" does not load,
// a launch of "fault" fails, "skipped" writes nothing from the second run on, "overrun"
// writes behind its output too, where there is memory, and "underrun" before it, "learnt" is
// right for the cases and for seeds 0 and 1 alone, "hungry" takes 4 MiB, "starved" leaves the process as
// Go does for lack of memory, and "killed" as Linux has it leave.
type Subject struct {
	Plants []string
	Cost   func(v, size int) time.Duration // of variant v; default none
	Clock  *Clock                          // moved by Cost; where nil, a run takes that time
	runs   []int
	family *device.Family
}

// Family builds the table once.
func (s *Subject) Family() *device.Family {
	if s.family != nil {
		return s.family
	}
	s.runs = make([]int, len(s.Plants))
	f := &device.Family{Name: "toy/sum", Target: device.Host, Hash: 1, Params: []string{"v", "plant", "value"}}
	for i, plant := range s.Plants {
		f.Variants = append(f.Variants, device.Variant{
			Label:   fmt.Sprintf("v=%d,plant=%s,value=int64", i, plant),
			Values:  []string{fmt.Sprint(i), plant, "int64"},
			Hash:    uint64(1000 + i),
			Safe:    i == 0,
			Kernels: map[string]device.HostKernel{"sum": s.kernel(i, plant)},
		})
	}
	s.family = f
	return f
}

func (s *Subject) kernel(i int, plant string) device.HostKernel {
	return func(_, _ int64, args []device.Arg) {
		out, n := args[0].Buffer.(*buffer).bytes(), args[1].Bits
		s.runs[i]++
		if s.Cost != nil {
			switch c := s.Cost(i, int(n)); {
			case s.Clock != nil:
				s.Clock.T = s.Clock.T.Add(c)
			case c >= time.Millisecond:
				time.Sleep(c)
			default: // less than what a sleep can be late
				for begin := time.Now(); time.Since(begin) < c; {
				}
			}
		}
		sum := n * (n - 1) / 2
		switch {
		case plant == "crash":
			panic("planted crash: illegal memory access")
		case plant == "exit":
			fmt.Fprintln(os.Stderr, "planted exit")
			os.Exit(9)
		case plant == "starved":
			fmt.Fprintln(os.Stderr, "runtime: out of memory: cannot allocate 67108864-byte block (74973184 in use)\nfatal error: out of memory")
			os.Exit(2)
		case plant == "killed":
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				self.Kill()
			}
			time.Sleep(time.Hour)
		case plant == "hang":
			for {
				time.Sleep(time.Hour)
			}
		case plant == "learnt" && args[2].Bits > 1, plant == "wrong" && n%2 == 1, plant == "late" && s.runs[i] >= 5, plant == "big" && n > Large:
			sum++
		case plant == "skipped" && s.runs[i] > 1:
			return
		}
		at := args[0].Bits
		binary.LittleEndian.PutUint64(out[at:], sum)
		if plant == "overrun" && len(out) > int(at)+8 {
			out[at+8]++
		}
		if plant == "underrun" && at > 0 {
			out[at-1]++
		}
	}
}

// Workloads is value=int64 alone.
func (s *Subject) Workloads() []map[string]string { return []map[string]string{{"value": "int64"}} }

// Sizes are 10, 100 and 1000.
func (s *Subject) Sizes(device.Facts) []int { return []int{10, 100, 1000} }

// Feasible refuses plant=infeasible.
func (s *Subject) Feasible(v *device.Variant, _ device.Facts, size int) error {
	if strings.Contains(v.Label, "plant=infeasible") {
		return errors.New("planted constraint")
	}
	return nil
}

// An instance of more than Large numbers is held against its first answer.
type instance struct {
	n    int
	seed uint64
	want *uint64
}

func (i *instance) Size() int { return i.n }

// Large is the largest size for which Check knows the answer itself.
const Large = 500

// Cases are sums of an even and an odd number of numbers.
func (s *Subject) Cases(map[string]string) ([]subject.Case, error) {
	return []subject.Case{{Name: "four", Instance: &instance{n: 4}}, {Name: "seven", Instance: &instance{n: 7}}}, nil
}

// Instance is its size.
func (s *Subject) Instance(_ map[string]string, size int, seed uint64) (subject.Instance, error) {
	return &instance{n: size, seed: seed}, nil
}

// Open loads a variant.
func (s *Subject) Open(d device.Device, v *device.Variant) (subject.Runner, error) {
	m, err := d.Load(s.Family(), v)
	if err != nil {
		return nil, err
	}
	k, err := m.Kernel("sum")
	if err != nil {
		return nil, err
	}
	return runner{d, k, s.Family().Value(v, "plant") == "hungry"}, nil
}

type runner struct {
	d      device.Device
	k      device.Kernel
	hungry bool
}

func (r runner) Close() error { return nil }
func (r runner) Prepare(inst subject.Instance) (subject.Job, error) {
	if r.hungry {
		more, err := r.d.Alloc(4 << 20)
		if err != nil {
			return nil, err
		}
		more.Free()
	}
	out, err := r.d.Alloc(8)
	if err != nil {
		return nil, err
	}
	return &job{r, out, inst.(*instance), inst.Size()}, nil
}

type job struct {
	r   runner
	out device.Buffer
	of  *instance
	n   int
}

func (j *job) Reset(s device.Stream) error { return s.Fill(j.out, 0, 8, 0xa5) }
func (j *job) Run(s device.Stream) error {
	return s.Launch(j.r.k, device.Grid{Blocks: 1, Threads: 1}, device.Ptr(j.out), device.U64(uint64(j.n)), device.U64(j.of.seed))
}
func (j *job) Check(s device.Stream) error {
	var b [8]byte
	if err := s.Download(b[:], j.out, 0); err != nil {
		return err
	}
	want := uint64(0)
	for i := range j.n {
		want += uint64(i)
	}
	got := binary.LittleEndian.Uint64(b[:])
	if j.n > Large {
		if j.of.want == nil {
			j.of.want = &got
		}
		want = *j.of.want
	}
	if got != want {
		return fmt.Errorf("sum below %d is %d, expected %d", j.n, got, want)
	}
	return nil
}
func (j *job) Work() float64 { return float64(j.n) }
func (j *job) Close() error  { return j.out.Free() }
