package collective

import (
	"sync"
	"testing"

	"coalesce/runtime/device"
	"coalesce/runtime/host"
)

// ranked has goroutines be ranks with 1, 2, 1, ... host devices each.
func ranked(t *testing.T, n int, work func(g *Group, r Ranks)) {
	t.Helper()
	var wait sync.WaitGroup
	for _, r := range NewThreads(n) {
		wait.Go(func() {
			devices := []device.Device{host.Open(1)}
			if r.Rank()%2 == 1 {
				devices = append(devices, host.Open(1))
			}
			g, err := Join(devices, r)
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
	const n = piece/8 + 5
	value := func(i, j int) uint64 { return uint64(i+1)<<40 | uint64(j) }
	ranked(t, 3, func(g *Group, r Ranks) {
		if first := []int{0, 1, 3}[r.Rank()]; g.Len() != 4 || g.First() != first || g.Method() != "copies through MPI" {
			t.Errorf("rank %d: %d members from %d by %s, want 4 from %d", r.Rank(), g.Len(), g.First(), g.Method(), first)
			return
		}
		mine := func(i, j int) uint64 { return value(g.First()+i, j) }
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
		before := r.(*thread).Sent()
		b := fill(t, g, n, mine)
		if err := g.AllReduce(b, 8, n-1, Uint64, Sum); err != nil {
			t.Error(err)
			return
		}
		expect(t, g, b, func(i, j int) uint64 {
			if j == 0 {
				return mine(i, j)
			}
			return 10<<40 + 4*uint64(j)
		})
		if sent := r.(*thread).Sent() - before; sent != 8*(n-1) {
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

// TestLeave ends a rank while another waits for it.
func TestLeave(t *testing.T) {
	r := NewThreads(2)
	var wait sync.WaitGroup
	wait.Go(func() {
		if err := r[0].Broadcast(make([]byte, 8), 1); err == nil {
			t.Error("a broadcast from a rank that has left: no error")
		}
	})
	r[1].(*thread).Leave()
	wait.Wait()
}
