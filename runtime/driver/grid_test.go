//go:build cuda

package driver_test

import (
	"encoding/binary"
	"os"
	"testing"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/driver"
)

// gridVariable holds the path of testdata/barrier.cu's image, which
// scripts/gpu-check pack compiles.
const gridVariable = "COALESCE_GRID_IMAGE"

func gridFamily() *device.Family {
	ptr := func(names ...string) (p []device.Param) {
		for _, n := range names {
			p = append(p, device.Param{Name: n, Type: "buffer"})
		}
		return p
	}
	number := func(n string) device.Param { return device.Param{Name: n, Type: "uint64"} }
	return &device.Family{
		Name: "test/grid", Target: device.CUDA, Params: []string{"block", "cluster"},
		Entries: []device.Entry{
			{Name: "rounds", Params: append(ptr("word", "values", "out"), number("rounds"), number("words"))},
			{Name: "syncs", Params: append(ptr("word"), number("rounds"))},
			{Name: "clusters", Params: append(ptr("out"), number("rounds"), number("size"), number("messages"))},
		},
		Variants: []device.Variant{{Label: "grid", Symbol: "grid", Hash: 0x9e1d, Values: []string{"128", "16"}}},
		Packs:    []device.Pack{{File: "barrier.cu", Hash: 1}},
	}
}

// oneImage has every variant.
type oneImage []byte

func (i oneImage) CheckCapability(_, _ int) (bool, error) { return false, nil }
func (i oneImage) Needs() (int, string)                   { return 0, "" }
func (i oneImage) Compiler() string                       { return "" }
func (i oneImage) CheckVariant(_ uint64, _, _ int) error  { return nil }
func (i oneImage) Image(uint64, int, int) (string, []byte, bool, error) {
	return "one", i, false, nil
}

// openGrid loads the kernels on a GPU that has them.
func openGrid(t *testing.T) (device.Device, device.Module) {
	t.Helper()
	path := os.Getenv(gridVariable)
	if path == "" {
		t.Skipf("needs a GPU and %s", gridVariable)
	}
	image, err := os.ReadFile(path)
	must(t, err)
	d, err := driver.Open(0, oneImage(image), nil)
	must(t, err)
	t.Cleanup(func() { d.Close() })
	if d.Facts().Name == "Fake GPU" {
		t.Skip("the stand-in library cannot load compiled images")
	}
	f := gridFamily()
	m, err := d.Load(f, &f.Variants[0])
	must(t, err)
	return d, m
}

// TestGridBarrier launches as many blocks as the device holds, with and
// without much dynamic shared memory, and times the barrier.
func TestGridBarrier(t *testing.T) {
	d, m := openGrid(t)
	run, err := m.Kernel("rounds")
	must(t, err)
	syncs, err := m.Kernel("syncs")
	must(t, err)
	facts, s := d.Facts(), stream(t, d)
	word := alloc(t, d, 4)
	must(t, s.Fill(word, 0, 4, 0))
	most := int(facts.SharedPerBlock) - run.Resources().Shared
	const rounds = 20
	for _, c := range []struct{ threads, shared int }{{32, 0}, {256, 1 << 10}, {1024, 0}, {1024, most}, {128, 100 << 10}} {
		if c.shared > most {
			continue
		}
		per, err := run.BlocksPerSM(c.threads, c.shared)
		must(t, err)
		if per < 1 || per*c.threads > facts.ThreadsPerSM || c.shared == most && per != 1 {
			t.Errorf("%d blocks of %d threads and %d bytes on a multiprocessor", per, c.threads, c.shared)
		}
		for _, blocks := range []int{1, 2, facts.SMs, per * facts.SMs} {
			values, out := alloc(t, d, int64(16*blocks)), alloc(t, d, int64(8*blocks))
			g := device.Grid{Blocks: int64(blocks), Threads: c.threads, Shared: c.shared, Cooperative: true}
			must(t, s.Launch(run, g, device.Ptr(word), device.Ptr(values), device.Ptr(out), device.U64(rounds), device.U64(uint64(c.shared/8))))
			raw := make([]byte, 8*blocks)
			must(t, s.Download(raw, out, 0))
			for b := range blocks {
				want := 0
				for r := range rounds {
					want += (b + 1 + r) % blocks
				}
				if got := int64(binary.LittleEndian.Uint64(raw[8*b:])); got != int64(want) {
					t.Fatalf("%d blocks of %d threads, %d bytes: block %d has %d, want %d", blocks, c.threads, c.shared, b, got, want)
				}
			}
		}
		g := device.Grid{Blocks: int64(per*facts.SMs) + 1, Threads: c.threads, Shared: c.shared, Cooperative: true}
		if err := s.Launch(run, g, device.Ptr(word), device.Ptr(nil), device.Ptr(nil), device.U64(0), device.U64(0)); err == nil {
			t.Errorf("%d blocks of %d threads fit, expected one fewer", g.Blocks, c.threads)
		}
	}
	for _, threads := range []int{32, 256, 1024} {
		for _, blocks := range []int{1, 8, facts.SMs, 2 * facts.SMs} {
			const n = 2000
			g := device.Grid{Blocks: int64(blocks), Threads: threads, Cooperative: true}
			must(t, s.Launch(syncs, g, device.Ptr(word), device.U64(n)))
			first, err := s.Record()
			must(t, err)
			must(t, s.Launch(syncs, g, device.Ptr(word), device.U64(n)))
			last, err := s.Record()
			must(t, err)
			must(t, s.Sync())
			took, err := last.Since(first)
			must(t, err)
			t.Logf("barrier of %d blocks of %d threads: %.2f µs", blocks, threads, took.Seconds()*1e6/n)
			if took > n*50*time.Microsecond {
				t.Errorf("%d barriers of %d blocks took %v", n, blocks, took)
			}
		}
	}
}
