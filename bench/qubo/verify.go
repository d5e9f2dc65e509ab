package main

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"coalesce/autotune/subject"
	"coalesce/autotune/verify"
	"coalesce/bench/result"
	kernels "coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/runtime/host"
	solver "coalesce/solvers/qubo"
)

// verify runs variants on the small cases of their subjects, where the reference
// is the judge. A family that has no subject, but an engine of its name, solves
// small instances.
func (b *bench) verify() (err error) {
	stream, err := b.dev.NewStream()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stream.Close()) }()
	for _, f := range kernels.Families() {
		_, short, _ := strings.Cut(f.Name, "/")
		if f.Target == device.Host != (b.facts.Kind == device.Host) || len(b.settings.engines) > 0 && !slices.Contains(b.settings.engines, short) {
			continue
		}
		right := 0
		variants := b.variants(f)
		for _, v := range variants {
			if b.late() {
				return errLate
			}
			row := result.Binary{Name: f.Name, Variant: v.Label, What: "verify"}
			start := time.Now()
			if row.Count, err = b.verifyOne(f, v, short, stream); err != nil {
				row.Failed = err.Error()
			} else {
				right++
			}
			row.Seconds = time.Since(start).Seconds()
			b.add(row)
		}
		fmt.Printf("%s: %d of %d variants right\n", f.Name, right, len(variants))
	}
	return nil
}

// variants to verify: the one named, one of each kind, or all.
func (b *bench) variants(f *device.Family) []*device.Variant {
	var list []*device.Variant
	seen := map[string]bool{}
	for i := range f.Variants {
		v := &f.Variants[i]
		fresh := false
		for p, value := range v.Values {
			key := f.Params[p] + "=" + value
			fresh = fresh || !seen[key]
			seen[key] = true
		}
		if b.settings.variant == "" && (fresh || !b.settings.sample) || b.settings.variant == v.Label {
			list = append(list, v)
		}
	}
	return list
}

// verifyOne is how many cases a variant has answered, all of them rightly.
func (b *bench) verifyOne(f *device.Family, v *device.Variant, short string, stream device.Stream) (int, error) {
	subjects := solver.Subjects()
	at := slices.IndexFunc(subjects, func(s subject.Subject) bool { return s.Family().Name == f.Name })
	switch {
	case at >= 0:
		return b.cases(subjects[at], v, stream)
	case slices.Contains(solver.Engines(), short):
		return b.searches(f, v, short)
	}
	return 0, errors.New("the family has neither a subject nor an engine of its name")
}

// cases of the workloads that the variant is for.
func (b *bench) cases(s subject.Subject, v *device.Variant, stream device.Stream) (n int, err error) {
	run, err := s.Open(b.dev, v)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	for _, fixed := range s.Fixed() {
		if s.Family().Fits(v, fixed) != nil {
			continue
		}
		cases, err := s.Cases(fixed)
		if err != nil {
			return n, err
		}
		right, err := verify.Cases(b.ctx, b.dev, stream, s, v, run, cases)
		n += right
		if err != nil {
			return n, err
		}
	}
	if n == 0 {
		return 0, verify.ErrNoCase
	}
	return n, nil
}

// searches solves instances that a variant just holds, with -work flips each
// and twice, for the same solution. Solve recomputes the value of every
// solution it hands out; of 20 variables the best is known by exhaustion.
func (b *bench) searches(f *device.Family, v *device.Variant, engine string) (right int, err error) {
	own := host.Open(1)
	defer func() { err = errors.Join(err, own.Close()) }()
	sizes := []int{20, 97}
	if b.facts.Kind == device.CUDA {
		sizes = append(sizes, 500)
	}
	for _, n := range sizes {
		if slices.Contains(f.Params, "items") {
			n = min(n, f.Int(v, "block")*f.Int(v, "items"))
		}
		inst := drawn(n, f, v)
		// Asked for several, Solve searches where it would visit every solution.
		o := solver.Options{Work: b.settings.work, Seed: 7, Engine: engine, Variant: v.Label, Solutions: 4, Unreduced: true}
		one, err := solver.Solve(b.ctx, b.dev, inst, o)
		if err != nil {
			return right, fmt.Errorf("%d variables: %w", n, err)
		}
		again, err := solver.Solve(b.ctx, b.dev, inst, o)
		switch {
		case err != nil:
			return right, fmt.Errorf("%d variables, again: %w", n, err)
		case one.Solution.String() != again.Solution.String() || one.Value != again.Value || one.Work != again.Work:
			return right, fmt.Errorf("%d variables: %s after %d flips, then %s after %d, expected the same", n, one.Value, one.Work.Flips, again.Value, again.Work.Flips)
		case one.Work.Flips == 0:
			return right, fmt.Errorf("%d variables: no flip was made", n)
		}
		if n <= 20 {
			best, err := solver.Solve(b.ctx, own, inst, solver.Options{})
			if err != nil {
				return right, err
			}
			if !best.Proven || one.Value != best.Value {
				return right, fmt.Errorf("%d variables: %s, the best is %s (proven: %v)", n, one.Value, best.Value, best.Proven)
			}
		}
		right++
	}
	return right, nil
}

// drawn makes an instance that the weights of a variant hold, and narrower ones
// do not: dense where they are a matrix's rows.
func drawn(n int, f *device.Family, v *device.Variant) *solver.Instance {
	dense := slices.Contains(f.Params, "row")
	kind := cmp.Or(f.Value(v, "row"), f.Value(v, "weight"))
	r := rand.New(rand.NewPCG(uint64(n), 5))
	size := cmp.Or(map[string]int64{"int16": 10000, "int32": 1 << 18, "int64": 1 << 36}[kind], 100)
	weight := func() int64 { return 2 * (r.Int64N(2*size+1) - size) }
	if kind == "bits" || kind == "unit" { // all of one size
		weight = func() int64 { return 14 * (2*r.Int64N(2) - 1) }
	}
	terms := &solver.Terms[int64]{Linear: make([]int64, n)}
	inst := &solver.Instance{N: n, Form: solver.QUBO, Sense: solver.Maximize, Int: terms, Start: make([]int64, n+1),
		Source: fmt.Sprintf("%d variables for %s of %s", n, f.Name, kind)}
	pairs := make([]int64, n*n)
	for i := range n {
		terms.Linear[i] = weight() / 2
		for j := range i {
			if dense || r.IntN(n) < 4 {
				pairs[i*n+j] = weight()
				pairs[j*n+i] = pairs[i*n+j]
			}
		}
	}
	for i := range n {
		for j, w := range pairs[i*n : i*n+n] {
			if i != j && w != 0 {
				inst.Col, terms.Pair = append(inst.Col, int32(j)), append(terms.Pair, w)
			}
		}
		inst.Start[i+1] = int64(len(inst.Col))
	}
	return inst
}
