// Package offload uses devices while branch and cut searches its tree on the host. First the devices
// look for good packings, by hundreds of tabu searches at once of a binary quadratic program that
// stands for set packing. When these find no better packings, the first device bounds the children of
// nodes.
package offload

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"coalesce/autotune/tuned"
	"coalesce/runtime/device"
	"coalesce/solvers/auction/internal/bounds"
	"coalesce/solvers/auction/internal/packing"
	"coalesce/solvers/qubo"
	"coalesce/solvers/qubo/problem"
	"coalesce/solvers/solve"
)

const (
	heuristicDelay = 200 * time.Millisecond // branch and cut searches for so long before devices search beside it
	maxPairs       = 1 << 24                // most pairs of conflicting bids for which devices search: the host needs a gigabyte for them
	maxGain        = 1<<30 - 1              // largest gain that rows of 32 bits of family qubo/bulk hold
	tabuShare      = 20                     // one bid in so many is tabu
	maxTenure      = 1000
	tabuSpread     = 10
)

// Work counts the work of devices beside branch and cut.
type Work struct {
	Flips    int64   `json:"flips"`         // bids that searches added to a packing or removed from one
	Found    int     `json:"found"`         // packings better than all before
	Last     float64 `json:"last" unit:"s"` // time from the start of the solve to the last better packing
	Nodes    int64   `json:"nodes"`         // nodes whose children a device bounded
	Children int64   `json:"children"`      // children that a device bounded
}

// A Companion searches on devices, beside the trees of an auction's parts.
type Companion struct {
	o          solve.Settings
	start      time.Time     // of the solve
	searched   bool          // a search of some part has begun
	quiet      time.Duration // searches end after this time without a better packing
	quietTimer *time.Timer   // ends the searches after quiet; nil: no such limit
	work       Work
	searchErr  error // why the searches ended before branch and cut did

	bounder         *bounds.Bounder                // of the first device; nil: none yet
	idle            atomic.Pointer[bounds.Bounder] // the same, while the device does not search
	nodes, children atomic.Int64
	mu              sync.Mutex
	boundErr        error // why children are not bounded
}

// Attach sets, in the settings of branch and cut, the functions by which o's devices search beside the
// tree and bound children. It does so where the devices are not a host and one process solves.
func Attach(set *packing.Settings, o solve.Settings, start time.Time) *Companion {
	s := &Companion{o: o, start: start, quiet: maxQuiet}
	if len(o.Devices) > 0 && o.Devices[0].Facts().Kind != device.Host && o.RankCount() == 1 {
		set.Heuristic, set.HeuristicDelay, set.Bounds = s.heuristic, heuristicDelay, s.bound
		if s.isEmulated() {
			set.HeuristicDelay, s.quiet = 0, time.Minute // an emulated device takes long for a round: it starts at once and has a minute
		}
	}
	return s
}

// isEmulated reports whether the device is an emulated one, which takes a million times as long as a GPU.
func (s *Companion) isEmulated() bool { return s.o.Devices[0].Facts().Kind == device.Emulated }

// heuristic is a packing.Heuristic: hundreds of tabu searches of a binary quadratic program, some of which
// start from the tree's best packing. The device bounds children before and after the searches.
func (s *Companion) heuristic(ctx context.Context, c *packing.Conflicts, x packing.Exchange) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.idle.Store(nil)
	if b := s.openBounder(len(c.Prices)); b != nil {
		s.quietTimer = time.AfterFunc(s.quiet, cancel)
		defer s.idle.Store(b)
	}
	if c.Count > maxPairs {
		s.searchErr = fmt.Errorf("%d pairs of bids conflict, expected at most %d", c.Count, maxPairs)
		return
	}
	s.searched = true
	inst, err := toQUBO(ctx, c)
	if err == nil {
		n := len(c.Prices)
		e := quboExchange{s, x, n}
		rules := qubo.Rules{Tenure: max(1, min(n/tabuShare, maxTenure)), Spread: tabuSpread}
		if s.isEmulated() { // an emulated device takes almost a millisecond a flip, and ends between rounds only
			rules.Searches, rules.Round = 2, 1
		}
		var res *qubo.Result
		res, err = qubo.Solve(ctx, inst, qubo.Options{
			Settings:  solve.Settings{Devices: s.o.Devices, Tuning: s.o.Tuning, Algorithm: "bulk", TimeLimit: math.MaxInt64},
			Unreduced: true,
			Rules:     rules,
			Exchange:  e,
		})
		if res != nil {
			s.work.Flips += res.Work.Flips
			e.Send(res.Solution)
		}
	}
	if err != nil && ctx.Err() == nil {
		s.searchErr = err
	}
}

// quboExchange converts between packings of the tree and solutions of the binary quadratic program.
type quboExchange struct {
	*Companion
	tree packing.Exchange
	n    int // bids
}

// Send implements qubo.Exchange.
func (e quboExchange) Send(x problem.Bits) {
	var bids []int32
	for j := range e.n {
		if x.At(j) == 1 {
			bids = append(bids, int32(j))
		}
	}
	if e.tree.Give(bids) {
		if e.work.Found++; e.quietTimer != nil {
			e.quietTimer.Reset(e.quiet)
		}
		e.work.Last = time.Since(e.start).Seconds()
	}
}

// Receive implements qubo.Exchange.
func (e quboExchange) Receive() problem.Bits {
	bids := e.tree.Take()
	if bids == nil {
		return problem.Bits{}
	}
	x := make([]uint64, problem.Words(e.n))
	for _, j := range bids {
		x[j>>6] |= 1 << (j & 63)
	}
	return problem.NewBits(x, e.n)
}

// toQUBO writes set packing as a binary quadratic program: a chosen bid adds its price, and two
// chosen bids that conflict subtract the lower of their prices. A set of bids is therefore worth no
// more than the packing that remains when the cheaper bid of each conflicting pair is removed: the
// pair's subtraction is at least the price of the removed bid. Prices are exact where gains fit 32
// bits, else rounded down until they fit. The error is that of ctx.
func toQUBO(ctx context.Context, c *packing.Conflicts) (*problem.Instance, error) {
	gains := append([]int64(nil), c.Prices...) // by bid, the most by which its flip changes the objective
	for a, b := range c.Pairs {
		less := min(c.Prices[a], c.Prices[b])
		gains[a] += less
		gains[b] += less
	}
	shift, most := 0, int64(0)
	for _, g := range gains {
		most = max(most, g)
	}
	for most>>shift > maxGain {
		shift++
	}
	q := problem.NewBuilder(len(c.Prices))
	q.Maximize()
	next := int32(0) // row by row, as the builder need not sort
	rows := func(to int32) {
		for ; next < to; next++ {
			q.LinearInt(int(next), c.Prices[next]>>shift)
		}
	}
	for a, b := range c.Pairs {
		if next <= a && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		rows(a + 1)
		q.PairInt(int(a), int(b), -(min(c.Prices[a], c.Prices[b]) >> shift))
	}
	rows(int32(len(c.Prices)))
	return q.Build()
}

// Report adds notes about the work of the devices to a report: none where no search began and no
// error occurred.
func (s *Companion) Report(r *solve.Report) Work {
	where, note := s.o.DeviceNames(), ""
	if s.searched {
		r.Device += "," + where
	}
	switch {
	case s.searchErr != nil:
		note = fmt.Sprintf("the search on %s ended before branch and cut: %s", where, oneLine(s.searchErr))
	case s.searched && s.work.Found == 0:
		note = fmt.Sprintf("a search over many starts on %s found no better allocations, in %d flips", where, s.work.Flips)
	case s.searched:
		note = fmt.Sprintf("a search over many starts on %s found %d of the better allocations, in %d flips, the last after %.3g s", where, s.work.Found, s.work.Flips, s.work.Last)
	}
	if note != "" {
		r.Notes = append(r.Notes, note)
	}
	s.work.Nodes, s.work.Children = s.nodes.Load(), s.children.Load()
	if s.work.Nodes > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%s bounded %d children of %d nodes", s.o.Devices[0].Facts(), s.work.Children, s.work.Nodes))
	}
	if s.boundErr != nil {
		r.Notes = append(r.Notes, "children of nodes are tried on the host: "+oneLine(s.boundErr))
	}
	return s.work
}

// oneLine is the text of an error, on one line.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// CheckAllowed returns an error if the settings do not allow the devices to search.
func (s *Companion) CheckAllowed() error {
	if err := errors.Join(s.searchErr, s.boundErr); errors.Is(err, tuned.ErrNotTuned) {
		return err
	}
	return nil
}
