package experiment

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"coalesce/autotune/subject"
	"coalesce/autotune/verify"
	"coalesce/bench/result"
	"coalesce/runtime/device"
)

// ErrLate says that the budget was spent; what was measured is kept.
var ErrLate = errors.New("the budget is spent: the experiment is not complete")

// Verification says which variants are run on the small cases of their subjects, whose answers are
// compared with the references'.
type Verification struct {
	Variant string // a label; empty: all variants, or with Sample those that show some value of some parameter first
	Sample  bool
	Largest int // size of a case; 0: no limit
}

// Register adds the flags of a verification to the command line; variant describes the flag of that name.
func (of *Verification) Register(variant string) {
	flag.StringVar(&of.Variant, "variant", "", variant)
	flag.IntVar(&of.Largest, "largest", 0, "verify only on cases of at most this size, or the smallest (default: all)")
	flag.BoolVar(&of.Sample, "sample", false, "verify only variants that show some value of some parameter first")
}

// A Verdict is the outcome of a variant: how many cases were right, the seconds that they took, and the
// error, empty if there was none.
type Verdict struct {
	Family  *device.Family
	Variant *device.Variant
	Cases   int
	Seconds float64
	Failed  string
}

// Verify adds the row of each variant of the subjects whose families, by short names, are asked for; of all
// that run on the device where none is.
func Verify[R result.Measured](b *Bench[R], of Verification, subjects []subject.Subject, families []string, row func(Verdict) R) (err error) {
	stream, err := b.Dev.NewStream()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stream.Close()) }()
	for _, s := range subjects {
		f := s.Family()
		_, short, _ := strings.Cut(f.Name, "/")
		if f.Target == device.Host != (b.Facts.Kind == device.Host) || len(families) > 0 && !slices.Contains(families, short) {
			continue
		}
		variants, right := of.Variants(f), 0
		for _, v := range variants {
			if b.OutOfTime() {
				return ErrLate
			}
			start := time.Now()
			cases, err := verify.Variant(b.Ctx, b.Dev, stream, s, v, of.Largest)
			found := Verdict{Family: f, Variant: v, Cases: cases, Seconds: time.Since(start).Seconds()}
			if err != nil {
				found.Failed = err.Error()
				fmt.Printf("%s %s FAILED: %v\n", f.Name, v.Label, err)
			} else {
				right++
				fmt.Printf("%s %s: %d cases right in %.1f s\n", f.Name, v.Label, cases, found.Seconds)
			}
			b.AddRow(row(found))
		}
		fmt.Printf("%s: %d of %d variants right\n", f.Name, right, len(variants))
	}
	return nil
}

// Variants are those of a family that are asked for. A sample has every value of every parameter.
func (of Verification) Variants(f *device.Family) []*device.Variant {
	if of.Sample && of.Variant == "" {
		return sample(f)
	}
	var list []*device.Variant
	for i := range f.Variants {
		if v := &f.Variants[i]; of.Variant == "" || of.Variant == v.Label {
			list = append(list, v)
		}
	}
	return list
}

// sample are the variants of a family that show some value of a parameter first.
func sample(f *device.Family) []*device.Variant {
	var list []*device.Variant
	seen := map[string]bool{}
	for i := range f.Variants {
		fresh := false
		for p, value := range f.Variants[i].Values {
			key := f.Params[p] + "=" + value
			fresh = fresh || !seen[key]
			seen[key] = true
		}
		if fresh {
			list = append(list, &f.Variants[i])
		}
	}
	return list
}
