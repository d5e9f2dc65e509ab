package plan

import (
	"fmt"
	"strconv"

	"coalesce/autotune/tuned"
	gencsg "coalesce/generated/csg"
	"coalesce/runtime/device"
	"coalesce/solvers/algorithms"
	"coalesce/solvers/csg/internal/reference"
	"coalesce/solvers/csg/internal/variants"
	"coalesce/solvers/solve"
)

// Table lists the algorithms that a solve on one device may begin with. share is the part of
// the tiles' time that prices may take before the tiles get their turn.
var Table = algorithms.NewFamily("csg/algorithm", []string{"algorithm", "share"},
	algorithms.Algorithm{Values: []string{"apart", "0"}, Kernels: &gencsg.Tiles},
	algorithms.Algorithm{Values: []string{"price", "0.05"}, Kernels: &gencsg.Price},
	algorithms.Algorithm{Values: []string{"price", "0.2"}, Kernels: &gencsg.Price},
	algorithms.Algorithm{Values: []string{"price", "1"}, Kernels: &gencsg.Price},
	algorithms.Algorithm{Values: []string{"dp", "0"}, Kernels: &gencsg.Splits},
	algorithms.Algorithm{Values: []string{"idp", "0"}, Kernels: &gencsg.Splits},
)

// From these numbers of agents on, searches by prices are quicker than tiles as a rule: pricesFrom
// beside a host's tiles, pricesFromGPU beside a GPU's, for which the host makes the search.
const (
	pricesFrom    = 20
	pricesFromGPU = 28
)

// Predict is the algorithm to begin with where nothing was measured.
func Predict(kind string, n int) (*device.Variant, string) {
	from := pricesFromGPU
	if kind == device.Host {
		from = pricesFrom
	}
	if n >= from {
		return Table.Variant("algorithm=price,share=0.2"), fmt.Sprintf("from %d agents on prices are quicker, as a rule", from)
	}
	return &Table.Variants[0], fmt.Sprintf("below %d agents tiles are quicker, as a rule", from)
}

// chooseAlgorithm returns the algorithm to begin with for n agents, among those that run there: the one that
// measurements on the device favour, else the predicted one. Values of all types share the measurements:
// times depend far more on the number of agents than on the type.
func chooseAlgorithm(o *solve.Settings, facts device.Facts, n int) (Choice, error) {
	w := algorithms.PredictedWorkload(map[string]string{}, n, func(n int) (*device.Variant, string) { return Predict(facts.Kind, n) })
	c, err := o.ChooseAlgorithm(Table, facts, w, func(v *device.Variant) error { return CheckRunnable(v, facts, n) })
	return Choice{c}, err
}

// A Choice is the algorithm to begin with; the zero value is none.
type Choice struct{ tuned.Choice }

// Method is the algorithm, empty for none.
func (c Choice) Method() reference.Method {
	if c.Variant == nil {
		return ""
	}
	return reference.Method(Table.Value(c.Variant, "algorithm"))
}

// Share is the share of an algorithm by prices in the time of the tiles.
func (c Choice) Share() float64 {
	x, err := strconv.ParseFloat(Table.Value(c.Variant, "share"), 64)
	if err != nil {
		panic(err) // Table has a share that is no number
	}
	return x
}

// ReasonOf is the reason of the variant that runs, after that of a measured choice.
func (c Choice) ReasonOf(reason string) string {
	return algorithms.PrefixReason(Table, c.Choice, reason)
}

// CheckRunnable returns an error where a device does not run an algorithm. A host does not run its dynamic
// programs by levels, because its tiles give the same answer in less time.
func CheckRunnable(v *device.Variant, facts device.Facts, n int) error {
	switch m := reference.Method(Table.Value(v, "algorithm")); {
	case m != reference.DP && m != reference.IDP:
		return nil
	case facts.Kind == device.Host:
		return fmt.Errorf("%s is slower than tiles on a host", m)
	}
	var refused error
	for k := range gencsg.Splits.Variants {
		if refused = variants.CheckFeasible(&gencsg.Splits, &gencsg.Splits.Variants[k], facts, n, 1); refused == nil {
			break
		}
	}
	return refused
}
