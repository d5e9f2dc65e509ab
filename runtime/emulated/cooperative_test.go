package emulated

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/device"
)

// openCooperative opens a device whose headers are the real ones.
func openCooperative(t *testing.T, o Options) device.Device {
	t.Helper()
	o.Files = os.DirFS(filepath.Join("..", "..", "templates"))
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

const barrierHead = "#include \"cuda/barrier.cuh\"\n#include \"cuda/shared.cuh\"\n"

// rounds passes a value from block to block: in round r block b reads what its
// neighbour wrote in the round before. Its shared array lives through all
// rounds. p holds the barrier's word, then two rows of a value a block.
const rounds = `extern "C" __global__ void __launch_bounds__(64) k_run(int* p, long long n) {
  coalesce::GridBarrier barrier((u32*)p);
  __shared__ int own[64];
  COALESCE_DYNAMIC_SHARED(int, past);
  int b = blockIdx.x, blocks = gridDim.x, t = threadIdx.x;
  own[t] = b * 100 + t;
  past[t] = 0;
  if (t == 0) p[1 + b] = b;
  BARRIER
  for (int r = 0; r < 10; r++) {
    int* from = p + 1 + (r & 1) * blocks;
    int* to = p + 1 + (1 - (r & 1)) * blocks;
    past[t] += from[(b + 1) % blocks];
    __syncthreads();
    if (t == 0) to[b] = from[(b + 1) % blocks];
    BARRIER
  }
  if (own[t] != b * 100 + t || past[t] != past[0]) p[1 + b] = -1;
  if (t == 0 && p[1 + b] != -1) p[1 + b] = past[0];
}`

func runRounds(t *testing.T, d device.Device, body string, blocks, launches int) ([]int32, error) {
	t.Helper()
	f := family(barrierHead + body)
	m, err := d.Load(f, &f.Variants[0])
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	k, err := m.Kernel("run")
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.Alloc(int64(4 + 8*blocks))
	if err != nil {
		t.Fatal(err)
	}
	s, _ := d.NewStream()
	if err := s.Fill(b, 0, 4, 0); err != nil {
		t.Fatal(err)
	}
	// The word serves launches of any size, one after the other.
	for i := range launches {
		g := device.Grid{Blocks: int64(max(1, blocks-i)), Threads: 64, Shared: 256, Cooperative: true}
		if i == launches-1 {
			g.Blocks = int64(blocks)
		}
		if err := s.Launch(k, g, device.Ptr(b), device.I64(0)); err != nil {
			return nil, err
		}
	}
	raw := make([]byte, 4*blocks)
	if err := s.Download(raw, b, 4); err != nil {
		t.Fatal(err)
	}
	got := make([]int32, blocks)
	for i := range got {
		got[i] = int32(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return got, nil
}

func rightRounds(got []int32) bool {
	for b, v := range got {
		want := 0
		for r := range 10 {
			want += (b + 1 + r) % len(got)
		}
		if v != int32(want) {
			return false
		}
	}
	return true
}

func withBarrier(barrier string) string { return strings.ReplaceAll(rounds, "BARRIER", barrier) }

func TestGridBarrier(t *testing.T) {
	for _, blocks := range []int{1, 2, 7, 32} {
		for _, o := range []Options{{}, {Sanitize: true, Seed: 5}} {
			d := openCooperative(t, o)
			got, err := runRounds(t, d, withBarrier("barrier.sync();"), blocks, 3)
			if err != nil || !rightRounds(got) {
				t.Errorf("%d blocks, %+v: %v, %v", blocks, o, got, err)
			}
		}
	}
}

func TestMissingGridBarrierShows(t *testing.T) {
	d := openCooperative(t, Options{})
	got, err := runRounds(t, d, withBarrier("__syncthreads();"), 7, 1)
	if err != nil {
		t.Fatal(err)
	}
	if rightRounds(got) {
		t.Error("the values are right although blocks do not wait for one another")
	}
}

func TestGridDeadlocks(t *testing.T) {
	d := openCooperative(t, Options{Sanitize: true})
	for name, c := range map[string]struct{ body, want string }{
		"a block that does not come": {`if (blockIdx.x != 3) coalesce::GridBarrier((u32*)p).sync();`, "a wait for a word to change (templates/cuda/barrier.cuh:"},
		"a flag that nobody raises":  {`if (threadIdx.x == 0) while (coalesce::acquire((u32*)p) == 0) {}`, "spin on words that nobody changes"},
	} {
		body := "extern \"C\" __global__ void k_run(int* p, long long n) {\n" + c.body + "\n}"
		_, err := runRounds(t, d, body, 5, 1)
		if !errors.Is(err, ErrSchedule) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, expected %q", name, err, c.want)
		}
	}
	// Without Cooperative the first block waits for ever.
	f := family(barrierHead + withBarrier("barrier.sync();"))
	m, err := d.Load(f, &f.Variants[0])
	if err != nil {
		t.Fatal(err)
	}
	k, _ := m.Kernel("run")
	b, _ := d.Alloc(400)
	s, _ := d.NewStream()
	s.Fill(b, 0, 4, 0)
	err = s.Launch(k, device.Grid{Blocks: 3, Threads: 64, Shared: 256}, device.Ptr(b), device.I64(0))
	if !errors.Is(err, ErrSchedule) {
		t.Errorf("a plain launch of blocks that wait: %v", err)
	}
	for name, g := range map[string]device.Grid{
		"more than fits": {Blocks: 1000, Threads: 64, Shared: 256, Cooperative: true},
		"shared memory":  {Blocks: 1, Threads: 64, Shared: sharedPerBlock},
		"less than none": {Blocks: 1, Threads: 64, Shared: -1},
	} {
		if s.Launch(k, g, device.Ptr(b), device.I64(0)) == nil {
			t.Errorf("a launch with %s: no error", name)
		}
	}
	if n, err := k.BlocksPerSM(64, 256); err != nil || n < 1 {
		t.Errorf("%d blocks on a multiprocessor, %v", n, err)
	}
	if n, err := k.BlocksPerSM(65, 0); err != nil || n != 0 {
		t.Errorf("%d blocks of more threads than the kernel takes, %v", n, err)
	}
}

// A chain of blocks, each waiting for the one before, by acquire and release.
func TestAcquireRelease(t *testing.T) {
	d := openCooperative(t, Options{Seed: 2})
	got, err := runRounds(t, d, `extern "C" __global__ void k_run(int* p, long long n) {
		u32 b = blockIdx.x;
		if (threadIdx.x) return;
		while (coalesce::acquire((u32*)p) != b) {}
		p[1 + b] = b == 0 ? 5 : p[b] + 1;
		coalesce::release((u32*)p, b + 1);
	}`, 9, 1)
	if err != nil || fmt.Sprint(got) != "[5 6 7 8 9 10 11 12 13]" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestDynamicSharedIsPoisonedAndGuarded(t *testing.T) {
	d := openCooperative(t, Options{Sanitize: true})
	f := family(barrierHead + `extern "C" __global__ void k_run(int* p, long long n) {
		COALESCE_DYNAMIC_SHARED(int, a);
		p[blockIdx.x] = a[n];
		a[n] = 0;
	}`)
	m, err := d.Load(f, &f.Variants[0])
	if err != nil {
		t.Fatal(err)
	}
	k, _ := m.Kernel("run")
	b, _ := d.Alloc(12)
	s, _ := d.NewStream()
	g := device.Grid{Blocks: 3, Threads: 1, Shared: 40}
	if err := s.Launch(k, g, device.Ptr(b), device.I64(9)); err != nil {
		t.Fatal(err)
	}
	raw := make([]byte, 12)
	if err := s.Download(raw, b, 0); err != nil || !bytes.Equal(raw, bytes.Repeat([]byte{0xa5}, len(raw))) {
		t.Errorf("dynamic shared memory begins as % x, %v", raw, err)
	}
	if err := s.Launch(k, g, device.Ptr(b), device.I64(10)); !errors.Is(err, ErrCrash) {
		t.Errorf("a read past dynamic shared memory: %v", err)
	}
}

func TestTwoDevices(t *testing.T) {
	one, two := openTest(t, Options{}), openTest(t, Options{Index: 1})
	if two.Facts().Index != 1 {
		t.Errorf("facts %+v", two.Facts())
	}
	a, _ := one.Alloc(3 << 20)
	b, _ := two.Alloc(3 << 20)
	s, _ := one.NewStream()
	r, _ := two.NewStream()
	want := make([]byte, 3<<20-5)
	for i := range want {
		want[i] = byte(i * 7 >> 3)
	}
	if err := s.Upload(a, 5, want); err != nil {
		t.Fatal(err)
	}
	e, err := s.Record()
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(want))
	for _, err := range []error{
		r.Wait(e), r.Fill(b, 0, 3<<20, 1), r.Copy(b, 1, a, 5, int64(len(want))), r.Copy(b, 0, b, 1, int64(len(want))), r.Download(got, b, 0),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if string(got) != string(want) {
		t.Error("the copy differs")
	}
	for name, err := range map[string]error{
		"past the end of the source":      s.Copy(b, 0, a, 6, 3<<20-5),
		"past the end of the destination": s.Copy(b, 6, a, 0, 3<<20-5),
		"neither its own":                 s.Copy(b, 0, b, 1, 1),
		"less than nothing":               s.Copy(b, 0, a, 0, -1),
		"no buffer":                       s.Copy(nil, 0, a, 0, 1),
		"no event":                        s.Wait(nil),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// BenchmarkGridBarrier times a barrier of 8 blocks of 256 threads.
func BenchmarkGridBarrier(b *testing.B) {
	d, err := Open(Options{Files: os.DirFS(filepath.Join("..", "..", "templates"))})
	if err != nil {
		b.Skipf("the emulated device needs a C++ compiler: %v", err)
	}
	defer d.Close()
	f := family(barrierHead + `extern "C" __global__ void k_run(int* p, long long n) {
		coalesce::GridBarrier barrier((u32*)p); __shared__ int a[2048]; a[threadIdx.x] = 0;
		for (int i = 0; i < n; i++) barrier.sync(); }`)
	m, err := d.Load(f, &f.Variants[0])
	if err != nil {
		b.Fatal(err)
	}
	k, _ := m.Kernel("run")
	w, _ := d.Alloc(4)
	s, _ := d.NewStream()
	s.Fill(w, 0, 4, 0)
	begin := time.Now()
	if err := s.Launch(k, device.Grid{Blocks: 8, Threads: 256, Cooperative: true}, device.Ptr(w), device.I64(int64(b.N))); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(time.Since(begin).Microseconds())/float64(b.N), "µs/barrier")
}

// Sums over blocks, of which the last takes no part: a turn's number is not seen by a
// block that is still in the turn before. p holds the sum's words, then errors.
func TestGridSum(t *testing.T) {
	const body = `extern "C" __global__ void __launch_bounds__(64) k_run(int* p, long long n) {
  if (blockIdx.x >= n) return;
  coalesce::GridSum sum((u64*)p, (u32)n);
  __shared__ u32 all;
  for (u32 r = 0; r < 9; r++) {
    if (threadIdx.x == 32) sum.arrive(blockIdx.x * r);
    if (threadIdx.x == 32) all = sum.wait();
    __syncthreads();
    if (all != n * (n - 1) / 2 * r) atomicAdd(p + 4, 1);
    __syncthreads();
    for (u32 k = 0; k < blockIdx.x; k++) coalesce::acquire((u32*)p);  // blocks come at different times
  }
  atomicAdd(p + 5, 1);
}`
	f := family("#include \"cuda/gridsum.cuh\"\n" + body)
	for seed := range uint64(3) {
		for _, blocks := range []int{1, 2, 7} {
			d := openCooperative(t, Options{Seed: seed})
			m, err := d.Load(f, &f.Variants[0])
			if err != nil {
				t.Fatal(err)
			}
			k, err := m.Kernel("run")
			if err != nil {
				t.Fatal(err)
			}
			b, err := d.Alloc(24)
			if err != nil {
				t.Fatal(err)
			}
			s, _ := d.NewStream()
			raw := make([]byte, 8)
			g := device.Grid{Blocks: int64(blocks + 1), Threads: 64, Cooperative: true}
			if err := errors.Join(s.Fill(b, 0, 24, 0), s.Launch(k, g, device.Ptr(b), device.I64(int64(blocks))), s.Download(raw, b, 16), m.Close()); err != nil {
				t.Fatal(err)
			}
			if wrong, came := binary.LittleEndian.Uint32(raw), binary.LittleEndian.Uint32(raw[4:]); wrong != 0 || came != uint32(64*blocks) {
				t.Errorf("%d blocks, seed %d: %d wrong sums, %d threads of %d", blocks, seed, wrong, came, 64*blocks)
			}
		}
	}
}
