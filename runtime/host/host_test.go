package host

import (
	"bytes"
	"errors"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"coalesce/runtime/device"
)

func family(kernels map[string]device.HostKernel) *device.Family {
	return &device.Family{
		Name: "toy/add", Target: device.Host,
		Entries: []device.Entry{
			{Name: "add", Params: []device.Param{{Name: "out", Type: "buffer"}, {Name: "x", Type: "uint64"}}},
			{Name: "absent"},
		},
		Variants: []device.Variant{{Label: "l", Symbol: "toy_add", Kernels: kernels}},
	}
}

func open(t *testing.T, workers int, kernel device.HostKernel) (device.Device, device.Stream, device.Kernel) {
	t.Helper()
	d := Open(workers)
	t.Cleanup(func() { d.Close() })
	f := family(map[string]device.HostKernel{"add": kernel})
	m, err := d.Load(f, &f.Variants[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Kernel("absent"); !errors.Is(err, device.ErrNoEntry) {
		t.Errorf("an entry that the variant lacks: %v, want ErrNoEntry", err)
	}
	k, err := m.Kernel("add")
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	return d, s, k
}

func TestLaunchRunsEveryBlockOnce(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 9} {
		for _, blocks := range []int64{0, 1, 2, 1000} {
			d, s, k := open(t, workers, func(block, blocks int64, args []device.Arg) {
				atomic.AddUint64(&Slice[uint64](args[0])[block], args[1].Bits+uint64(blocks))
			})
			b, err := d.Alloc(8 * 1000)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Launch(k, device.Grid{Blocks: blocks}, device.Ptr(b), device.U64(5)); err != nil {
				t.Fatal(err)
			}
			for i, x := range Slice[uint64](device.Ptr(b)) {
				want := uint64(0)
				if int64(i) < blocks {
					want = 5 + uint64(blocks)
				}
				if x != want {
					t.Fatalf("%d workers, block %d of %d: %d, want %d", workers, i, blocks, x, want)
				}
			}
		}
	}
}

func TestPanicBecomesError(t *testing.T) {
	d, s, k := open(t, 4, func(block, blocks int64, args []device.Arg) {
		if block == 3 {
			_ = Slice[uint64](args[0])[args[1].Bits]
		}
	})
	b, err := d.Alloc(16)
	if err != nil {
		t.Fatal(err)
	}
	err = s.Launch(k, device.Grid{Blocks: 8}, device.Ptr(b), device.U64(2))
	if err == nil || !strings.Contains(err.Error(), "block 3 of 8") || !strings.Contains(err.Error(), "index out of range") {
		t.Errorf("got %v, want the block and the panic", err)
	}
	if s.Sync() == nil {
		t.Error("Sync reported nothing of the failed launch")
	}
	if err := s.Launch(k, device.Grid{Blocks: 8}, device.Ptr(b), device.U64(1)); err != nil {
		t.Errorf("the launch after a panic: %v", err)
	}
	if err := s.Sync(); err != nil {
		t.Errorf("the second Sync: %v", err)
	}
}

func TestLaunchChecksArguments(t *testing.T) {
	d, s, k := open(t, 1, func(block, blocks int64, args []device.Arg) {})
	b, err := d.Alloc(8)
	if err != nil {
		t.Fatal(err)
	}
	freed, err := d.Alloc(8)
	if err != nil {
		t.Fatal(err)
	}
	if err := freed.Free(); err != nil {
		t.Fatal(err)
	}
	if freed.Free() == nil {
		t.Error("a second Free is no error")
	}
	g := device.Grid{Blocks: 1}
	for name, args := range map[string][]device.Arg{
		"too few":            {device.Ptr(b)},
		"too many":           {device.Ptr(b), device.U64(1), device.U64(1)},
		"scalar for buffer":  {device.U64(1), device.U64(1)},
		"buffer for scalar":  {device.Ptr(b), device.Ptr(b)},
		"freed buffer":       {device.Ptr(freed), device.U64(1)},
		"buffer from abroad": {device.Ptr(foreign{}), device.U64(1)},
	} {
		if s.Launch(k, g, args...) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

type foreign struct{}

func (foreign) Len() int64  { return 8 }
func (foreign) Free() error { return nil }

func TestAlloc(t *testing.T) {
	d := Open(1)
	for _, n := range []int64{0, 1, 7, 8, 63, 64, 1000, 1 << 21} {
		b, err := d.Alloc(n)
		if err != nil {
			t.Fatal(err)
		}
		if b.Len() != n {
			t.Errorf("a buffer of %d bytes has %d", n, b.Len())
		}
		if s := Slice[byte](device.Ptr(b)); int64(len(s)) != n {
			t.Errorf("%d bytes seen of %d", len(s), n)
		} else if n > 0 && uintptr(unsafe.Pointer(&s[0]))%Line != 0 {
			t.Errorf("a buffer of %d bytes is not aligned to %d", n, Line)
		}
		if err := b.Free(); err != nil {
			t.Error(err)
		}
	}
	for _, n := range []int64{1 << 60, math.MaxInt64, math.MaxInt64 - 8} {
		if _, err := d.Alloc(n); !errors.Is(err, device.ErrMemory) {
			t.Errorf("%d bytes: %v, want ErrMemory", n, err)
		}
	}
	if _, err := d.Alloc(-1); err == nil {
		t.Error("-1 bytes: no error")
	}
	d.Close()
	if _, err := d.Alloc(8); err == nil {
		t.Error("alloc on a closed device: no error")
	}
}

// TestAllocCountsWhatIsOut asks for pieces that fit one by one, untouched.
func TestAllocCountsWhatIsOut(t *testing.T) {
	d := Open(1).(*hostDevice)
	d.limit = 3 << 20
	a, err := d.Alloc(2 << 20)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Alloc(2 << 20); !errors.Is(err, device.ErrMemory) {
		t.Errorf("4 MiB of 3: %v, want ErrMemory", err)
	}
	a.Free()
	if _, err := d.Alloc(2 << 20); err != nil {
		t.Errorf("after Free: %v", err)
	}
}

func TestCopies(t *testing.T) {
	d, s, _ := open(t, 1, func(block, blocks int64, args []device.Arg) {})
	b, err := d.Alloc(10)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 10)
	for _, err := range []error{
		s.Fill(b, 0, 10, 7), s.Upload(b, 2, []byte("abc")), s.Fill(b, 9, 1, 1),
		device.Stage(s, b, 6, 2, func(room []byte) { copy(room, "de") }), s.Download(got, b, 0),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	if want := []byte("\x07\x07abc\x07de\x07\x01"); !bytes.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for i, err := range []error{
		s.Upload(b, 8, []byte("abc")), s.Upload(b, -1, []byte("abc")), s.Fill(b, 1, 10, 0), s.Fill(b, math.MaxInt64, 1, 0),
		s.Fill(b, 1, math.MaxInt64, 0), s.Download(got, b, 1), s.Download(got, foreign{}, 0),
	} {
		if err == nil {
			t.Errorf("copy %d outside the buffer: no error", i)
		}
	}
}

func TestCopyBetweenDevices(t *testing.T) {
	nothing := func(block, blocks int64, args []device.Arg) {}
	d, s, k := open(t, 2, nothing)
	other, r, _ := open(t, 1, nothing)
	a, err := d.Alloc(8)
	if err != nil {
		t.Fatal(err)
	}
	b, err := other.Alloc(8)
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.Record()
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 8)
	g := device.Grid{Blocks: 2, Cooperative: true}
	for _, err := range []error{
		s.Upload(a, 0, []byte("12345678")), r.Wait(e), r.Fill(b, 0, 8, '.'), r.Copy(b, 3, a, 1, 4), r.Copy(b, 4, b, 3, 4),
		r.Download(got, b, 0), s.Launch(k, g, device.Ptr(a), device.U64(0)),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	if string(got) != "...22345" {
		t.Errorf("got %q", got)
	}
	g.Blocks = 3
	for name, err := range map[string]error{
		"past the source":      s.Copy(b, 0, a, 5, 4),
		"past the destination": s.Copy(b, 5, a, 0, 4),
		"less than nothing":    s.Copy(b, 0, a, 0, -1),
		"neither its own":      s.Copy(b, 0, b, 1, 1),
		"another kind":         s.Copy(foreign{}, 0, a, 0, 1),
		"no event":             s.Wait(nil),
		"blocks that wait":     s.Launch(k, g, device.Ptr(a), device.U64(0)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if n, err := k.BlocksPerSM(1, 0); n != 1 || err != nil {
		t.Errorf("%d blocks a worker, %v", n, err)
	}
}

func TestLoadRefusesOtherTargets(t *testing.T) {
	d := Open(1)
	f := &device.Family{Name: "x/y", Target: device.CUDA, Variants: []device.Variant{{Label: "l"}}}
	if _, err := d.Load(f, &f.Variants[0]); err == nil {
		t.Error("a CUDA variant was loaded")
	}
}

// Facts and class name the vector instructions; those that GODEBUG turns off are none.
func TestInstructions(t *testing.T) {
	f := Open(1).Facts()
	if f.Instructions == "" || f.Capability() != f.Instructions || !strings.Contains(f.Class(), "|"+f.Instructions+"|1sm|") {
		t.Errorf("facts %+v, class %s", f, f.Class())
	}
	if want := os.Getenv("EXPECTED_INSTRUCTIONS"); want != "" && want != f.Instructions {
		t.Errorf("%s with %s, expected %s", f.Instructions, os.Getenv("GODEBUG"), want)
	}
	if runtime.GOARCH != "amd64" || f.Instructions == "none" || os.Getenv("GODEBUG") != "" {
		return
	}
	for off, want := range map[string]string{"cpu.avx512f=off,cpu.avx2=off": "sse4.2", "cpu.avx512f=off,cpu.avx2=off,cpu.sse42=off": "none"} {
		again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestInstructions$")
		again.Env = append(os.Environ(), "GODEBUG="+off, "EXPECTED_INSTRUCTIONS="+want)
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}
}

func TestFacts(t *testing.T) {
	f := Open(0).Facts()
	if f.Kind != device.Host || f.SMs != runtime.GOMAXPROCS(0) || f.Name == "" {
		t.Errorf("facts %+v", f)
	}
	if runtime.GOOS == "linux" && (f.Memory <= 0 || f.Free <= 0 || f.Free > f.Memory) {
		t.Errorf("memory %d, free %d", f.Memory, f.Free)
	}
	if got := cpuName("processor\t: 0\nmodel name\t: Some  CPU @ 2GHz\n"); got != "Some CPU @ 2GHz" {
		t.Errorf("cpuName: %q", got)
	}
	if got := cpuName("processor\t: 0\nBogoMIPS: 50\n"); got != "" {
		t.Errorf("cpuName of an arm64 file: %q", got)
	}
}

func TestEvents(t *testing.T) {
	_, s, _ := open(t, 1, func(block, blocks int64, args []device.Arg) {})
	a, err := s.Record()
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Record()
	if err != nil {
		t.Fatal(err)
	}
	if d, err := b.Since(a); err != nil || d < 0 {
		t.Errorf("Since: %v, %v", d, err)
	}
}

// A fill covers its range and nothing beside it, whatever its length.
func TestFill(t *testing.T) {
	d, s, _ := open(t, 1, func(block, blocks int64, args []device.Arg) {})
	for _, n := range []int64{0, 1, 4095, 4096, 4097, 3*4096 + 5} {
		for _, value := range []byte{0, 7} {
			b, err := d.Alloc(n + 2)
			got := make([]byte, n+2)
			if err := errors.Join(err, s.Fill(b, 0, n+2, 1), s.Fill(b, 1, n, value), s.Download(got, b, 0), b.Free()); err != nil {
				t.Fatal(err)
			}
			if got[0] != 1 || got[n+1] != 1 || bytes.Count(got[1:n+1], []byte{value}) != int(n) {
				t.Errorf("%d bytes of %d: found others among or beside them", n, value)
			}
		}
	}
}
