//go:build cuda

package driver_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"coalesce/runtime/bundle"
	"coalesce/runtime/device"
	"coalesce/runtime/driver"
)

// These tests run against a GPU, and against testdata/fake.c, which stands in
// for the driver's library: scripts/driver-test. Those that need the one or
// the other say so.

// images are those of the build, of which there may be none, and one that the stand-in
// loads.
var images = code{}

type code struct {
	byPTX  bool // the stand-in's
	least  int
	refuse error
}

func (c code) CheckCapability(major, minor int) (bool, error) { return c.byPTX, c.refuse }
func (c code) Needs() (int, string)                           { return c.least, "999" }
func (c code) Compiler() string                               { return "" }
func (c code) CheckVariant(variant uint64, major, minor int) error {
	_, _, _, err := c.Image(variant, major, minor)
	return err
}

func (c code) Image(variant uint64, major, minor int) (string, []byte, bool, error) {
	if variant == 0x1234 || variant == 0x98 {
		return "toy", []byte("FAKE toy_a_hash=1234 toy_a_run toy_b_hash=99"), c.byPTX, nil
	}
	b, err := bundle.Open()
	if err != nil {
		return "", nil, false, err
	}
	return b.Image(variant, major, minor)
}

// TestRefused: a GPU that no image is for, and a driver older than the images, are
// told of when the device is opened.
func TestRefused(t *testing.T) {
	open(t)
	none := errors.New("no image for it")
	if _, err := driver.Open(0, code{refuse: none}, nil); !errors.Is(err, none) {
		t.Errorf("no image: %v", err)
	}
	if _, err := driver.Open(0, code{least: 99010}, nil); err == nil || !strings.Contains(err.Error(), "need driver 999 or newer (CUDA 99.1)") {
		t.Errorf("old driver: %v", err)
	}
}

// TestByPTX: the driver's compiling is announced, once an image, and the facts say what
// can be loaded.
func TestByPTX(t *testing.T) {
	_, fake := open(t)
	if !fake {
		t.Skip("the image is the stand-in library's")
	}
	var said []string
	d, err := driver.Open(0, code{byPTX: true}, func(line string) { said = append(said, line) })
	must(t, err)
	defer d.Close()
	f := toy()
	for range 2 {
		if _, err := d.Load(f, &f.Variants[0]); err != nil {
			t.Error(err)
		}
	}
	if len(said) != 1 || !strings.Contains(said[0], "the driver compiles toy/add") {
		t.Errorf("said %q", said)
	}
	facts := d.Facts()
	if err := facts.CheckLoadable(f, &f.Variants[0]); err != nil {
		t.Error(err)
	}
	if err := facts.CheckLoadable(f, &device.Variant{Hash: 1}); err == nil {
		t.Error("a variant without an image is said to load")
	}
}

func toy() *device.Family {
	return &device.Family{
		Name: "toy/add", Target: device.CUDA, Params: []string{"block", "cluster"},
		Entries: []device.Entry{
			{Name: "run", Params: []device.Param{{Name: "f", Type: "buffer"}, {Name: "n", Type: "uint64"}, {Name: "x", Type: "uint64"}}},
			{Name: "other"},
		},
		Variants: []device.Variant{
			{Label: "v=a", Symbol: "toy_a", Hash: 0x1234, Values: []string{"128", "4"}},
			{Label: "v=b", Symbol: "toy_b", Hash: 0x98, Values: []string{"128", "1"}},
		},
		Packs: []device.Pack{{File: "add/pack_000.cu", Hash: 0x77}},
	}
}

func open(t *testing.T) (d device.Device, fake bool) {
	t.Helper()
	n, err := driver.Count()
	if err != nil || n == 0 {
		t.Fatalf("%d devices, %v", n, err)
	}
	if d, err = driver.Open(0, images, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d, d.Facts().Name == "Fake GPU"
}

func stream(t *testing.T, d device.Device) device.Stream {
	t.Helper()
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func alloc(t *testing.T, d device.Device, n int64) device.Buffer {
	t.Helper()
	b, err := d.Alloc(n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Free(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestFacts(t *testing.T) {
	d, _ := open(t)
	f := d.Facts()
	if f.Kind != device.CUDA || f.Name == "" || f.Major < 7 || f.SMs == 0 || f.Memory == 0 || f.Free == 0 ||
		f.SharedPerBlock == 0 || f.ThreadsPerBlock == 0 || !strings.Contains(f.Driver, "CUDA ") || !strings.HasPrefix(f.UUID, "GPU-") {
		t.Errorf("facts: %+v", f)
	}
	n, err := driver.Count()
	if err != nil || n == 0 {
		t.Errorf("count: %d, %v", n, err)
	}
	if _, err := driver.Open(n, images, nil); err == nil {
		t.Error("a device past the last was opened")
	}
	t.Logf("%s, driver %s, %s", f.Class(), f.Driver, f.UUID)
}

// TestNoGPU starts this program where there is no GPU, and where the driver does not
// work: it is told so when it asks for a device.
func TestNoGPU(t *testing.T) {
	const asked = "COALESCE_TEST_COUNT"
	if os.Getenv(asked) != "" {
		n, err := driver.Count()
		_, refused := driver.Open(0, images, nil)
		fmt.Printf("%d %v; %v\n", n, err, refused)
		return
	}
	_, fake := open(t)
	for _, c := range []struct{ shown, want string }{
		{"", "0 <nil>; open cuda:0: there are 0 CUDA devices"},
		{"broken", "0 count CUDA devices: CUDA_ERROR_FAKE; count CUDA devices: CUDA_ERROR_FAKE"},
	} {
		if c.shown != "" && !fake {
			continue
		}
		again := exec.Command(os.Args[0], "-test.run=^TestNoGPU$")
		again.Env = append(os.Environ(), asked+"=1", "CUDA_VISIBLE_DEVICES="+c.shown)
		if out, err := again.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), c.want) {
			t.Errorf("CUDA_VISIBLE_DEVICES=%q: %v, %q, want %q", c.shown, err, out, c.want)
		}
	}
}

// TestCopies moves sizes round the staging buffers' edges, back to back, and
// compares every byte.
func TestCopies(t *testing.T) {
	const chunk = 8 << 20
	d, _ := open(t)
	s := stream(t, d)
	rng := rand.NewChaCha8([32]byte{1})
	buf := alloc(t, d, 3*chunk+100)
	src := make([]byte, buf.Len())
	must(t, drop(rng.Read(src)))
	dst := make([]byte, len(src))
	for _, n := range []int{0, 1, 63, 64, 65, chunk - 1, chunk, chunk + 1, 2*chunk - 7, 2 * chunk, 3*chunk + 100} {
		must(t, s.Fill(buf, 0, buf.Len(), 0xee))
		must(t, s.Upload(buf, int64(len(src)-n), src[:n]))
		must(t, s.Download(dst, buf, 0))
		rest := dst[:len(src)-n]
		if !bytes.Equal(dst[len(src)-n:], src[:n]) || len(bytes.Trim(rest, "\xee")) > 0 {
			t.Fatalf("%d bytes did not come back", n)
		}
	}
	// Many uploads without a wait between them, from one slice that changes.
	piece := make([]byte, 1<<20)
	for i := range 24 {
		for j := range piece {
			piece[j] = byte(i)
		}
		must(t, s.Upload(buf, int64(i)<<20, piece))
	}
	must(t, s.Download(dst[:24<<20], buf, 0))
	for i, x := range dst[:24<<20] {
		if x != byte(i>>20) {
			t.Fatalf("byte %d is %d, want %d", i, x, i>>20)
		}
	}
}

func drop[T any](_ T, err error) error { return err }

// TestStage fills pieces of staging memory, among uploads from memory of its own.
func TestStage(t *testing.T) {
	d, _ := open(t)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const piece = 5 << 20
	b, err := d.Alloc(4*piece + 3)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Free()
	want := make([]byte, b.Len())
	for i := range want {
		want[i] = byte(i * i >> 8)
	}
	off := 0
	for k, n := range []int{piece, 1, piece, 2, piece, piece} {
		part := want[off : off+n]
		if k == 3 {
			err = s.Upload(b, int64(off), part)
		} else {
			err = device.Stage(s, b, int64(off), n, func(room []byte) {
				if len(room) != n {
					t.Errorf("room for %d bytes, want %d", len(room), n)
				}
				copy(room, part)
			})
		}
		if err != nil {
			t.Fatal(err)
		}
		off += n
	}
	got := make([]byte, len(want))
	if err := s.Download(got, b, 0); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the device has other bytes (%v)", err)
	}
	for _, c := range []struct {
		off int64
		n   int
	}{{0, 8<<20 + 1}, {b.Len(), 1}, {-1, 1}} {
		if err := device.Stage(s, b, c.off, c.n, func([]byte) { t.Error("filled what cannot be uploaded") }); err == nil {
			t.Errorf("%d bytes at %d: no error", c.n, c.off)
		}
	}
}

func TestRefusals(t *testing.T) {
	d, _ := open(t)
	other, err := driver.Open(0, images, nil)
	must(t, err)
	defer other.Close()
	s := stream(t, d)
	buf := alloc(t, d, 100)
	foreign, err := other.Alloc(8)
	must(t, err)
	freed, err := d.Alloc(8)
	must(t, err)
	must(t, freed.Free())
	must(t, freed.Free())
	eight := make([]byte, 8)
	for name, err := range map[string]error{
		"upload past the end":     s.Upload(buf, 93, eight),
		"upload before the start": s.Upload(buf, -1, eight),
		"download past the end":   s.Download(eight, buf, 1<<62),
		"fill past the end":       s.Fill(buf, 1, 100, 0),
		"fill less than nothing":  s.Fill(buf, 1, -1, 0),
		"foreign buffer":          s.Upload(foreign, 0, eight),
		"freed buffer":            s.Upload(freed, 0, eight),
		"negative size":           drop(d.Alloc(-1)),
		"no kernel":               s.Launch(nil, device.Grid{Blocks: 1, Threads: 1}),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	_, err = d.Alloc(1 << 50)
	if !errors.Is(err, device.ErrMemory) || !strings.Contains(err.Error(), fmt.Sprint(1<<50)) {
		t.Errorf("allocating 2^50 bytes: %v; want ErrMemory with the size", err)
	}
	empty := alloc(t, d, 0)
	if empty.Len() != 0 {
		t.Errorf("an empty buffer has %d bytes", empty.Len())
	}
	must(t, s.Upload(empty, 0, nil))
}

func TestEvents(t *testing.T) {
	d, _ := open(t)
	s := stream(t, d)
	buf := alloc(t, d, 1<<20)
	first, err := s.Record()
	must(t, err)
	for range 100 {
		must(t, s.Fill(buf, 0, buf.Len(), 1))
	}
	last, err := s.Record()
	must(t, err)
	must(t, s.Sync())
	if took, err := last.Since(first); err != nil || took <= 0 {
		t.Errorf("100 fills took %v, %v", took, err)
	}
	for range 5000 { // events out of reach must be used again
		must(t, drop(s.Record()))
	}
	must(t, s.Sync())
}

func TestFakeModule(t *testing.T) {
	d, fake := open(t)
	if !fake {
		t.Skip("the toy image is text that only the stand-in library understands; TestVariants loads real ones")
	}
	f := toy()
	m, err := d.Load(f, &f.Variants[0])
	must(t, err)
	again, err := d.Load(f, &f.Variants[0])
	must(t, err)
	must(t, again.Close())
	k, err := m.Kernel("run")
	must(t, err)
	if r := k.Resources(); r.MaxThreads != 256 || r.BlocksPerSM != 16 {
		t.Errorf("resources: %+v", r)
	}
	for _, entry := range []string{"other", "unheard_of"} {
		if _, err := m.Kernel(entry); !errors.Is(err, device.ErrNoEntry) {
			t.Errorf("entry %s: %v; want ErrNoEntry", entry, err)
		}
	}
	if _, err := d.Load(f, &f.Variants[1]); err == nil || !strings.Contains(err.Error(), "0000000000000099") {
		t.Errorf("a variant of another hash: %v; want both hashes", err)
	}
	s := stream(t, d)
	buf := alloc(t, d, 80)
	must(t, s.Fill(buf, 0, 80, 0))
	g := device.Grid{Blocks: 1, Threads: 128}
	for range 10 {
		must(t, s.Launch(k, g, device.Ptr(buf), device.U64(10), device.U64(3)))
	}
	must(t, s.Launch(k, g, device.Arg{Buffer: buf, Bits: 72}, device.U64(1), device.U64(12))) // the last word
	out := make([]byte, 80)
	must(t, s.Download(out, buf, 0))
	if first, last := binary.LittleEndian.Uint64(out), binary.LittleEndian.Uint64(out[72:]); first != 30 || last != 42 {
		t.Errorf("ten launches and one on the last word added %d and %d, want 30 and 42", first, last)
	}
	for name, err := range map[string]error{
		"too few arguments":     s.Launch(k, g, device.Ptr(buf)),
		"number for a buffer":   s.Launch(k, g, device.U64(1), device.U64(10), device.U64(3)),
		"buffer for a number":   s.Launch(k, g, device.Ptr(buf), device.Ptr(buf), device.U64(3)),
		"too many threads":      s.Launch(k, device.Grid{Blocks: 1, Threads: 512}, device.Ptr(buf), device.U64(1), device.U64(1)),
		"less than no blocks":   s.Launch(k, device.Grid{Blocks: -1, Threads: 1}, device.Ptr(buf), device.U64(1), device.U64(1)),
		"more blocks than fits": s.Launch(k, device.Grid{Blocks: 1 << 31, Threads: 1}, device.Ptr(buf), device.U64(1), device.U64(1)),
	} {
		if err == nil {
			t.Errorf("launch with %s: no error", name)
		}
	}
	must(t, s.Launch(k, device.Grid{Threads: 1}, device.Ptr(buf), device.U64(1), device.U64(1)))
	testFakeGrids(t, s, k, buf)
	must(t, m.Close())
	must(t, m.Close())
}

// testFakeGrids launches cooperatively and with dynamic shared memory: the
// stand-in library runs 16 blocks at once, and a block has 97 bytes.
func testFakeGrids(t *testing.T, s device.Stream, k device.Kernel, buf device.Buffer) {
	args := []device.Arg{device.Ptr(buf), device.U64(10), device.U64(5)}
	room := 97 - k.Resources().Shared
	must(t, s.Fill(buf, 0, 80, 0))
	must(t, s.Launch(k, device.Grid{Blocks: 16, Threads: 128, Shared: room, Cooperative: true}, args...))
	out := make([]byte, 80)
	must(t, s.Download(out, buf, 0))
	if got := binary.LittleEndian.Uint64(out); got != 5 {
		t.Errorf("a cooperative launch added %d, want 5", got)
	}
	must(t, s.Launch(k, device.Grid{Blocks: 16, Threads: 128, Cluster: 8}, args...))
	must(t, s.Download(out, buf, 0))
	if got := binary.LittleEndian.Uint64(out); got != 10 {
		t.Errorf("a cooperative launch and one of clusters added %d, want 10", got)
	}
	if n := k.Resources().Clusters; n != 4 {
		t.Errorf("%d clusters of 4 blocks of 128 threads, want 4", n)
	}
	for name, g := range map[string]device.Grid{
		"a part of a cluster":          {Blocks: 12, Threads: 128, Cluster: 8},
		"cooperative clusters":         {Blocks: 8, Threads: 128, Cluster: 8, Cooperative: true},
		"larger clusters than are":     {Blocks: 32, Threads: 128, Cluster: 16},
		"more blocks than run at once": {Blocks: 17, Threads: 128, Cooperative: true},
		"more shared memory than is":   {Blocks: 1, Threads: 128, Shared: room + 1},
		"less than no shared memory":   {Blocks: 1, Threads: 128, Shared: -1},
	} {
		if s.Launch(k, g, args...) == nil {
			t.Errorf("launch with %s: no error", name)
		}
	}
	for _, c := range []struct{ threads, shared, want int }{{256, 0, 8}, {64, room, 32}, {257, 0, 0}, {0, 0, 0}, {64, room + 1, 0}} {
		if n, err := k.BlocksPerSM(c.threads, c.shared); n != c.want || err != nil {
			t.Errorf("%d blocks of %d threads and %d bytes on a multiprocessor, want %d; %v", n, c.threads, c.shared, c.want, err)
		}
	}
}

// BenchmarkLaunch times handing a launch to the driver.
func BenchmarkLaunch(b *testing.B) {
	d, err := driver.Open(0, images, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	if d.Facts().Name != "Fake GPU" {
		b.Skip("the kernel is the stand-in library's; on a GPU coalesce bench launches real ones")
	}
	f := toy()
	m, err := d.Load(f, &f.Variants[0])
	if err != nil {
		b.Fatal(err)
	}
	k, err := m.Kernel("run")
	if err != nil {
		b.Fatal(err)
	}
	s, err := d.NewStream()
	if err != nil {
		b.Fatal(err)
	}
	buf, err := d.Alloc(8)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := s.Launch(k, device.Grid{Blocks: 1, Threads: 1}, device.Ptr(buf), device.U64(0), device.U64(1)); err != nil {
			b.Fatal(err)
		}
	}
}
