package multistart

import (
	"context"
	"slices"
	"time"

	"coalesce/solvers/qubo/internal/draw"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// hostStarter is massive multi-start in plain Go on sparse rows: the reference
// of the device's, with the same random numbers, and the paper's CPU.
type hostStarter struct {
	p        *problem.Normal
	best     []uint64
	slots    [][]uint64
	gain     []int64
	blend    string
	deadline time.Time // of sampling; zero: none
	ctx      context.Context
}

func newHostStarter(ctx context.Context, p *problem.Normal, batch int) *hostStarter {
	return &hostStarter{ctx: ctx, p: p, slots: make([][]uint64, max(1, batch)), gain: make([]int64, p.N)}
}

func (h *hostStarter) sample(count int, seed uint64) (float64, error) {
	sum := 0.0
	x := make([]uint64, problem.Words(h.p.N))
	for s := range count {
		if s > 0 && (h.ctx.Err() != nil || !h.deadline.IsZero() && time.Now().After(h.deadline)) {
			return sum / float64(s) * float64(count), nil // of those that there was time for
		}
		for w := range x {
			x[w] = draw.RandomWord(seed, uint64(s), uint64(w))
		}
		draw.ClearPadding(x, h.p.N)
		sum += float64(h.p.Value(x))
	}
	return sum, nil
}

func (h *hostStarter) begin(x []uint64) error {
	h.best = slices.Clone(x)
	for s := range h.slots {
		h.slots[s] = slices.Clone(x)
	}
	return nil
}

func (h *hostStarter) runBatch(count int, counter, strides, seed uint64, threshold float64, limit int64) ([]outcome, error) {
	list := make([]outcome, count)
	for s := range list {
		x := h.slots[s]
		if i := counter + uint64(s); i > 0 {
			h.diversify(x, i, strides, seed)
		}
		list[s] = outcome{h.p.Value(x), -1}
		if float64(list[s].value) > threshold {
			h.ascend(x, &list[s], limit)
		}
	}
	return list, nil
}

// diversify blends x with the best and turns over every stride-th variable.
func (h *hostStarter) diversify(x []uint64, i, strides, seed uint64) {
	for w := range x {
		if h.blend == search.BlendNone {
			break
		}
		c := draw.RandomWord(seed, i, uint64(w))
		x[w] = h.best[w]&c | x[w]&^c
	}
	draw.FlipStride(x, h.p.N, i, strides)
}

// ascend flips the variable of the largest gain, the first of equals, while any gain is above 0.
func (h *hostStarter) ascend(x []uint64, o *outcome, limit int64) {
	h.p.Deltas(x, h.gain)
	for o.flips = 0; o.flips < limit; o.flips++ {
		at := 0
		for j, g := range h.gain {
			if g > h.gain[at] {
				at = j
			}
		}
		if len(h.gain) == 0 || h.gain[at] <= 0 || o.flips%64 == 63 && h.ctx.Err() != nil {
			return
		}
		o.value += h.gain[at]
		x[at>>6] ^= 1 << (at & 63)
		col, weight := h.p.Row(at)
		one := problem.Bit(x, at)
		for k, j := range col {
			if problem.Bit(x, int(j)) == one {
				h.gain[j] -= weight[k]
			} else {
				h.gain[j] += weight[k]
			}
		}
		h.gain[at] = -h.gain[at]
	}
}

func (h *hostStarter) solution(slot int) ([]uint64, error) { return slices.Clone(h.slots[slot]), nil }

func (h *hostStarter) makeBest(slot int) error {
	if h.blend != search.BlendStart {
		copy(h.best, h.slots[slot])
	}
	return nil
}

// Close has nothing to give back.
func (h *hostStarter) Close() error { return nil }
