package emulated

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"coalesce/runtime/device"
)

// The blocks of a cluster write to one another's static and dynamic shared
// memory, of sizes that are no whole words, and read it, in turns.
const passing = `#include "cuda/cluster.cuh"
#include "cuda/shared.cuh"
extern "C" __global__ void __launch_bounds__(64) k_run(int* p, long long n) {
  __shared__ int from[9];
  __shared__ char odd[13];
  COALESCE_DYNAMIC_SHARED(int, sum);
  u32 size = (u32)n, rank = blockIdx.x % size, t = threadIdx.x;
  if (t == 0) sum[0] = 0;
  coalesce::clusterSync();
  for (u32 r = 0; r < 5; r++) {
    if (t < size) *coalesce::peer(from + rank, t) = 100 * (int)blockIdx.x + (int)r;
    if (t == 0) *coalesce::peer(odd + 12, (rank + 1) % size) = (char)(rank + r);
    SYNC
    if (t == 0)
      for (u32 k = 0; k < size; k++) sum[0] += from[k];
    if (t == 1) sum[1] = odd[12];
    SYNC
  }
  if (t == 0) p[blockIdx.x] = 10 * *coalesce::peer(sum, size - 1 - rank) + *coalesce::peer(sum + 1, rank);
  coalesce::clusterSync();
}`

func runClusters(t *testing.T, d device.Device, text string, g device.Grid) ([]int32, error) {
	t.Helper()
	f := family(text)
	m, err := d.Load(f, &f.Variants[0])
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	k, err := m.Kernel("run")
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.Alloc(4 * g.Blocks)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := d.NewStream()
	if err := s.Launch(k, g, device.Ptr(b), device.I64(int64(max(1, g.Cluster)))); err != nil {
		return nil, err
	}
	raw := make([]byte, b.Len())
	if err := s.Download(raw, b, 0); err != nil {
		t.Fatal(err)
	}
	got := make([]int32, g.Blocks)
	for i := range got {
		got[i] = int32(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return got, nil
}

func rightClusters(got []int32, size int) bool {
	for b, v := range got {
		first, sum := b/size*size, 0
		for k := range size {
			sum += 5*100*(first+k) + 10
		}
		before := (b - first + size - 1) % size
		if int(v) != 10*sum+before+4 {
			return false
		}
	}
	return true
}

func TestClusters(t *testing.T) {
	for _, o := range []Options{{}, {Sanitize: true, Seed: 3}} {
		d := openCooperative(t, o)
		for _, size := range []int{2, 3, 8} {
			g := device.Grid{Blocks: int64(3 * size), Threads: 64, Shared: 8, Cluster: size}
			got, err := runClusters(t, d, strings.ReplaceAll(passing, "SYNC\n", "coalesce::clusterSync();\n"), g)
			if err != nil || !rightClusters(got, size) {
				t.Errorf("clusters of %d, %+v: %v, %v", size, o, got, err)
			}
		}
	}
}

func TestMissingClusterBarrierShows(t *testing.T) {
	d := openCooperative(t, Options{})
	got, err := runClusters(t, d, strings.ReplaceAll(passing, "SYNC\n", "__syncthreads();\n"), device.Grid{Blocks: 12, Threads: 64, Shared: 8, Cluster: 4})
	if err != nil || rightClusters(got, 4) {
		t.Errorf("blocks that do not wait for one another: %v, %v", got, err)
	}
}

func TestWrongClusters(t *testing.T) {
	d := openCooperative(t, Options{})
	text := strings.ReplaceAll(passing, "SYNC\n", "coalesce::clusterSync();\n")
	for name, g := range map[string]device.Grid{
		"a part":      {Blocks: 3, Threads: 64, Shared: 8, Cluster: 2},
		"too large":   {Blocks: 32, Threads: 64, Shared: 8, Cluster: 32},
		"cooperative": {Blocks: 2, Threads: 64, Shared: 8, Cluster: 2, Cooperative: true},
		"none":        {Blocks: 2, Threads: 64, Shared: 8},
	} {
		if _, err := runClusters(t, d, text, g); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	body := func(s string) string {
		return fmt.Sprintf("#include \"cuda/cluster.cuh\"\nextern \"C\" __global__ void k_run(int* p, long long n) {\n__shared__ int a[4];\na[0] = 0;\n%s\n}", s)
	}
	for text, want := range map[string]string{
		"if (blockIdx.x != 1) coalesce::clusterSync(); else if (threadIdx.x == 0) while (a[0] == 0) emu_yield();": "spin on words",
		"if (threadIdx.x == 0) coalesce::clusterSync(); else __syncthreads();":                                    "a cluster's barrier",
		"*coalesce::peer(a, 2) = 1;": "no shared memory of block 2",
		"*coalesce::peer(p, 1) = 1;": "no shared memory of block 1",
	} {
		_, err := runClusters(t, d, body(text), device.Grid{Blocks: 2, Threads: 64, Cluster: 2})
		if !errors.Is(err, ErrSchedule) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, expected %q", text, err, want)
		}
	}
	// A block that has ended is not waited for.
	if _, err := runClusters(t, d, body("if (blockIdx.x == 0) coalesce::clusterSync();"), device.Grid{Blocks: 2, Threads: 64, Cluster: 2}); err != nil {
		t.Error(err)
	}
}
