package bidders

import (
	"fmt"
	"math/big"

	"coalesce/autotune/tuned"
	"coalesce/generated/auction"
	"coalesce/runtime/device"
	"coalesce/solvers/auction/problem"
	"coalesce/solvers/solve"
)

// hostRate is the number of sets of items that a core of a host visits a second: 1.3e9 to 2.2e9 for
// 160 and 640 bids on 22 items, more for fewer items (2 cores of an AMD EPYC).
const hostRate = 1e9

// OnKernels reports whether a solve has a device whose kernels make tables.
func OnKernels(o solve.Settings) bool {
	return len(o.Devices) > 0 && o.Devices[0].Facts().Kind != device.Host
}

// itemLimit is the most items of which a solve makes tables. Settings that tables do not support are
// an error.
func itemLimit(o solve.Settings) (int, error) {
	all := len(o.Devices) * o.RankCount()
	switch {
	case all > 1:
		return 0, solve.InvalidInput("Devices", "found %d, expected one: it makes the tables", all)
	case OnKernels(o):
		return MaxItemsOnDevice, nil
	case o.Variant != "":
		return 0, o.RefuseVariant("bidders on a host")
	}
	return MaxItems, nil
}

// A TablePlan is an auction as lists of alternative bids, with what makes their tables.
type TablePlan struct {
	*Problem
	List   []int // of each atomic bid; -1: the bid cannot win
	On     DeviceTables
	Reason string // for the variant
}

// NewTablePlan decides whether a device or the host makes the tables of an auction. Its errors wrap
// problem.ErrItems, problem.ErrSize or device.ErrMemory.
func NewTablePlan(p *problem.AtomicBids, o solve.Settings) (*TablePlan, error) {
	limit, err := itemLimit(o)
	if err != nil {
		return nil, err
	}
	sum := new(big.Int)
	for _, b := range p.Bids {
		sum.Add(sum, big.NewInt(max(0, b.Price)))
	}
	if !sum.IsInt64() {
		return nil, fmt.Errorf("%s: %w: prices that add up to %s, expected less than 2^63 units of 10^-%d", p.Source, problem.ErrSize, p.FormatPrice(sum), p.Scale)
	}
	x, list := New(p.Auction)
	if x.Items > limit {
		return nil, fmt.Errorf("%s: %w: found %d items that bids of several bidders ask for, expected at most %d", p.Source, problem.ErrItems, x.Items, limit)
	}
	on, reason, err := x.place(o)
	if err != nil {
		return nil, err
	}
	return &TablePlan{x, list, on, reason}, nil
}

// place decides whether the device, with a chosen variant, or the host makes a problem's tables, and
// gives the reason.
func (p *Problem) place(o solve.Settings) (on DeviceTables, reason string, err error) {
	if !OnKernels(o) {
		return DeviceTables{}, "asked for", nil
	}
	facts := o.Devices[0].Facts()
	choice, err := o.Choose(&auction.Bidders, facts, p.Workload(), func(v *device.Variant) error { return checkFits(v, facts, p.Items) })
	if err != nil {
		return DeviceTables{}, "", err
	}
	return DeviceTables{Device: o.Devices[0], Variant: choice.Variant}, choice.Reason(), nil
}

// Workload has the parameters by which variants for the problem are tuned.
func (p *Problem) Workload() tuned.Workload {
	w := tuned.Workload{Fixed: map[string]string{"value": string(device.Int64)}, Size: p.Items}
	if p.FitsInt32() {
		w.Fixed["value"] = string(device.Int32)
	}
	return w
}

// EstimateSeconds is an upper estimate of a device's time for a table of all bidders: the time of bidders
// that are added one by one, with values of 4 bytes, at so many sets a second.
func (p *Problem) EstimateSeconds(f device.Facts) float64 {
	rate := 1e12
	if f.Kind == device.Host {
		rate = hostRate * float64(f.SMs)
	}
	peeled, _ := p.orderItems()
	sum := 0.0
	for _, bids := range peeled.Bidders {
		sum += newPlanner(bids).cost()
	}
	if !p.FitsInt32() {
		sum *= 2
	}
	return sum / rate
}
