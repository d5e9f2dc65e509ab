package bidders

import (
	"coalesce/autotune/subject"
	"coalesce/generated/auction"
	"coalesce/runtime/device"
)

// Subjects are the families of tables, for the tuner.
func Subjects() []subject.Subject { return []subject.Subject{tunable{}} }

// tunable is auction/bidders for the tuner, which times the tables of two halves of the bidders and
// the search for their best sum.
type tunable struct{}

func (tunable) Family() *device.Family { return &auction.Bidders }

func (tunable) Workloads() []map[string]string {
	return []map[string]string{{"value": string(device.Int32)}, {"value": string(device.Int64)}}
}

func (tunable) Sizes(f device.Facts) []int {
	if f.Kind == device.CUDA {
		return []int{20, 25}
	}
	return []int{8, 14}
}

func (tunable) Feasible(v *device.Variant, f device.Facts, size int) error {
	return checkFits(v, f, size)
}

// unitPrice is the approximate price of an item in drawn problems: large enough that sums need the type.
func unitPrice(fixed map[string]string) int64 {
	if fixed["value"] == string(device.Int64) {
		return 1 << 40
	}
	return 1000
}

// Cases have bids alone, alternatives, more of them than a block looks at together, equal
// prices and items that nobody asks for, below the items of a tile and above.
func (tunable) Cases(fixed map[string]string) ([]subject.Case, error) {
	high := unitPrice(fixed)
	one := &Problem{Items: 1, Bidders: [][]Bid{{{Items: 1, Price: high + 1, ID: 0}}, {{Items: 1, Price: high, ID: 1}, {Items: 0, Price: 1, ID: 2}}}}
	ties := drawProblem(15, 60, 4, high, 3)
	for _, bids := range ties.Bidders {
		for k := range bids {
			bids[k].Price = high
		}
	}
	var cases []subject.Case
	for name, p := range map[string]*Problem{
		"no items":              {},
		"one item":              one,
		"few items":             drawProblem(5, 12, 3, high, 1),
		"bids alone":            drawProblem(15, 50, 1, high, 2),
		"ties":                  ties,
		"alternatives":          drawProblem(16, 60, 5, high, 4),
		"hundreds alternatives": drawProblem(15, 700, 350, high, 5),
		"items nobody wants":    {Items: 15, Bidders: drawProblem(9, 30, 2, high, 6).Bidders},
	} {
		cases = append(cases, subject.Case{Name: name, Instance: newTrial(p)})
	}
	return cases, nil
}

// Instance has bids alone and alternatives of five, of three items or more.
func (tunable) Instance(fixed map[string]string, size int, seed uint64) (subject.Instance, error) {
	return newTrial(drawProblem(size, 200, 5, unitPrice(fixed), seed)), nil
}

func (tunable) Open(d device.Device, v *device.Variant) (subject.Runner, error) {
	on := DeviceTables{Device: d, Variant: v}
	return subject.Open(&auction.Bidders, v, func(t *Trial) (subject.Job, error) {
		j, err := on.newTrialJob(t)
		if err != nil {
			return nil, err
		}
		return j, nil
	})
}
