package host

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"coalesce/autotune/tuned"
	genqubo "coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/runtime/host"
	"coalesce/runtime/host/kernels/qubo"
	"coalesce/solvers/qubo/internal/reference"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// Densities of problems that are not sparse, by which it depends whether rows had better leave zeros out.
const (
	thin  = "thin" // less than thinBelow of the pairs have a weight
	dense = "dense"

	thinBelow = 0.1
)

// widths are the types that a search keeps numbers in: the narrowest that holds the weights, divided by 1<<shift, and that of the
// fields.
type widths struct {
	least, sum string
	shift      int
}

// widthsOf are those of a problem. Symmetric matrices have even weights: halved, more of them fit in a byte.
func widthsOf(s problem.Spans) widths {
	w := widths{least: "int8", sum: "int16"}
	if s.Grain >= 2 {
		w.shift = 1
	}
	weight := s.Weight >> w.shift
	switch {
	case s.Delta >= math.MaxInt32:
		w.least, w.sum = "int64", "int64"
	case s.Delta >= math.MaxInt16 && weight > math.MaxInt16:
		w.least, w.sum = "int32", "int32"
	case weight > math.MaxInt8:
		w.least = "int16"
	}
	if w.sum == "int16" && s.Delta >= math.MaxInt16 {
		w.sum = "int32"
	}
	return w
}

// isSparse reports whether a search keeps the pairs alone whatever was measured, and searches as suits sparse problems.
func isSparse(p *problem.Normal, least int) bool {
	return float64(len(p.Col)) < problem.DenseFrom*float64(p.N)*float64(p.N) || fullBytes(p.N, least) > denseBytes
}

// fullBytes is the memory of all weights, of so many bytes each.
func fullBytes(n, size int) int64 {
	stride := (n + qubo.Turn - 1) &^ (qubo.Turn - 1)
	return int64(size) * int64(stride) * int64(n)
}

// flipsWorkload is that of a problem of which so large a share of the pairs has weights, in qubo/hostflips on a host. Where nothing was
// measured rows leave zeros out below a density of a tenth with AVX-512, which passes over all weights at 48 bytes a nanosecond, and of
// 0.4 without: at 2,500 variables and 0.3 that takes 2.4 and 0.6 times as long.
func flipsWorkload(n int, share float64, w widths, f device.Facts) tuned.Workload {
	density, limit := dense, 0.4
	if share < thinBelow {
		density = thin
	}
	if f.Instructions == "avx512" {
		limit = thinBelow
	}
	x := tuned.Workload{Fixed: map[string]string{"least": w.least, "sum": w.sum, "density": density}, Size: n}
	if label := fmt.Sprintf("least=%s,sum=%s,weight=%s,rows=nonzero", w.least, w.sum, w.least); share < limit {
		x.Prior = tuned.Prior{Variant: genqubo.Hostflips.Variant(label), Why: "few pairs have weights"}
	}
	return x
}

// shareOf is the share of a problem's pairs that have weights.
func shareOf(p *problem.Normal) float64 { return float64(len(p.Col)) / (float64(p.N) * float64(p.N)) }

// flipsFit is an error where the weights of n variables, in a variant's rows, take more memory than they may.
func flipsFit(v *device.Variant, n int) error {
	if size := device.Value(genqubo.Hostflips.Value(v, "weight")).Size(); genqubo.Hostflips.Value(v, "rows") == allWeights && fullBytes(n, size) > denseBytes {
		return fmt.Errorf("weights of %s: %w", device.Size(float64(fullBytes(n, size))), device.ErrMemory)
	}
	return nil
}

// allWeights is the value of the parameter rows whose rows have zeros too.
const allWeights = "all"

// hostFacts are those of this host.
var hostFacts = sync.OnceValue(func() device.Facts {
	d := host.Open(0)
	defer d.Close()
	return d.Facts()
})

// chooseFlips chooses the variant of qubo/hostflips with which a search of p makes flips; a choice of none where the problem is
// sparse or tiny. Answers do not depend on it.
func chooseFlips(p *problem.Normal, o search.Setup) (tuned.Choice, error) {
	w := widthsOf(p.Spans())
	if p.N <= reference.Tiny || isSparse(p, device.Value(w.least).Size()) {
		return tuned.Choice{}, nil
	}
	facts := hostFacts()
	if f := o.WeakestFacts(); f.Kind == device.Host {
		facts = f
	}
	return o.ChooseAlgorithm(&genqubo.Hostflips, facts, flipsWorkload(p.N, shareOf(p), w, facts), func(v *device.Variant) error { return flipsFit(v, p.N) })
}

// CompanionOf is the host's search beside one on a device. Where nobody tuned this host its flips are made as by the safe variant,
// also where the user refuses guesses: these are about the device.
func CompanionOf(p *problem.Normal, o search.Setup) (Companion, error) {
	c, err := chooseFlips(p, o)
	if errors.Is(err, tuned.ErrNotTuned) {
		err = nil
	}
	return Companion{Without: o.Without, Flips: c.Variant}, err
}

// A flipper makes flips with rows of weights of type W (Step and Add of qubo/hostflips).
type flipper[W qubo.Row, S qubo.Sum] struct {
	step func(row []W, at []int32, shift int, negate bool, field []S, x, free []uint64, rotate int) qubo.Best
	add  func(row []W, at []int32, shift int, negate bool, field []S)
}

// flipperOf is a variant's, false where its weights are of another type.
func flipperOf[W qubo.Row, S qubo.Sum](v *device.Variant) (f flipper[W, S], ok bool) {
	if v == nil {
		v = tuned.LikeSafe(&genqubo.Hostflips, func(v *device.Variant) bool {
			_, ok := flipperOf[W, S](v)
			return ok
		})
	}
	if f.step, ok = v.Functions["step"].(func([]W, []int32, int, bool, []S, []uint64, []uint64, int) qubo.Best); !ok {
		return f, false
	}
	f.add, ok = v.Functions["add"].(func([]W, []int32, int, bool, []S))
	return f, ok
}
