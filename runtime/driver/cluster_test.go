//go:build cuda

package driver_test

import (
	"encoding/binary"
	"testing"
	"time"

	"coalesce/runtime/device"
)

// TestClusters lets the blocks of clusters of every size tell one another numbers,
// by a barrier and by messages, in more clusters than run at once, and times it.
func TestClusters(t *testing.T) {
	d, m := openGrid(t)
	if d.Facts().Major < 9 {
		t.Skipf("%s has no clusters of blocks", d.Facts())
	}
	k, err := m.Kernel("clusters")
	must(t, err)
	if n := k.Resources().Clusters; n < 1 || n > d.Facts().SMs {
		t.Errorf("%d clusters of 16 blocks of 128 threads at once", n)
	}
	s := stream(t, d)
	for _, size := range []int{2, 4, 8, 16} {
		for messages, name := range []string{"barrier", "messages"} {
			blocks := size * (8*d.Facts().SMs/size + 3)
			out := alloc(t, d, int64(8*blocks))
			g := device.Grid{Blocks: int64(blocks), Threads: 128, Cluster: size}
			launch := func(rounds int) {
				must(t, s.Launch(k, g, device.Ptr(out), device.U64(uint64(rounds)), device.U64(uint64(size)), device.U64(uint64(messages))))
			}
			const rounds = 101
			launch(rounds)
			raw := make([]byte, 8*blocks)
			must(t, s.Download(raw, out, 0))
			for b := range blocks {
				want := 0
				for k := range size {
					want += rounds*1000*(b/size*size+k) + rounds*(rounds-1)/2
				}
				if got := int64(binary.LittleEndian.Uint64(raw[8*b:])); got != int64(want) {
					t.Fatalf("clusters of %d by %s: block %d has %d, want %d", size, name, b, got, want)
				}
			}
			const n = 20000
			g.Blocks = int64(size)
			first, err := s.Record()
			must(t, err)
			launch(n)
			last, err := s.Record()
			must(t, err)
			must(t, s.Sync())
			took, err := last.Since(first)
			must(t, err)
			t.Logf("one cluster of %d blocks by %s: %.3f µs a round", size, name, took.Seconds()*1e6/n)
			if took > n*50*time.Microsecond {
				t.Errorf("%d rounds of clusters of %d by %s took %v", n, size, name, took)
			}
		}
	}
}
