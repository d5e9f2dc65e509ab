package collective_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"coalesce/runtime/collective"
	"coalesce/runtime/collective/collectivetest"
	"coalesce/runtime/device"
	"coalesce/runtime/host"
)

// ranked has goroutines be ranks with 1, 2, 1, ... host devices each.
func ranked(t *testing.T, n int, work func(g *collective.Group, r collective.Ranks)) {
	t.Helper()
	var wait sync.WaitGroup
	for _, r := range collectivetest.Ranks(n) {
		wait.Go(func() {
			devices := []device.Device{host.Open(1)}
			if r.Rank()%2 == 1 {
				devices = append(devices, host.Open(1))
			}
			g, err := collective.Join(devices, r)
			if err != nil {
				t.Error(err)
				return
			}
			work(g, r)
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}

// TestProcesses moves values among the members of 3 ranks: 0, then 1 and 2, then 3; in
// more than one piece.
func TestProcesses(t *testing.T) {
	const n = collective.Piece/8 + 5
	value := func(i, j int) uint64 { return uint64(i+1)<<40 | uint64(j) }
	ranked(t, 3, func(g *collective.Group, r collective.Ranks) {
		if first := []int{0, 1, 3}[r.Rank()]; g.Len() != 4 || g.FirstMember() != first || g.Method() != "copies through MPI" {
			t.Errorf("rank %d: %d members from %d by %s, want 4 from %d", r.Rank(), g.Len(), g.FirstMember(), g.Method(), first)
			return
		}
		mine := func(i, j int) uint64 { return value(g.FirstMember()+i, j) }
		for root := range 4 {
			b := fill(t, g, n, mine)
			if err := g.Broadcast(b, root, 8, 8*(n-2)); err != nil {
				t.Error(err)
				return
			}
			expect(t, g, b, func(i, j int) uint64 {
				if j == 0 || j == n-1 {
					return mine(i, j)
				}
				return value(root, j)
			})
		}
		before := r.(interface{ BytesSent() int64 }).BytesSent()
		b := fill(t, g, n, mine)
		if err := g.AllReduce(b, 8, n-1, collective.Uint64, collective.Sum); err != nil {
			t.Error(err)
			return
		}
		expect(t, g, b, func(i, j int) uint64 {
			if j == 0 {
				return mine(i, j)
			}
			return 10<<40 + 4*uint64(j)
		})
		if sent := r.(interface{ BytesSent() int64 }).BytesSent() - before; sent != 8*(n-1) {
			t.Errorf("rank %d sent %d bytes of a reduction of %d", r.Rank(), sent, 8*(n-1))
		}
		// Parts of unequal sizes, member 1's empty.
		bounds := []int64{16, 8 * 100, 8 * 100, 8 * (n - 7), 8 * (n - 1)}
		b = fill(t, g, n, mine)
		if err := g.AllGather(b, bounds); err != nil {
			t.Error(err)
			return
		}
		expect(t, g, b, func(i, j int) uint64 {
			for owner := range 4 {
				if at := int64(8 * j); bounds[owner] <= at && at < bounds[owner+1] {
					return value(owner, j)
				}
			}
			return mine(i, j)
		})
	})
}

// joins is a device with a transport to other processes, or none, and a name.
type joins struct {
	device.Device
	id, version string
	err         error
	ids         *sync.Map // what each rank joined with
}

func (j joins) Facts() device.Facts { return device.Facts{Kind: "joins", UUID: j.id} }
func (j joins) TransportName() (string, error) {
	return j.version, j.err
}
func (j joins) UniqueID() ([]byte, error) { return []byte("the id of rank 0"), nil }
func (j joins) Join(id []byte, rank, size int) (collective.Transport, error) {
	j.ids.Store(rank, fmt.Sprintf("%s, %d of %d", id, rank, size))
	return spy{calls: new([]string)}, nil
}

// TestJoiners has ranks take the devices' own transport where all can, else all of them
// copies, and say why.
func TestJoiners(t *testing.T) {
	for want, own := range map[string][2]joins{
		"SPY 1.0": {{id: "a", version: "SPY 1.0"}, {id: "b", version: "SPY 1.0"}},
		"copies through MPI (ranks 0 and 1 share a GPU)":          {{id: "a", version: "SPY 1.0"}, {id: "a", version: "SPY 1.0"}},
		"copies through MPI (rank 1 has SPY 1.1, rank 0 SPY 1.0)": {{id: "a", version: "SPY 1.0"}, {id: "b", version: "SPY 1.1"}},
		"copies through MPI (no library)":                         {{id: "a", version: "SPY 1.0"}, {id: "b", err: errors.New("no library")}},
	} {
		var ids sync.Map
		ranks := collectivetest.Ranks(2)
		err := collective.OnAll(2, func(k int) error {
			d := own[k]
			d.Device, d.ids = host.Open(1), &ids
			cached := device.Cache(d) // as sessions have devices
			defer cached.Close()
			g, err := collective.Join([]device.Device{cached}, ranks[k])
			if err != nil {
				return err
			}
			different, err := collective.CountDistinctDevices([]device.Device{cached}, ranks[k])
			if shared := strings.Contains(want, "share a GPU"); err != nil || (different == 1) != shared || different > 2 {
				t.Errorf("%s: %d different devices, %v", want, different, err)
			}
			if g.Method() != want {
				t.Errorf("rank %d talks by %q, want %q", k, g.Method(), want)
			}
			return g.Close()
		})
		if err != nil {
			t.Fatal(err)
		}
		for k := range 2 {
			got, joined := ids.Load(k)
			if joined != (want == "SPY 1.0") || joined && got != fmt.Sprintf("the id of rank 0, %d of 2", k) {
				t.Errorf("%s: rank %d joined with %v", want, k, got)
			}
		}
	}
}

// TestLeave ends a rank while another waits for it.
func TestLeave(t *testing.T) {
	r := collectivetest.Ranks(2)
	var wait sync.WaitGroup
	wait.Go(func() {
		if err := r[0].Broadcast(make([]byte, 8), 1); err == nil {
			t.Error("a broadcast from a rank that has left: no error")
		}
	})
	r[1].(interface{ FailAll() }).FailAll()
	wait.Wait()
}
