package emulated

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"coalesce/runtime/device"
)

// kernelOf wraps statements as the body of the entry.
func kernelOf(body string) string {
	return "extern \"C\" __global__ void k_run(int* p, long long n) {\n  int t = threadIdx.x;\n" + body + "\n}"
}

func TestBuiltins(t *testing.T) {
	d := openTest(t, Options{Sanitize: true, Seed: 3})
	for _, c := range []struct {
		name, body string
		threads    int
		want       func(t int) int32
	}{
		{"shfl_up keeps the low lanes", `p[t] = __shfl_up_sync(FULL, t, 3);`, 32,
			func(t int) int32 { return int32(lowLane(t, 3)) }},
		{"shfl_down by width 8", `p[t] = __shfl_down_sync(FULL, t, 5, 8);`, 64,
			func(t int) int32 {
				if t%8+5 < 8 {
					return int32(t + 5)
				}
				return int32(t)
			}},
		{"shfl of doubles", `p[t] = (int)__shfl_xor_sync(FULL, t + 0.5, 1);`, 32, func(t int) int32 { return int32(t ^ 1) }},
		{"shfl wraps in its width", `p[t] = __shfl_sync(FULL, t, 9, 4);`, 32, func(t int) int32 { return int32(t&^3 | 1) }},
		{"an absent lane gives poison", `p[t] = __shfl_down_sync(FULL, t, 1);`, 20,
			func(t int) int32 {
				if t == 19 {
					return poisonWord
				}
				return int32(t + 1)
			}},
		{"halves of a warp apart", `unsigned m = t < 16 ? 0xffffu : 0xffff0000u;
			if (t < 16) p[t] = __reduce_add_sync(m, t); else p[t] = __reduce_max_sync(m, -t);`, 32,
			func(t int) int32 {
				if t < 16 {
					return 120
				}
				return -16
			}},
		{"match_any of 64 bits", `p[t] = (int)__match_any_sync(FULL, (long long)(t % 3) << 40);`, 32,
			func(t int) int32 {
				var m uint32
				for u := t % 3; u < 32; u += 3 {
					m |= 1 << u
				}
				return int32(m)
			}},
		{"votes", `p[t] = (int)__ballot_sync(FULL, t & 1) + __any_sync(FULL, t == 7) + 2 * __all_sync(FULL, t < 31);`, 32,
			func(int) int32 { return -0x55555556 + 1 }},
		{"barrier counts", `p[t] = __syncthreads_count(t % 3 == 0) * 4 + __syncthreads_or(t == 63) * 2 + __syncthreads_and(t < 63);`, 64,
			func(int) int32 { return 22*4 + 2 }},
		{"ended threads have arrived", `p[t] = t; if (t % 7 == 0) return; __syncthreads(); p[t] = __syncthreads_count(1);`, 64,
			func(t int) int32 {
				if t%7 == 0 {
					return int32(t)
				}
				return 64 - 10
			}},
		{"ended lanes are not waited for", `p[t] = t; if (t > 20) return; p[t] = __reduce_add_sync(FULL, 1);`, 32,
			func(t int) int32 {
				if t > 20 {
					return int32(t)
				}
				return 21
			}},
		{"atomics", `__shared__ int a[6]; __shared__ unsigned long long b; __shared__ double s;
			if (t == 0) { a[0] = 0; a[1] = 99; a[2] = -99; a[3] = 0; a[4] = -1; b = 0; s = 0; }
			__syncthreads();
			atomicAdd(a, t); atomicMin(a + 1, t - 50); atomicMax(a + 2, t); atomicOr(a + 3, 1 << t % 8);
			atomicCAS(a + 4, -1, 7); atomicMax(&b, (unsigned long long)t << 40); atomicAdd(&s, 0.5);
			__syncthreads();
			p[t] = a[0] * (a[1] == -50) * (a[2] == 99) * (a[3] == 255) * (a[4] == 7) * (b >> 40 == 99) * (s == 50);`, 100,
			func(int) int32 { return 4950 }},
		{"atomics of 64 bits", `__shared__ long long s[5]; __shared__ unsigned long long u[6];
			if (t == 0) { s[0] = 1ll << 60; s[1] = -(1ll << 60); s[2] = s[3] = 0; u[0] = ~0ull; u[1] = u[2] = u[3] = u[4] = 0; u[5] = 7; }
			__syncthreads();
			long long v = (t - 50) * (1ll << 33);
			atomicMin(s, v); atomicMax(s + 1, v); atomicOr(s + 2, 1ll << t % 64);
			atomicMin(u, (unsigned long long)(t + 5) << 40); atomicMax(u + 1, (unsigned long long)t << 57);
			atomicAdd(u + 2, 1ull << 32); atomicOr(u + 3, 1ull << t % 64); atomicExch(u + 4, 1ull << 50); atomicCAS(u + 5, 7ull, 1ull << 50);
			__syncthreads();
			p[t] = (s[0] == -50 * (1ll << 33)) + (s[1] == 49ll << 33) + (s[2] == -1) + (u[0] == 5ull << 40) + (u[1] == 99ull << 57)
				+ (u[2] == 100ull << 32) + (u[3] == ~0ull) + (u[4] == u[5]);`, 100,
			func(int) int32 { return 8 }},
		{"conversions", `double big = 1e300, nan = __longlong_as_double(-1);
			p[t] = (__double2ll_rn(2.5) == 2) + (__double2ll_rn(-3.5) == -4) + (__double2ll_rd(-0.5) == -1) + (__double2ll_ru(0.25) == 1)
				+ (__double2ll_rz(-1.9) == -1) + (__double2ll_rn(big) == LLONG_MAX) + (__double2ll_rn(-big) == LLONG_MIN)
				+ (__double2ll_rn(nan) == LLONG_MIN) + (__float2int_rn(1e20f) == INT_MAX) + (__double2float_ru(1.0 + 1e-12) > 1.0f)
				+ (__double2float_rd(1.0 + 1e-12) == 1.0f) + (__float2ll_rn(8388609.0f) == 8388609) + (abs(-5ll) == 5) + (isinf(1.0f / (t - t)) != 0);`, 32,
			func(int) int32 { return 14 }},
		{"cached and vector access", `__shared__ int4 a[32]; __shared__ longlong2 b[32]; __shared__ float4 f; __shared__ volatile int w;
			__stcg(a + t, make_int4(t, 1, 2, 3)); __stwt(b + t, make_longlong2(t, 1ll << 40)); w = 5; __stcg(&f.x, 1);
			__threadfence(); __syncwarp();
			int4 x = __ldcg(a + 31 - t); longlong2 y = __ldcv(b + t); int3 z = make_int3(1, 2, 3);
			p[t] = x.x + x.w + (int)y.x + (y.y == 1ll << 40) + w + z.z + __ldg(&f.x) + make_uint2(1, 2).y;`, 32,
			func(int) int32 { return 31 + 3 + 1 + 5 + 3 + 1 + 2 }},
		{"a spin on an atomic ends", `__shared__ int turn; if (t == 0) turn = 0; __syncthreads();
			while (atomicAdd(&turn, 0) != t) {} atomicAdd(&turn, 1); __syncthreads(); p[t] = turn;`, 64,
			func(int) int32 { return 64 }},
		{"bits", `p[t] = __ffs(1 << t) + __popc(t) + __clz(t) + __ffsll(1ll << 40) + __clzll(0) + (int)(__brev(1u) >> 31) + __popcll(~0ull);`, 32,
			func(t int) int32 { return int32(t+1+bits(t)+32-length(t)) + 41 + 64 + 1 + 64 }},
		{"extremes wrap as on the device", `p[t] = __viaddmax_s32(INT_MAX, 1, t) + __vimax3_s32(t, -1, -2) + max(-1, 2u) + 1;`, 32,
			func(t int) int32 { return int32(2 * t) }},
		{"halves of a word", `p[t] = (int)(__vimax3_s16x2(0x8000ffffu, 0xfffe8000u, 0x80000000u + t) ^ __vimax3_u16x2(0x8000ffffu, 0xfffe8000u, t));`, 32,
			func(t int) int32 { return int32(t) ^ 0xffff }},
		{"halves of a word add up on their own", `p[t] = (int)(__viaddmax_s16x2(0xffffffffu, 0x00010001u + t, 0xfffb0003u) ^ __viaddmax_u16x2(0xfffe0001u, 0x00010001u, t));`, 32,
			func(t int) int32 { return int32(max(t, 3)) ^ int32(max(t, 2)) ^ -1<<16 }},
	} {
		got, err := launch(t, d, kernelOf(c.body), device.Grid{Blocks: 1, Threads: c.threads}, make([]int32, c.threads))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for i, v := range got {
			if v != c.want(i) {
				t.Errorf("%s: thread %d has %d, expected %d", c.name, i, v, c.want(i))
				break
			}
		}
	}
}

const poisonWord = -0x5a5a5a5b // 0xa5a5a5a5

// lowLane is what shfl_up by d gives a lane: its own value below d.
func lowLane(t, d int) int {
	if t < d {
		return t
	}
	return t - d
}

func bits(t int) (n int) {
	for ; t > 0; t >>= 1 {
		n += t & 1
	}
	return n
}

func length(t int) (n int) {
	for ; t > 0; t >>= 1 {
		n++
	}
	return n
}

// A warp that leaves out __syncwarp shows under some seed, and not with it.
func TestMissingSyncwarpShows(t *testing.T) {
	body := `__shared__ int a[32]; a[t] = t; SYNC p[t] = a[31 - t];`
	wrong := func(sync string) (n int) {
		for seed := range uint64(3) {
			d := openTest(t, Options{Seed: seed})
			got, err := launch(t, d, kernelOf(strings.Replace(body, "SYNC", sync, 1)), device.Grid{Blocks: 4, Threads: 32}, make([]int32, 32))
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				if v != int32(31-i) {
					n++
				}
			}
		}
		return n
	}
	if n := wrong("__syncwarp();"); n != 0 {
		t.Errorf("%d wrong values with the barrier", n)
	}
	if wrong("") == 0 {
		t.Error("no wrong value without the barrier")
	}
}

func TestManyBlocksAndModules(t *testing.T) {
	d := openTest(t, Options{Sanitize: true})
	var wait sync.WaitGroup
	for i := range 3 {
		wait.Go(func() {
			f := family(kernelOf(fmt.Sprintf("atomicAdd(p, (int)(blockIdx.x %% 7) + %d);", i)))
			m, err := d.Load(f, &f.Variants[0])
			if err != nil {
				t.Error(err)
				return
			}
			k, err := m.Kernel("run")
			if err != nil {
				t.Error(err)
				return
			}
			b, _ := d.Alloc(4)
			s, _ := d.NewStream()
			s.Fill(b, 0, 4, 0)
			if err := s.Launch(k, device.Grid{Blocks: 70000, Threads: 1}, device.Ptr(b), device.I64(0)); err != nil {
				t.Error(err)
				return
			}
			var raw [4]byte
			if err := s.Download(raw[:], b, 0); err != nil {
				t.Error(err)
			}
			got := int(raw[0]) | int(raw[1])<<8 | int(raw[2])<<16 | int(raw[3])<<24
			if want := 210000 + 70000*i; got != want {
				t.Errorf("module %d: %d, expected %d", i, got, want)
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}

// BenchmarkSwitch times a switch between threads: 64 blocks of 256 threads at
// 100 barriers.
func BenchmarkSwitch(b *testing.B) {
	for _, sanitize := range []bool{false, true} {
		b.Run(fmt.Sprintf("sanitize=%v", sanitize), func(b *testing.B) {
			opened, err := Open(Options{Sanitize: sanitize, Files: headerFiles})
			if err != nil {
				b.Skipf("the emulated device needs a C++ compiler: %v", err)
			}
			defer opened.Close()
			f := family(kernelOf("for (int i = 0; i < 100; i++) __syncthreads();"))
			m, err := opened.Load(f, &f.Variants[0])
			if err != nil {
				b.Fatal(err)
			}
			k, err := m.Kernel("run")
			if err != nil {
				b.Fatal(err)
			}
			s, _ := opened.NewStream()
			for b.Loop() {
				if err := s.Launch(k, device.Grid{Blocks: 64, Threads: 256}, device.Arg{}, device.I64(0)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(64*256*101), "ns/switch")
		})
	}
}
