package payoff

import (
	"context"
	"math/big"
	"math/bits"
	"runtime"
	"sync"

	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// values are the Shapley or Banzhaf values of the games of blocks.
func (g *game) values(ctx context.Context, s problem.Structure, concept string) ([]*big.Rat, error) {
	x := make([]*big.Rat, g.inst.N)
	for _, block := range s {
		sums, err := g.sums(ctx, block)
		if err != nil {
			return nil, err
		}
		b := bits.OnesCount64(block)
		weight := func(others int) *big.Rat { // of a coalition that an agent joins
			if concept == Banzhaf {
				return new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), uint(b-1)))
			}
			w := new(big.Int).Binomial(int64(b-1), int64(others))
			return new(big.Rat).SetFrac(big.NewInt(1), w.Mul(w, big.NewInt(int64(b))))
		}
		for k, agent := range problem.Agents(block) {
			total := new(big.Rat)
			for size := 0; size <= b; size++ {
				in := sums.with[k][size]
				if size > 0 {
					term := new(big.Rat).SetInt(in)
					total.Add(total, term.Mul(term, weight(size-1)))
				}
				if size < b {
					term := new(big.Rat).SetInt(new(big.Int).Sub(sums.all[size], in))
					total.Sub(total, term.Mul(term, weight(size)))
				}
			}
			x[agent-1] = total.Mul(total, g.unit)
		}
	}
	return x, nil
}

// blockSums are the sums of values of a block's coalitions in units, by their size: of all, and of those with each agent.
type blockSums struct {
	all  []*big.Int
	with [][]*big.Int
}

// A long is a sum of 128 bits, in two's complement.
type long struct{ low, high uint64 }

func (l *long) add(x int64) {
	var carry uint64
	l.low, carry = bits.Add64(l.low, uint64(x), 0)
	l.high += uint64(x>>63) + carry
}

func (l long) big() *big.Int {
	x := new(big.Int).SetInt64(int64(l.high))
	return x.Lsh(x, 64).Add(x, new(big.Int).SetUint64(l.low))
}

// Members of a tile: its sums of 2^12 limbs take 63 bits. A row are the coalitions of the low ones.
const lowBits, midBits = 6, 6

// tileSums are one core's sums of a limb over tiles, by the size of coalitions: of all, and of those with each agent.
type tileSums struct {
	row     [1 << lowBits]int64                             // the tile's values
	columns [midBits + 1][1 << lowBits]int64                // of the tile's coalitions with so many middle members and these low ones
	sizes   [1 << midBits][lowBits + 1]int64                // of the tile's rows, by the number of low members
	all     [lowBits + midBits + 1]int64                    // of the tile
	with    [lowBits + midBits][lowBits + midBits + 1]int64 // of the tile
	total   []long
	of      [][]long
}

// sums adds up the values of all coalitions within a block, on all cores: a few sums a value.
func (g *game) sums(ctx context.Context, block uint64) (*blockSums, error) {
	agents := problem.Agents(block)
	b := len(agents)
	low := min(b, lowBits)
	mid := min(b-low, midBits)
	expand := func(t uint64, from int) (mask uint64) {
		for ; t != 0; t &= t - 1 {
			mask |= 1 << (agents[from+bits.TrailingZeros64(t)] - 1)
		}
		return mask
	}
	lows, mids := make([]uint64, 1<<low), make([]uint64, 1<<mid)
	for t := range lows {
		lows[t] = expand(uint64(t), 0)
	}
	for t := range mids {
		mids[t] = expand(uint64(t), low)
	}
	out := &blockSums{all: bigs(b + 1), with: make([][]*big.Int, b)}
	for k := range out.with {
		out.with[k] = bigs(b + 1)
	}
	if g.forbids {
		for part := block; part != 0; part = (part - 1) & block {
			if !g.allowed(part) {
				return nil, solve.InvalidInput("Payoff", "found the forbidden coalition %s, expected values of all coalitions within blocks", g.inst.Coalition(part))
			}
		}
	}
	tiles := uint64(1) << (b - low - mid)
	cores := min(runtime.GOMAXPROCS(0), int(tiles))
	for limb := range g.limbs {
		parts := make([]tileSums, cores)
		var wait sync.WaitGroup
		for core := range cores {
			wait.Go(func() {
				t := &parts[core]
				t.total, t.of = make([]long, b+1), make([][]long, b)
				for k := range t.of {
					t.of[k] = make([]long, b+1)
				}
				for h := uint64(core); h < tiles && ctx.Err() == nil; h += uint64(cores) {
					high := expand(h, low+mid)
					for m, mask := range mids {
						row := t.row[:len(lows)]
						g.load(row, high|mask, lows, limb)
						t.addRow(m, row)
					}
					t.addTile(h, low, mid)
				}
			})
		}
		wait.Wait()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		for k := range parts {
			for size, v := range parts[k].total {
				addLimb(out.all[size], v, limb)
			}
			for i, line := range parts[k].of {
				for size, v := range line {
					addLimb(out.with[i][size], v, limb)
				}
			}
		}
	}
	return out, nil
}

func bigs(n int) []*big.Int {
	x := make([]*big.Int, n)
	for k := range x {
		x[k] = new(big.Int)
	}
	return x
}

func addLimb(to *big.Int, v long, limb int) {
	x := v.big()
	to.Add(to, x.Lsh(x, uint(limb*limbBits)))
}

// addRow adds a row of the middle members m.
func (t *tileSums) addRow(m int, row []int64) {
	column := t.columns[bits.OnesCount8(uint8(m))][:len(row)]
	for k, v := range row {
		column[k] += v
	}
	var of [lowBits + 1]int64
	if len(row) < 8 {
		for k, v := range row {
			of[bits.OnesCount8(uint8(k))] += v
		}
	} else {
		for k := 0; k < len(row); k += 8 {
			r := row[k:][:8]
			to := of[bits.OnesCount8(uint8(k)):][:4]
			to[0] += r[0]
			to[1] += r[1] + r[2] + r[4]
			to[2] += r[3] + r[5] + r[6]
			to[3] += r[7]
		}
	}
	t.sizes[m] = of
}

// addTile adds the rows of the high members h, and clears them.
func (t *tileSums) addTile(h uint64, low, mid int) {
	for m := range 1 << mid {
		for k, v := range t.sizes[m][:low+1] {
			size := bits.OnesCount8(uint8(m)) + k
			t.all[size] += v
			for left := m; left != 0; left &= left - 1 {
				t.with[low+bits.TrailingZeros8(uint8(left))][size] += v
			}
		}
	}
	for members := range mid + 1 {
		for k, v := range t.columns[members][:1<<low] {
			size := members + bits.OnesCount8(uint8(k))
			for left := k; left != 0; left &= left - 1 {
				t.with[bits.TrailingZeros8(uint8(left))][size] += v
			}
		}
		clear(t.columns[members][:])
	}
	others := bits.OnesCount64(h)
	for size, v := range t.all[:low+mid+1] {
		t.total[others+size].add(v)
		for left := h; left != 0; left &= left - 1 {
			t.of[low+mid+bits.TrailingZeros64(left)][others+size].add(v)
		}
		for i := range t.with[:low+mid] {
			t.of[i][others+size].add(t.with[i][size])
		}
	}
	clear(t.all[:])
	clear(t.with[:])
}
