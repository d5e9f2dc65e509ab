package collective_test

import (
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/runtime/emulated"
	"coalesce/runtime/host"
)

// groups opens groups of every size and kind that need no GPU.
func groups(t *testing.T) map[string]*collective.Group {
	t.Helper()
	all := map[string]*collective.Group{}
	add := func(name string, devices []device.Device) {
		g, err := collective.Open(devices)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := g.Close(); err != nil {
				t.Error(err)
			}
			for _, d := range devices {
				d.Close()
			}
		})
		if g.Len() != len(devices) || g.Method() != "copies" {
			t.Errorf("%s: %d devices by %s", name, g.Len(), g.Method())
		}
		all[name] = g
	}
	var three []device.Device
	for range 3 {
		three = append(three, host.Open(1))
	}
	add("host of 1", three[:1])
	add("host of 3", three)
	var emulation []device.Device
	for i := range 3 {
		d, err := emulated.Open(emulated.Options{Index: i})
		if errors.Is(err, emulated.ErrNoCompiler) && os.Getenv("COALESCE_REQUIRE_EMULATED") != "1" {
			t.Logf("without emulated devices: %v", err)
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		emulation = append(emulation, d)
	}
	add("emulated of 3", emulation)
	return all
}

// fill gives every device a buffer of n words, those of member i from value.
func fill(t *testing.T, g *collective.Group, n int, value func(i, j int) uint64) []device.Buffer {
	t.Helper()
	var buffers []device.Buffer
	for i, d := range g.Devices {
		b, err := d.Alloc(int64(8 * n))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Free() })
		raw := make([]byte, 8*n)
		for j := range n {
			binary.LittleEndian.PutUint64(raw[8*j:], value(i, j))
		}
		if err := g.Streams[i].Upload(b, 0, raw); err != nil {
			t.Fatal(err)
		}
		buffers = append(buffers, b)
	}
	return buffers
}

// expect compares the words of every member.
func expect(t *testing.T, g *collective.Group, buffers []device.Buffer, want func(i, j int) uint64) {
	t.Helper()
	if err := g.Sync(); err != nil {
		t.Fatal(err)
	}
	for i, b := range buffers {
		raw := make([]byte, b.Len())
		if err := g.Streams[i].Download(raw, b, 0); err != nil {
			t.Fatal(err)
		}
		for j := range len(raw) / 8 {
			if got := binary.LittleEndian.Uint64(raw[8*j:]); got != want(i, j) {
				t.Fatalf("device %d of %d, word %d: %#x, want %#x", i, g.Len(), j, got, want(i, j))
			}
		}
	}
}

func TestBroadcastAndAllGather(t *testing.T) {
	value := func(i, j int) uint64 { return uint64(i)<<32 | uint64(j) }
	for name, g := range groups(t) {
		t.Run(name, func(t *testing.T) {
			for root := range g.Len() {
				buffers := fill(t, g, 1000, value)
				if err := g.Broadcast(buffers, root, 8, 8*998); err != nil {
					t.Fatal(err)
				}
				expect(t, g, buffers, func(i, j int) uint64 {
					if j == 0 || j == 999 {
						return value(i, j)
					}
					return value(root, j)
				})
			}
			// Parts of unequal sizes, the middle one empty, from word 2 to 900.
			bounds := make([]int64, g.Len()+1)
			for i := range bounds {
				bounds[i] = 8 * int64([]int{2, 700, 700, 900}[i])
			}
			buffers := fill(t, g, 1000, value)
			if err := g.AllGather(buffers, bounds); err != nil {
				t.Fatal(err)
			}
			expect(t, g, buffers, func(i, j int) uint64 {
				for owner := range g.Len() {
					if at := int64(8 * j); bounds[owner] <= at && at < bounds[owner+1] {
						return value(owner, j)
					}
				}
				return value(i, j)
			})
		})
	}
}

func TestAllReduce(t *testing.T) {
	// Signs differ, so that signed and unsigned order do, and halves of words.
	value := func(i, j int) uint64 { return uint64(i+1) * uint64(j+1) * 0x9e3779b97f4a7c15 }
	halves := func(x uint64) [2]int32 { return [2]int32{int32(x), int32(x >> 32)} }
	fold := map[collective.Type]func(a, b uint64, op collective.Op) uint64{
		collective.Uint64: func(a, b uint64, op collective.Op) uint64 { return []uint64{min(a, b), max(a, b), a + b}[op] },
		collective.Int64: func(a, b uint64, op collective.Op) uint64 {
			x, y := int64(a), int64(b)
			return uint64([]int64{min(x, y), max(x, y), x + y}[op])
		},
		collective.Int32: func(a, b uint64, op collective.Op) (r uint64) {
			for k := range 2 {
				x, y := halves(a)[k], halves(b)[k]
				r |= uint64(uint32([]int32{min(x, y), max(x, y), x + y}[op])) << (32 * k)
			}
			return r
		},
	}
	for name, g := range groups(t) {
		t.Run(name, func(t *testing.T) {
			for typ := range fold {
				for _, op := range []collective.Op{collective.Min, collective.Max, collective.Sum} {
					buffers := fill(t, g, 500, value)
					if err := g.AllReduce(buffers, 16, 490*8/typ.Size(), typ, op); err != nil {
						t.Fatal(err)
					}
					expect(t, g, buffers, func(i, j int) uint64 {
						if j < 2 || j >= 492 {
							return value(i, j)
						}
						r := value(0, j)
						for k := 1; k < g.Len(); k++ {
							r = fold[typ](r, value(k, j), op)
						}
						return r
					})
				}
			}
		})
	}
}

// TestManyPieces reduces more than fits on the host at a time.
func TestManyPieces(t *testing.T) {
	g, err := collective.Open([]device.Device{host.Open(1), host.Open(1)})
	if err != nil {
		t.Fatal(err)
	}
	const n = 2*collective.Piece/8 + 3
	value := func(i, j int) uint64 { return uint64(i+1) * uint64(j) }
	buffers := fill(t, g, n, value)
	if err := g.AllReduce(buffers, 0, n, collective.Uint64, collective.Sum); err != nil {
		t.Fatal(err)
	}
	expect(t, g, buffers, func(_, j int) uint64 { return 3 * uint64(j) })
}

func TestRefusals(t *testing.T) {
	if _, err := collective.Open(nil); err == nil {
		t.Error("a group of no devices")
	}
	if _, err := collective.Open([]device.Device{host.Open(1), other{host.Open(1)}}); err == nil {
		t.Error("a group of two kinds")
	}
	g, err := collective.Open([]device.Device{host.Open(1), host.Open(1)})
	if err != nil {
		t.Fatal(err)
	}
	b := fill(t, g, 10, func(int, int) uint64 { return 0 })
	for name, err := range map[string]error{
		"root":              g.Broadcast(b, 2, 0, 8),
		"range":             g.Broadcast(b, 0, 8, 80),
		"negative size":     g.Broadcast(b, 0, 8, -8),
		"buffers":           g.Broadcast(b[:1], 0, 0, 8),
		"no buffer":         g.Broadcast([]device.Buffer{b[0], nil}, 0, 0, 8),
		"type":              g.AllReduce(b, 0, 1, 9, collective.Min),
		"operation":         g.AllReduce(b, 0, 1, collective.Int64, -1),
		"alignment":         g.AllReduce(b, 4, 1, collective.Int64, collective.Min),
		"overflowing count": g.AllReduce(b, 0, 1<<62, collective.Int64, collective.Min),
		"too many bounds":   g.AllGather(b, []int64{0, 8, 16, 24}),
		"falling bounds":    g.AllGather(b, []int64{8, 0, 16}),
		"gather range":      g.AllGather(b, []int64{0, 8, 88}),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

type other struct{ device.Device }

func (other) Facts() device.Facts { return device.Facts{Kind: "other"} }

// A linked device has a transport of its own, or a reason why not.
type linked struct {
	device.Device
	link collective.Transport
	err  error
}

func (l linked) Link([]device.Device) (collective.Transport, error) { return l.link, l.err }

type spy struct {
	collective.Copies
	calls *[]string
}

func (spy) Name() string { return "SPY 1.0" }
func (s spy) Broadcast([]device.Stream, []device.Buffer, int, int64, int64) error {
	*s.calls = append(*s.calls, "broadcast")
	return errors.New("no link")
}

func TestOwnTransport(t *testing.T) {
	var calls []string
	d := linked{host.Open(1), spy{calls: &calls}, nil}
	g, err := collective.Open([]device.Device{d, d})
	if err != nil {
		t.Fatal(err)
	}
	b := fill(t, g, 1, func(int, int) uint64 { return 0 })
	err = g.Broadcast(b, 0, 0, 8)
	if g.Method() != "SPY 1.0" || !slices.Equal(calls, []string{"broadcast"}) || err == nil || !strings.Contains(err.Error(), "SPY 1.0: no link") {
		t.Errorf("method %s, calls %v, %v", g.Method(), calls, err)
	}
	if g, err = collective.OpenCopies([]device.Device{d, d}); err != nil || g.Method() != "copies" {
		t.Errorf("a group of copies: %s, %v", g.Method(), err)
	}
	d.err = errors.New("library not found")
	if g, err = collective.Open([]device.Device{d, d}); err != nil || g.Method() != "copies (library not found)" {
		t.Errorf("without its transport: %s, %v", g.Method(), err)
	}
	if err := g.Broadcast(b, 0, 0, 8); err != nil {
		t.Error(err)
	}
}
