//go:build cuda

package driver_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/collective"
	"coalesce/runtime/device"
	"coalesce/runtime/driver"
)

// all opens every GPU; tests of several need two.
func all(t *testing.T) []device.Device {
	t.Helper()
	n, err := driver.Count()
	must(t, err)
	if n < 2 {
		t.Skipf("%d GPU here, and this needs two", n)
	}
	var devices []device.Device
	for i := range n {
		d, err := driver.Open(i, images, nil)
		must(t, err)
		t.Cleanup(func() { must(t, d.Close()) })
		devices = append(devices, d)
	}
	return devices
}

func TestReaches(t *testing.T) {
	devices := all(t)
	for i, d := range devices {
		for j, other := range devices {
			can, err := d.(device.PeerAccessor).PeerAccess(other)
			must(t, err)
			t.Logf("GPU %d reaches %d: %t", i, j, can)
			if i == j && !can {
				t.Errorf("GPU %d does not reach its own memory", i)
			}
		}
	}
}

// TestCopyBetween sends a pattern from every GPU to every other, ordered by
// events alone, and times the link.
func TestCopyBetween(t *testing.T) {
	devices := all(t)
	const n = 4 << 20
	var streams []device.Stream
	var from, to []device.Buffer
	for _, d := range devices {
		streams = append(streams, stream(t, d))
		from = append(from, alloc(t, d, n))
		to = append(to, alloc(t, d, n))
	}
	got := make([]byte, n)
	for i := range devices {
		for j := range devices {
			must(t, streams[i].Fill(from[i], 0, n, byte(16*i+j)))
			e, err := streams[i].Record()
			must(t, err)
			must(t, streams[j].Wait(e))
			must(t, streams[j].Fill(to[j], 0, n, 0xff))
			must(t, streams[j].Copy(to[j], 1, from[i], 2, n-3))
			const times = 20
			begin, err := streams[j].Record()
			must(t, err)
			for range times {
				must(t, streams[j].Copy(to[j], 1, from[i], 2, n-3))
			}
			end, err := streams[j].Record()
			must(t, err)
			must(t, streams[j].Download(got, to[j], 0))
			for k, x := range got {
				want := byte(16*i + j)
				if k < 1 || k >= n-2 {
					want = 0xff
				}
				if x != want {
					t.Fatalf("from GPU %d to %d: byte %d is %#x, want %#x", i, j, k, x, want)
				}
			}
			must(t, streams[j].Sync())
			took, err := end.Since(begin)
			must(t, err)
			t.Logf("cuda:%d to cuda:%d: %d MiB in %v, %.0f GB/s", i, j, n>>20, took/times, n*times/took.Seconds()/1e9)
			e, err = streams[j].Record()
			must(t, err)
			must(t, streams[i].Wait(e)) // the source is filled anew
		}
	}
	s := streams[0]
	for name, err := range map[string]error{
		"past the source":      s.Copy(to[1], 0, from[0], 4, n-3),
		"past the destination": s.Copy(to[1], 4, from[0], 0, n-3),
		"less than nothing":    s.Copy(to[1], 0, from[0], 0, -1),
		"no buffer":            s.Copy(nil, 0, from[0], 0, 1),
		"no event":             s.Wait(nil),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	must(t, s.Copy(to[0], 0, from[0], 0, 0))
}

// TestGroup runs every operation by NCCL, where it is found, and by copies.
func TestGroup(t *testing.T) {
	devices := all(t)
	own, err := collective.Open(devices)
	must(t, err)
	copies, err := collective.OpenCopies(devices)
	must(t, err)
	t.Logf("%d GPUs by %s", own.Len(), own.Method())
	if devices[0].Facts().Name == "Fake GPU" && own.Method() != "NCCL 2.28.9" {
		t.Errorf("the stand-in for NCCL was not found: %s", own.Method())
	}
	for _, g := range []*collective.Group{own, copies} {
		testGroup(t, g)
		must(t, g.Close())
	}
	twice, err := collective.Open([]device.Device{devices[0], devices[0]})
	must(t, err)
	if m := twice.Method(); !strings.HasPrefix(m, "copies (") {
		t.Errorf("a GPU twice in a group, by %s", m)
	}
	testGroup(t, twice)
	must(t, twice.Close())
}

func testGroup(t *testing.T, g *collective.Group) {
	t.Helper()
	const n = 1000
	value := func(i, j int) int64 { return int64(j-500) * int64(1+2*i) }
	fill := func() (buffers []device.Buffer) {
		for i, d := range g.Devices {
			raw := make([]byte, 8*n)
			for j := range n {
				binary.LittleEndian.PutUint64(raw[8*j:], uint64(value(i, j)))
			}
			b := alloc(t, d, 8*n)
			must(t, g.Streams[i].Upload(b, 0, raw))
			buffers = append(buffers, b)
		}
		return buffers
	}
	expect := func(what string, buffers []device.Buffer, want func(j int) int64) {
		t.Helper()
		for i, b := range buffers {
			raw := make([]byte, 8*n)
			must(t, g.Streams[i].Download(raw, b, 0))
			for j := range n {
				if got := int64(binary.LittleEndian.Uint64(raw[8*j:])); got != want(j) {
					t.Fatalf("%s by %s: GPU %d, value %d: %d, want %d", what, g.Method(), i, j, got, want(j))
				}
			}
		}
	}
	last := g.Len() - 1
	b := fill()
	must(t, g.Broadcast(b, last, 0, 8*n))
	expect("broadcast", b, func(j int) int64 { return value(last, j) })
	for _, op := range []collective.Op{collective.Min, collective.Max, collective.Sum} {
		b = fill()
		must(t, g.AllReduce(b, 0, n, collective.Int64, op))
		expect("all-reduce", b, func(j int) int64 {
			r := value(0, j)
			for i := 1; i < g.Len(); i++ {
				v := value(i, j)
				r = []int64{min(r, v), max(r, v), r + v}[op]
			}
			return r
		})
	}
	b = fill() // as 32-bit halves, and unsigned: negative numbers are the large ones
	must(t, g.AllReduce(b, 0, 2*n, collective.Int32, collective.Sum))
	expect("all-reduce of halves", b, func(j int) int64 {
		var low, high uint32
		for i := range g.Len() {
			low += uint32(value(i, j))
			high += uint32(value(i, j) >> 32)
		}
		return int64(uint64(high)<<32 | uint64(low))
	})
	b = fill()
	must(t, g.AllReduce(b, 0, n, collective.Uint64, collective.Max))
	expect("all-reduce unsigned", b, func(j int) int64 {
		r := uint64(value(0, j))
		for i := 1; i < g.Len(); i++ {
			r = max(r, uint64(value(i, j)))
		}
		return int64(r)
	})
	bounds := make([]int64, g.Len()+1)
	for i := range bounds {
		bounds[i] = 8 * int64(n*i*i/(g.Len()*g.Len())) // unequal parts
	}
	b = fill()
	must(t, g.AllGather(b, bounds))
	expect("all-gather", b, func(j int) int64 {
		i := 0
		for int64(8*j) >= bounds[i+1] {
			i++
		}
		return value(i, j)
	})
	// What a round costs, small and large.
	for _, count := range []int64{1, 1 << 17} {
		var buffers []device.Buffer
		for i, d := range g.Devices {
			buffers = append(buffers, alloc(t, d, 8*count))
			must(t, g.Streams[i].Fill(buffers[i], 0, 8*count, 0))
		}
		const rounds = 20
		must(t, g.AllReduce(buffers, 0, count, collective.Int64, collective.Min))
		must(t, g.Sync())
		begin := time.Now()
		for range rounds {
			must(t, g.AllReduce(buffers, 0, count, collective.Int64, collective.Min))
		}
		must(t, g.Sync())
		t.Logf("all-reduce of %d int64 by %s: %v", count, g.Method(), time.Since(begin)/rounds)
	}
}

// TestJoin makes a communicator of processes, of this one alone, and gathers by it.
func TestJoin(t *testing.T) {
	d, _ := open(t)
	j := d.(collective.Joiner)
	name, err := j.TransportName()
	if err != nil {
		t.Skip(err)
	}
	id, err := j.UniqueID()
	if err != nil {
		t.Fatal(err)
	}
	link, err := j.Join(id, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b, err := d.Alloc(16)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Free()
	streams, buffers := []device.Stream{s}, []device.Buffer{b}
	sent, got := []byte("sixteen letters!"), make([]byte, 16)
	err = errors.Join(s.Upload(b, 0, sent), link.AllGather(streams, buffers, []int64{0, 16}), link.Broadcast(streams, buffers, 0, 0, 16),
		link.AllReduce(streams, buffers, 0, 2, collective.Uint64, collective.Max), s.Download(got, b, 0), link.Close())
	if err != nil || string(got) != string(sent) || link.Name() != name {
		t.Errorf("%q by %s, %v", got, link.Name(), err)
	}
	if _, err := j.Join(id[1:], 0, 1); err == nil {
		t.Error("a short id: no error")
	}
}
