package emulated

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"coalesce/runtime/device"
)

const prelude = "#ifndef COALESCE_EMULATED\n#error not emulated\n#endif\n#define FULL 0xffffffffu\n"

var headerFiles = fstest.MapFS{"cuda/prelude.cuh": {Data: []byte(prelude)}}

// family makes a family of one variant "k" with one entry "run" of two
// parameters: int* p and long long n.
func family(body string) *device.Family {
	text := "#include \"cuda/prelude.cuh\"\n" + body + "\nextern \"C\" __device__ unsigned long long k_hash = 0x12ull;\n"
	return &device.Family{
		Name: "toy/k", Target: device.CUDA,
		Entries: []device.Entry{
			{Name: "run", Params: []device.Param{{Name: "p", Type: "buffer"}, {Name: "n", Type: "int64"}}},
			{Name: "other"},
		},
		Variants: []device.Variant{{Label: "k", Symbol: "k", Hash: 0x12}},
		Source: fstest.MapFS{
			"k/pack_000.cu": {Data: []byte("#include \"k.cu\"\n")},
			"k/k.cu":        {Data: []byte(text)},
		},
		Packs: []device.Pack{{File: "k/pack_000.cu"}},
	}
}

func openTest(t *testing.T, o Options) device.Device {
	t.Helper()
	o.Files = headerFiles
	d, err := Open(o)
	if errors.Is(err, ErrNoCompiler) && os.Getenv("COALESCE_REQUIRE_EMULATED") != "1" {
		t.Skipf("the emulated device needs a C++ compiler: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// launch runs the entry over a buffer of the ints given and returns them.
func launch(t *testing.T, d device.Device, body string, g device.Grid, data []int32) ([]int32, error) {
	t.Helper()
	f := family(body)
	m, err := d.Load(f, &f.Variants[0])
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("run")
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.Alloc(int64(4 * len(data)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	raw := make([]byte, 4*len(data))
	for i, v := range data {
		binary.LittleEndian.PutUint32(raw[4*i:], uint32(v))
	}
	if err := s.Upload(b, 0, raw); err != nil {
		t.Fatal(err)
	}
	if err := s.Launch(k, g, device.Ptr(b), device.I64(int64(len(data)))); err != nil {
		return nil, err
	}
	if err := s.Download(raw, b, 0); err != nil {
		t.Fatal(err)
	}
	out := make([]int32, len(data))
	for i := range out {
		out[i] = int32(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return out, m.Close()
}

const reduction = `
namespace k {
__device__ __forceinline__ int warp_sum(int v) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(FULL, v, d);
  return v;
}
}
extern "C" __global__ void __launch_bounds__(256) k_run(int* p, long long n) {
  __shared__ int part[8];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = k::warp_sum(1 + i % 3);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  SYNC
  if (threadIdx.x < 32) {
    v = k::warp_sum(threadIdx.x < 8 ? part[threadIdx.x] : 0);
    if (threadIdx.x == 0) p[blockIdx.x] = v;
  }
}`

func reduce(sync string) string { return strings.Replace(reduction, "SYNC", sync, 1) }

func wantReduction(got []int32) bool {
	for b, v := range got {
		want := int32(0)
		for i := range 256 {
			want += 1 + int32((b*256+i)%3)
		}
		if v != want {
			return false
		}
	}
	return true
}

func TestReduction(t *testing.T) {
	for _, o := range []Options{{}, {Sanitize: true, Seed: 7}, {Sanitize: true, Whole: true}} {
		d := openTest(t, o)
		got, err := launch(t, d, reduce("__syncthreads();"), device.Grid{Blocks: 64, Threads: 256}, make([]int32, 64))
		if err != nil {
			t.Fatal(err)
		}
		if !wantReduction(got) {
			t.Errorf("%+v: wrong sums %v", o, got)
		}
	}
}

func TestMissingBarrierShows(t *testing.T) {
	d := openTest(t, Options{})
	got, err := launch(t, d, reduce(""), device.Grid{Blocks: 64, Threads: 256}, make([]int32, 64))
	if err != nil {
		t.Fatal(err)
	}
	if wantReduction(got) {
		t.Error("the sums are right although the barrier is missing")
	}
}

func TestSeedDecides(t *testing.T) {
	run := func(seed uint64) string {
		d := openTest(t, Options{Seed: seed})
		got, err := launch(t, d, `extern "C" __global__ void k_run(int* p, long long n) {
			p[atomicAdd(p + n - 1, 1)] = threadIdx.x; }`, device.Grid{Blocks: 1, Threads: 64}, make([]int32, 65))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(got)
	}
	if first, again := run(1), run(1); first != again {
		t.Error("two runs with one seed differ")
	}
	if run(1) == run(2) {
		t.Error("two seeds give one schedule")
	}
}

func TestOutOfBounds(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"buffer": {`extern "C" __global__ void k_run(int* p, long long n) {
			int i = threadIdx.x;
			p[i] = 1; // the fourth line of the file
		}`, "k/k.cu:4"},
		"shared": {`extern "C" __global__ void k_run(int* p, long long n) {
			__shared__ int a[30]; int *q = a;
			q[threadIdx.x] = 1; __syncthreads(); p[0] = q[0];
		}`, "k/k.cu:4"},
		"local": {`extern "C" __global__ void k_run(int* p, long long n) {
			int a[30], *q = a; for (int i = 0; i < 30; i++) a[i] = i;
			__syncthreads(); p[0] = q[threadIdx.x];
		}`, "This frame has 1 object(s)"},
		"overflow": {`extern "C" __global__ void k_run(int* p, long long n) {
			int x = INT_MAX - 5;
			p[0] = x + (int)threadIdx.x;
		}`, "signed integer overflow"},
	} {
		t.Run(name, func(t *testing.T) {
			d := openTest(t, Options{Sanitize: true})
			_, err := launch(t, d, c.body, device.Grid{Blocks: 1, Threads: 32}, make([]int32, 31))
			if !errors.Is(err, ErrCrash) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, expected a crash with %q", err, c.want)
			}
			if _, later := d.Alloc(4); later == nil || !errors.Is(later, device.ErrLost) || later.Error() != err.Error() {
				t.Errorf("the device lives on: %v", err)
			}
			// It cost one launch: another device works.
			d = openTest(t, Options{Sanitize: true})
			got, err := launch(t, d, reduce("__syncthreads();"), device.Grid{Blocks: 2, Threads: 256}, make([]int32, 2))
			if err != nil || !wantReduction(got) {
				t.Errorf("after reopening: %v, %v", got, err)
			}
		})
	}
}

func TestThreadsCannotGoOn(t *testing.T) {
	d := openTest(t, Options{Sanitize: true})
	for name, c := range map[string]struct{ body, want string }{
		"lane not at shuffle": {`if (threadIdx.x != 5) p[0] = __shfl_sync(FULL, 1, 0); else __syncthreads();`, "__shfl_sync (k/k.cu:3) with mask ffffffff"},
		"different barriers": {`if (threadIdx.x < 9) __syncthreads();
			else __syncthreads();`, "different barriers"},
		"other operation":   {`if (threadIdx.x < 9) __syncwarp(); else p[0] = __ballot_sync(FULL, 1);`, "same mask"},
		"mask without self": {`__syncwarp(1u);`, "does not name the lane itself"},
		"trap":              {`if (threadIdx.x == 3) __trap();`, "block 0, thread 3 (warp 0, lane 3): __trap (k/k.cu:3)"},
	} {
		body := "extern \"C\" __global__ void k_run(int* p, long long n) {\n" + c.body + "\n}"
		_, err := launch(t, d, body, device.Grid{Blocks: 1, Threads: 32}, make([]int32, 32))
		if !errors.Is(err, ErrSchedule) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, expected %q", name, err, c.want)
		}
	}
	// The device lives on.
	got, err := launch(t, d, reduce("__syncthreads();"), device.Grid{Blocks: 2, Threads: 256}, make([]int32, 2))
	if err != nil || !wantReduction(got) {
		t.Errorf("afterwards: %v, %v", got, err)
	}
}

// A thread that goes past its stack, when no other is left whose stack that could break, is told of.
func TestStackEnds(t *testing.T) {
	const kernel = `
namespace k {
__device__ __noinline__ int deep(int n) {
  volatile char a[SIZE];
  for (int i = 0; i < SIZE; i++) a[i] = (char)n;
  return a[n];
}
}
extern "C" __global__ void k_run(int* p, long long n) {
  if (threadIdx.x != 5) {
    atomicAdd(p, 1);
    return;
  }
  while (atomicAdd(p, 0) < 31) __nanosleep(1);
  p[1] = k::deep(7);
}`
	for _, size := range []string{"8000", "20000"} {
		got, err := launch(t, openTest(t, Options{}), strings.ReplaceAll(kernel, "SIZE", size), device.Grid{Blocks: 1, Threads: 32}, make([]int32, 2))
		if size == "8000" {
			if err != nil || got[1] != 7 {
				t.Errorf("%s bytes: %v, %v", size, got, err)
			}
		} else if !errors.Is(err, ErrSchedule) || !strings.Contains(err.Error(), "thread 5 used more than the 16384 bytes of its stack") {
			t.Errorf("%s bytes: got %v, expected that thread 5's stack is too small", size, err)
		}
	}
}

func TestPoison(t *testing.T) {
	d := openTest(t, Options{Sanitize: true})
	got, err := launch(t, d, `
template <int N> __device__ int* room() { __shared__ int b[N]; return b; }
extern "C" __global__ void k_run(int* p, long long n) {
  __shared__ int a[32];
  int* b = room<32>();
  int* q = a;
  p[blockIdx.x * 32 + threadIdx.x] = q[threadIdx.x] & b[threadIdx.x];
  __syncthreads();
  q[threadIdx.x] = b[threadIdx.x] = 0;
}`, device.Grid{Blocks: 3, Threads: 32}, make([]int32, 96))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if uint32(v) != 0xa5a5a5a5 {
			t.Fatalf("element %d is %x, expected the poison", i, v)
		}
	}
	b, err := d.Alloc(3)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := d.NewStream()
	raw := make([]byte, 3)
	if err := s.Download(raw, b, 0); err != nil || string(raw) != "\xa5\xa5\xa5" {
		t.Errorf("a fresh buffer holds % x, %v", raw, err)
	}
}

func TestHang(t *testing.T) {
	d := openTest(t, Options{Timeout: 300 * time.Millisecond})
	begin := time.Now()
	_, err := launch(t, d, `extern "C" __global__ void k_run(int* p, long long n) {
		volatile int* q = p; while (q[0] == 0) {} }`, device.Grid{Blocks: 1, Threads: 32}, make([]int32, 1))
	if !errors.Is(err, ErrTimeout) {
		t.Fatalf("got %v, expected a timeout", err)
	}
	if e := time.Since(begin); e > 20*time.Second {
		t.Errorf("it took %v", e)
	}
}

// TestChildEndsWithParent: a child whose parent is gone ends in the middle of a
// launch. The end of the parent, by kill -9 too, closes its pipe.
func TestChildEndsWithParent(t *testing.T) {
	d := openTest(t, Options{Timeout: 30 * time.Second}).(*Device)
	time.AfterFunc(300*time.Millisecond, func() { d.child.life.Close() })
	begin := time.Now()
	_, err := launch(t, d, `extern "C" __global__ void k_run(int* p, long long n) {
		volatile int* q = p; while (q[0] == 0) {} }`, device.Grid{Blocks: 1, Threads: 32}, make([]int32, 1))
	if !errors.Is(err, ErrCrash) {
		t.Fatalf("got %v, expected a crash", err)
	}
	if e := time.Since(begin); e > 5*time.Second { // compiling the kernel takes some of it
		t.Errorf("it took %v", e)
	}
}

// TestInterruptIsTheParents: ctrl-C and a launcher's signal reach the child too, which goes on.
func TestInterruptIsTheParents(t *testing.T) {
	d := openTest(t, Options{})
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGUSR1} {
		if err := d.(*Device).child.cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := launch(t, d, `extern "C" __global__ void k_run(int* p, long long n) { p[0] = 1; }`,
		device.Grid{Blocks: 1, Threads: 1}, make([]int32, 1)); err != nil {
		t.Errorf("after an interrupt: %v", err)
	}
}

// TestHalfRemoved: a folder of the cache that lost its output is built again.
func TestHalfRemoved(t *testing.T) {
	openTest(t, Options{}) // skips where there is no compiler
	tools, err := newToolchain(Options{Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	build := func() string {
		t.Helper()
		dir, err := tools.build(t.Context(), "unit", map[string]string{"a.c": "int a;\n", "rest/b.h": ""}, "a.o", []string{"-c", "a.c"})
		if err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, "a.o")
	}
	output := build()
	if err := os.Remove(output); err != nil {
		t.Fatal(err)
	}
	if again := build(); again != output {
		t.Errorf("built %s, then %s", output, again)
	}
	if _, err := os.Stat(output); err != nil {
		t.Error(err)
	}
}

// TestPrune: the oldest quarter goes, and what was left half built long ago.
func TestPrune(t *testing.T) {
	dir := t.TempDir()
	long := time.Now().Add(-48 * time.Hour)
	make := func(name string, at time.Time) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, name, "rest"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	list := func() string {
		t.Helper()
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return strings.Join(names, " ")
	}
	make("building-old", long)
	make("building-new", time.Now())
	make("server-1", long)
	for i, name := range []string{"unit-1", "unit-2", "unit-3", "unit-4"} {
		make(name, long.Add(time.Duration(i)*time.Hour))
	}
	pruneCache(dir, 100)
	if got, want := list(), "building-new server-1 unit-1 unit-2 unit-3 unit-4"; got != want {
		t.Errorf("a small cache holds %s, want %s", got, want)
	}
	pruneCache(dir, 2)
	if got, want := list(), "building-new server-1 unit-2 unit-3 unit-4"; got != want {
		t.Errorf("pruned, the cache holds %s, want %s", got, want)
	}
}

func TestHashAndEntries(t *testing.T) {
	d := openTest(t, Options{})
	f := family(reduce("__syncthreads();"))
	f.Variants[0].Hash = 0x13
	if _, err := d.Load(f, &f.Variants[0]); err == nil || !strings.Contains(err.Error(), "0000000000000012") {
		t.Errorf("got %v, expected a refusal of the hash", err)
	}
	f.Variants[0].Hash = 0x12
	m, err := d.Load(f, &f.Variants[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Kernel("other"); !errors.Is(err, device.ErrNoEntry) {
		t.Errorf("got %v, expected ErrNoEntry", err)
	}
	k, err := m.Kernel("run")
	if err != nil {
		t.Fatal(err)
	}
	if r := k.Resources(); r.Shared != 32 || r.MaxThreads != 256 {
		t.Errorf("resources %+v, expected 32 bytes shared, 256 threads", r)
	}
	s, _ := d.NewStream()
	b, _ := d.Alloc(8)
	for name, err := range map[string]error{
		"threads":   s.Launch(k, device.Grid{Blocks: 1, Threads: 257}, device.Ptr(b), device.I64(1)),
		"blocks":    s.Launch(k, device.Grid{Blocks: 0, Threads: 1}, device.Ptr(b), device.I64(1)),
		"arguments": s.Launch(k, device.Grid{Blocks: 1, Threads: 1}, device.Ptr(b)),
		"scalar":    s.Launch(k, device.Grid{Blocks: 1, Threads: 1}, device.Ptr(b), device.Ptr(b)),
		"buffer":    s.Launch(k, device.Grid{Blocks: 1, Threads: 1}, device.U64(4096), device.I64(1)),
		"upload":    s.Upload(b, 1, make([]byte, 8)),
		"download":  s.Download(make([]byte, 9), b, 0),
		"fill":      s.Fill(b, -1, 2, 0),
	} {
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	f.Source.(fstest.MapFS)["k/k.cu"].Data = []byte("unsigned long long k_hash = what;\n")
	if _, err := d.Load(f, &f.Variants[0]); err == nil || !strings.Contains(err.Error(), "k/k.cu:1") {
		t.Errorf("got %v, expected the compiler's message with file and line", err)
	}
}

func TestMemoryLimit(t *testing.T) {
	d := openTest(t, Options{Memory: 100})
	b, err := d.Alloc(60)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Alloc(60); !errors.Is(err, device.ErrMemory) {
		t.Errorf("got %v, expected ErrMemory", err)
	}
	if f := d.Facts(); f.Free != 40 {
		t.Errorf("%d bytes free, expected 40", f.Free)
	}
	if err := b.Free(); err != nil {
		t.Fatal(err)
	}
	if err := b.Free(); err == nil {
		t.Error("freed twice")
	}
	s, _ := d.NewStream()
	if err := s.Fill(b, 0, 1, 0); err == nil {
		t.Error("a freed buffer was filled")
	}
}

func TestNoCompiler(t *testing.T) {
	_, err := Open(Options{Compiler: "no-such-compiler"})
	if !errors.Is(err, ErrNoCompiler) {
		t.Errorf("got %v, expected ErrNoCompiler", err)
	}
}

// An entry is found by its definition, and its threads by the launch bounds: not by a call of it, nor in
// a longer name.
func TestEntryPoint(t *testing.T) {
	for text, want := range map[string]int{
		"void f() { k_run (1); }\nextern \"C\" __global__ void __launch_bounds__( 64 ) k_run(int n)": 64,
		"extern \"C\" __global__ void __launch_bounds__(96, 2)\nk_run\n(int n)":                      96,
		"__global__ void k_run()":                             maxThreads,
		"__global__ void __launch_bounds__(THREADS) k_run()":  maxThreads,
		"__global__ void __launch_bounds__(32) k_run_all()":   0,
		"__global__ void __launch_bounds__(32) my_k_run()":    0,
		"__global__ void __launch_bounds__(32) k() { k_run()": 0,
		"void k_run()":         0,
		"__global__ int k_run": 0,
	} {
		if n, ok := entryPoint(text, "k", "run"); n != want || ok != (want > 0) {
			t.Errorf("%q: found %d threads, %v, expected %d", text, n, ok, want)
		}
	}
}
