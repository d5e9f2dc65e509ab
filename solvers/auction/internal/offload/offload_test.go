package offload

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/emulatedtest"
	"coalesce/solvers/auction/internal/packing"
	"coalesce/solvers/solve"
)

// clash is the conflicts of so many bids at prices, each pair with a chance.
func clash(r *rand.Rand, bids int, chance float64, most int64) *packing.Conflicts {
	c := &packing.Conflicts{}
	var pairs [][2]int32
	for i := range bids {
		c.Prices = append(c.Prices, 1+r.Int64N(most))
		for j := i + 1; j < bids; j++ {
			if r.Float64() < chance {
				pairs = append(pairs, [2]int32{int32(i), int32(j)})
			}
		}
	}
	c.Count = len(pairs)
	c.Pairs = func(yield func(a, b int32) bool) {
		for _, p := range pairs {
			if !yield(p[0], p[1]) {
				return
			}
		}
	}
	return c
}

// bestPacking is the best packing's worth, by every set of bids.
func bestPacking(c *packing.Conflicts) int64 {
	rivals := make([]uint64, len(c.Prices))
	for a, b := range c.Pairs {
		rivals[a] |= 1 << b
		rivals[b] |= 1 << a
	}
	var visit func(j int, in uint64, worth int64) int64
	visit = func(j int, in uint64, worth int64) int64 {
		if j == len(c.Prices) {
			return worth
		}
		best := visit(j+1, in, worth)
		if rivals[j]&in == 0 {
			best = max(best, visit(j+1, in|1<<j, worth+c.Prices[j]))
		}
		return best
	}
	return visit(0, 0, 0)
}

// The binary quadratic program is worth as much as the best packing, and gains of large
// prices fit 32 bits.
func TestQuadraticProgramsOfPackings(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	for k := range 60 {
		c := clash(r, r.IntN(15), []float64{0.1, 0.4, 0.9}[k%3], []int64{1, 20, 1e6, 1e15}[k%4])
		inst, err := toQUBO(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		best := int64(0)
		for x := range uint64(1) << len(c.Prices) {
			v := inst.ValueInt([]uint64{x})
			best = max(best, v)
			for j := range c.Prices {
				if other := inst.ValueInt([]uint64{x ^ 1<<j}); max(v-other, other-v) > maxGain {
					t.Fatalf("a flip changes %d to %d", v, other)
				}
			}
		}
		want := bestPacking(c)
		if exact := len(c.Prices) == 0 || slices.Max(c.Prices) <= 1e6; exact && best != want {
			t.Errorf("worth %d, the best packing %d", best, want)
		}
	}
}

// On a device the search comes to the best packing of small auctions, and goes on from what
// it takes.
func TestCompanionFindsTheBest(t *testing.T) {
	d := emulatedtest.Open(t)
	r := rand.New(rand.NewPCG(3, 14))
	for k, bids := range []int{20, 40, 50, 60} {
		c := clash(r, bids, 0.5, []int64{5, 1000, 1e15}[k%3])
		want := bestPacking(c)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		best, asked := int64(0), 0
		x := packing.Exchange{
			Give: func(bids []int32) bool {
				slices.SortFunc(bids, func(a, b int32) int { return int(max(-1, min(1, c.Prices[b]-c.Prices[a]))) })
				in, worth := map[int32]bool{}, int64(0)
				for _, j := range bids {
					free := true
					for a, b := range c.Pairs {
						free = free && !(a == j && in[b] || b == j && in[a])
					}
					if free {
						in[j] = true
						worth += c.Prices[j]
					}
				}
				better := worth > best
				if best = max(best, worth); best == want {
					cancel()
				}
				return better
			},
			Take: func() []int32 {
				if asked++; asked == 1 {
					return []int32{0}
				}
				return nil
			},
		}
		var set packing.Settings
		s := Attach(&set, solve.Settings{Devices: []device.Device{d}}, time.Now())
		set.Heuristic(ctx, c, x)
		if best != want || s.searchErr != nil || s.work.Found == 0 || bids > 24 && s.work.Flips == 0 {
			t.Errorf("%d bids: found %d of %d in %d flips, %d times better: %v", bids, best, want, s.work.Flips, s.work.Found, s.searchErr)
		}
		cancel()
	}
}

// Conflicts beyond what a host should hold are refused, in words.
func TestTooManyPairs(t *testing.T) {
	s := &Companion{o: solve.Settings{Devices: []device.Device{emulatedtest.Open(t)}}}
	s.heuristic(t.Context(), &packing.Conflicts{Count: maxPairs + 1}, packing.Exchange{})
	var r solve.Report
	s.Report(&r)
	if note := strings.Join(r.Notes, " "); s.searched || !strings.Contains(note, "16777217 pairs of bids conflict, expected at most 16777216") {
		t.Errorf("found the note %q", note)
	}
}

// A search whose end comes before its beginning does nothing, and there is nothing to say.
func TestEndedBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := clash(rand.New(rand.NewPCG(2, 2)), 30, 0.5, 100)
	if _, err := toQUBO(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("found the error %v", err)
	}
	s := &Companion{o: solve.Settings{Devices: []device.Device{emulatedtest.Open(t)}}}
	s.heuristic(ctx, c, packing.Exchange{})
	if s.searchErr != nil || s.work != (Work{}) {
		t.Errorf("found %+v, %v", s.work, s.searchErr)
	}
}

// A device that is lost costs the search beside the tree and nothing else, and the report
// says so.
func TestLostDevice(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	c := clash(r, 90, 0.2, 1000)
	p := &packing.Problem{Prices: c.Prices}
	for a, b := range c.Pairs {
		p.Cliques = append(p.Cliques, []int32{a, b})
	}
	want, err := packing.Solve(t.Context(), p, packing.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, launches := range []int64{0, 3, 1 << 40} {
		d := emulatedtest.NewLosing(emulatedtest.Open(t), launches)
		set := packing.Settings{Workers: 1}
		s := Attach(&set, solve.Settings{Devices: []device.Device{d}}, time.Now())
		set.HeuristicDelay = 0
		res, err := packing.Solve(t.Context(), p, set)
		if err != nil {
			t.Fatal(err)
		}
		report := solve.Report{Device: "host"}
		s.Report(&report)
		lost := strings.Contains(strings.Join(report.Notes, " "), "ended before branch and cut")
		if res.Value != want.Value || !res.Proven() || strings.Contains(strings.Join(report.Notes, ""), "\n") || report.Device == "host" || lost != (s.searchErr != nil) {
			t.Errorf("lost after %d launches: found %d of %d, on %s: %v", launches, res.Value, want.Value, report.Device, report.Notes)
		}
		t.Logf("%v", report.Notes)
	}
}
