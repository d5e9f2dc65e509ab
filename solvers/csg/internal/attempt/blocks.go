package attempt

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"strconv"
	"time"

	"coalesce/solvers/csg/internal/hostdp"
	"coalesce/solvers/csg/internal/price"
	"coalesce/solvers/csg/internal/variants"
	"coalesce/solvers/csg/problem"
	"coalesce/solvers/solve"
)

// PricedBlocks is the algorithm of an instance whose number of blocks counts, by a price of each block: the best structure at a price is found by prices
// of agents. The price is the slope between the best structures known of fewer and of more blocks. It gives up where the best structures of the number
// that is wanted are worth less than those on both sides make up, which no price shows, and where prices of agents give up.
type PricedBlocks struct {
	Alone bool // nothing follows, so that time does not limit it
}

// Of PricedBlocks: splittings of layers that a core evaluates in a second, and the time that prices may take in any case.
const (
	layersRate = 4e8
	leastTime  = time.Second
)

// A point is a structure's number of blocks and its value in units.
type point struct{ blocks, value int64 }

// Solve implements Algorithm.
func (a PricedBlocks) Solve(ctx context.Context, t *Task, out *Outcome) error {
	inst := t.Instance
	counts, n := inst.Blocks(), int64(inst.N)
	out.Variant, out.Refuted = "price on all cores", "prices"
	as, err := variants.Recast(ctx, inst, problem.Int32, problem.Int64)
	if err != nil {
		return err
	}
	if !as.Type.Integer() {
		return fmt.Errorf("%w: sums of these values are rounded", price.ErrCostly)
	}
	allows := func(mask uint64) bool { return !math.IsInf(inst.Value64(mask), -1) }
	limits := price.Settings{Steps: math.MaxInt64, Columns: 1 << 24, Cores: runtime.GOMAXPROCS(0)}
	end := time.Now().Add(leastTime)
	if !a.Alone {
		end = end.Add(time.Duration(0.2 * hostdp.LayersSplittings(inst.N, counts) * float64(hostdp.Layers(inst.N, counts)) / layersRate / float64(limits.Cores) * float64(time.Second)))
	}
	best := func(p problem.BlockPrice) (*price.Result, point, error) {
		if limits.Time = 0; !a.Alone {
			if limits.Time = time.Until(end); limits.Time <= 0 {
				return nil, point{}, fmt.Errorf("%w: layers take less time", price.ErrCostly)
			}
		}
		priced, err := as.Priced(p, allows)
		if err != nil {
			return nil, point{}, fmt.Errorf("%w: %w", price.ErrCostly, err)
		}
		found, err := price.Solve(ctx, priced.I64, limits)
		if err != nil {
			return nil, point{}, err
		}
		at := point{blocks: int64(len(found.Blocks))}
		for _, b := range found.Blocks {
			if !allows(b) {
				return nil, point{}, fmt.Errorf("%w: they find no structure without a forbidden block", price.ErrCostly)
			}
			at.value += valueIn(as.Instance, b)
		}
		return found, at, nil
	}
	accept := func(p problem.BlockPrice, found *price.Result, at point) error {
		out.Structure, out.Prices, out.BlockPrice = found.Blocks, found, &p
		out.Reason = fmt.Sprintf("a block costs %d of values times %d; passes over the values: %d, coalitions left: %d, looked at: %d", p.Price, p.Multiple, found.Passes, found.Survivors, found.Steps)
		out.setClaim(as, strconv.FormatInt(at.value, 10))
		return nil
	}
	free := problem.BlockPrice{Multiple: 1}
	found, at, err := best(free)
	if err != nil {
		return err
	}
	if free.Proves(counts, int(at.blocks)) {
		return accept(free, found, at)
	}
	t.Incumbent.Offer(nil, solve.Number(as.Total(strconv.FormatInt(at.value, 10))))
	low, high, want := point{1, 0}, at, int64(counts.Most)
	if at.blocks < int64(counts.Least) {
		low, high, want = at, point{blocks: n}, int64(counts.Least)
	}
	for agent := range inst.N {
		if low.blocks == at.blocks && !allows(1<<agent) {
			return fmt.Errorf("%w: an agent alone is forbidden", price.ErrCostly)
		} else if low.blocks == at.blocks {
			high.value += valueIn(as.Instance, 1<<agent)
		}
	}
	if high == at {
		if !allows(inst.GrandCoalition()) {
			return fmt.Errorf("%w: the coalition of all agents is forbidden", price.ErrCostly)
		}
		low.value = valueIn(as.Instance, inst.GrandCoalition())
	}
	for low.blocks < want && want < high.blocks {
		p := problem.BlockPrice{Multiple: high.blocks - low.blocks, Price: high.value - low.value}
		if hi, lo := bits.Mul64(uint64(max(p.Price, -p.Price)), uint64(n)); hi != 0 || lo > 1<<62 {
			break
		}
		if found, at, err = best(p); err != nil {
			return err
		}
		total := p.Multiple*at.value - p.Price*at.blocks
		t.Incumbent.Offer(nil, solve.Number(as.Total(strconv.FormatInt(floorDiv(total+p.Price*want, p.Multiple), 10))))
		if p.Proves(counts, int(at.blocks)) {
			return accept(p, found, at)
		}
		if total <= p.Multiple*low.value-p.Price*low.blocks {
			break
		}
		if at.blocks < want {
			low = at
		} else {
			high = at
		}
	}
	return fmt.Errorf("%w: no price of a block makes a structure of so many the best", price.ErrCostly)
}

// valueIn is a value of an instance of integers.
func valueIn(inst *problem.Instance, mask uint64) int64 {
	if inst.Type == problem.Int64 {
		return inst.I64[mask]
	}
	return int64(inst.Value64(mask))
}

// floorDiv is a / b rounded down, of b above 0.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
