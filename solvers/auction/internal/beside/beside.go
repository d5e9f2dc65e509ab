// Package beside has devices work for branch and cut while it searches its tree. They look for good
// packings first, set packing as a binary quadratic program, for hundreds of tabu searches at once,
// and bound the children of nodes when these find no more.
package beside

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
	alone      = 200 * time.Millisecond // that branch and cut has before devices search beside it
	mostPairs  = 1 << 24                // of bids that conflict, where devices search: they take the host a gigabyte
	mostGains  = 1<<30 - 1              // that rows of 32 bits of family qubo/bulk take
	tabuShare  = 20                     // of the bids one in so many is tabu
	mostTabu   = 1000
	tabuSpread = 10
)

// Work is what searches beside branch and cut did.
type Work struct {
	Flips    int64   // bids put in or let go
	Found    int     // allocations better than all before
	Last     float64 // seconds from the start of the solve to the last of them
	Nodes    int64   // whose children a device bounded
	Children int64   // of these
}

// A Companion searches on devices, beside the trees of an auction's parts.
type Companion struct {
	o        solve.Settings
	start    time.Time     // of the solve
	begun    bool          // it came to search a part
	quiet    time.Duration // that searches go on without better allocations
	patience *time.Timer   // ends them then; nil: they go on
	did      Work
	err      error // why it ended before branch and cut did

	held            *bounds.Bounder                // of the first device; nil: none yet
	free            atomic.Pointer[bounds.Bounder] // the same, while the device does not search
	nodes, children atomic.Int64
	mu              sync.Mutex
	failed          error // why children are not bounded
}

// Join has o's devices work for branch and cut, of which set are the settings, where they are no
// host and one process solves.
func Join(set *packing.Settings, o solve.Settings, start time.Time) *Companion {
	s := &Companion{o: o, start: start, quiet: seeking}
	if len(o.Devices) > 0 && o.Devices[0].Facts().Kind != device.Host && o.Together() == 1 {
		set.Beside, set.Alone, set.Bounds = s.search, alone, s.bound
		if s.emulated() {
			set.Alone, s.quiet = 0, time.Minute // it takes long as it is
		}
	}
	return s
}

// emulated reports whether the device is one, which takes a million times as long.
func (s *Companion) emulated() bool { return s.o.Devices[0].Facts().Kind == device.Emulated }

// search is a packing.Beside: hundreds of tabu searches of a binary quadratic program, which
// go on from the tree's best too. The device bounds children before and after them.
func (s *Companion) search(ctx context.Context, c *packing.Conflicts, x packing.Exchange) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.free.Store(nil)
	if b := s.opened(len(c.Prices)); b != nil {
		s.patience = time.AfterFunc(s.quiet, cancel)
		defer s.free.Store(b)
	}
	if c.Count > mostPairs {
		s.err = fmt.Errorf("%d pairs of bids conflict, expected at most %d", c.Count, mostPairs)
		return
	}
	s.begun = true
	inst, err := quadratic(ctx, c)
	if err == nil {
		n := len(c.Prices)
		e := exchanged{s, x, n}
		rules := qubo.Rules{Tenure: max(1, min(n/tabuShare, mostTabu)), Spread: tabuSpread}
		if s.emulated() { // which takes almost a millisecond a flip, and ends between rounds
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
			s.did.Flips += res.Work.Flips
			e.Give(res.Solution)
		}
	}
	if err != nil && ctx.Err() == nil {
		s.err = err
	}
}

// exchanged is the tree's exchange, in solutions of the binary quadratic program.
type exchanged struct {
	*Companion
	tree packing.Exchange
	n    int // bids
}

// Give implements qubo.Exchange.
func (e exchanged) Give(x qubo.Bits) {
	var bids []int32
	for j := range e.n {
		if x.At(j) == 1 {
			bids = append(bids, int32(j))
		}
	}
	if e.tree.Give(bids) {
		if e.did.Found++; e.patience != nil {
			e.patience.Reset(e.quiet)
		}
		e.did.Last = time.Since(e.start).Seconds()
	}
}

// Take implements qubo.Exchange.
func (e exchanged) Take() qubo.Bits {
	bids := e.tree.Take()
	if bids == nil {
		return qubo.Bits{}
	}
	x := make([]uint64, problem.Words(e.n))
	for _, j := range bids {
		x[j>>6] |= 1 << (j & 63)
	}
	return problem.NewBits(x, e.n)
}

// quadratic is a packing as a binary quadratic program: each bid is worth its price, and of
// two that conflict and both are in the lesser price is taken off. So no set of bids is worth
// more than the packing that its dearer bids are: each bid that goes for a dearer one had its
// own price taken off for that pair. Prices are exact where gains fit 32 bits, else rounded
// down to what fits. Its error is ctx's where that ends.
func quadratic(ctx context.Context, c *packing.Conflicts) (*qubo.Instance, error) {
	gains := append([]int64(nil), c.Prices...) // the most that a flip changes
	for a, b := range c.Pairs {
		less := min(c.Prices[a], c.Prices[b])
		gains[a] += less
		gains[b] += less
	}
	shift, most := 0, int64(0)
	for _, g := range gains {
		most = max(most, g)
	}
	for most>>shift > mostGains {
		shift++
	}
	q := qubo.NewBuilder(len(c.Prices))
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

// Tell adds what the searches did to a report: nothing where none was begun and nothing
// hindered them.
func (s *Companion) Tell(r *solve.Report) Work {
	where, note := s.o.Where(), ""
	if s.begun {
		r.Device += "," + where
	}
	switch {
	case s.err != nil:
		note = fmt.Sprintf("the search on %s ended before branch and cut: %s", where, inline(s.err))
	case s.begun && s.did.Found == 0:
		note = fmt.Sprintf("a search over many starts on %s found no better allocations, in %d flips", where, s.did.Flips)
	case s.begun:
		note = fmt.Sprintf("a search over many starts on %s found %d of the better allocations, in %d flips, the last after %.3g s", where, s.did.Found, s.did.Flips, s.did.Last)
	}
	if note != "" {
		r.Notes = append(r.Notes, note)
	}
	s.did.Nodes, s.did.Children = s.nodes.Load(), s.children.Load()
	if s.did.Nodes > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%s bounded %d children of %d nodes", s.o.Devices[0].Facts(), s.did.Children, s.did.Nodes))
	}
	if s.failed != nil {
		r.Notes = append(r.Notes, "children of nodes are tried on the host: "+inline(s.failed))
	}
	return s.did
}

// inline is an error on one line.
func inline(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// Refused is why settings do not let the devices work; nil where they do.
func (s *Companion) Refused() error {
	if err := errors.Join(s.err, s.failed); errors.Is(err, tuned.ErrNotTuned) {
		return err
	}
	return nil
}
