package tabu

import (
	"cmp"
	"fmt"

	"coalesce/autotune/tuned"
	"coalesce/generated/qubo"
	"coalesce/runtime/device"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// Open makes qubo/bulk ready, an island a device, with rounded
// coefficients where no variant holds those of p.
func Open(p *problem.Normal, o search.Setup) (search.OpenedEngine, error) {
	q, c, err := search.ChooseRounding(p, o, chooseVariant, search.Int32Deltas, float32s, search.NarrowDeltas)
	if err != nil {
		return search.OpenedEngine{}, err
	}
	l, err := newIslands(o.Devices, c.Variant, q, func(b *Island) parameters { return withRules(o.Rules, b.rules, q.N) })
	if err != nil {
		return search.OpenedEngine{}, err
	}
	e := search.OpenedEngine{Label: c.Variant.Label, Reason: c.Reason(), Close: l.Close, Used: map[string]search.Rules{"bulk": l[0].rules.asRules(q.N)}}
	for _, b := range l {
		b.Without = o.Without
		e.Members = append(e.Members, b)
	}
	return e.For(p, q), nil
}

// chooseVariant picks a variant: the one that is asked for, else the tuned winner. A winner at another
// size counts if its capacity exceeds the best fitting variant's by at most a quarter.
func chooseVariant(facts device.Facts, p *problem.Normal, o search.Setup) (tuned.Choice, error) {
	needs := needsOf(p)
	asked := func(v *device.Variant) error {
		_, err := needs.formOn(facts, v)
		return err
	}
	return search.ChooseVariant(&qubo.Bulk, facts, o, asked, func() (tuned.Workload, error) { return needs.workload(facts) })
}

// workload is the description by which a variant is chosen for the problem.
func (s requirements) workload(facts device.Facts) (tuned.Workload, error) {
	suits, err := s.variant(facts)
	if err != nil {
		return tuned.Workload{}, err
	}
	of, err := s.layoutFor(suits)
	if err != nil {
		return tuned.Workload{}, err
	}
	similar := func(v *device.Variant, _ int) error {
		f, err := s.formOn(facts, v)
		if err == nil && 4*f.capacity() > 5*of.capacity() {
			err = fmt.Errorf("%s has room for %d variables, the problem has %d", v.Label, f.capacity(), s.n)
		}
		return err
	}
	hasRoom := func(v *device.Variant, size int) bool {
		f, err := s.formOn(facts, v)
		return err == nil && f.capacity() >= size
	}
	return tuned.Workload{Fixed: map[string]string{"row": of.row}, Size: s.n, Comparable: similar, HasRoom: hasRoom,
		Prior: tuned.Prior{Variant: suits, Why: "the narrowest rows and the least room to spare"}}, nil
}

// Workload describes, for the choice of a variant, problems whose rows a type holds, or rows of
// another type where that suits the problem better.
func (Subject) Workload(fixed map[string]string, f device.Facts, size int) (tuned.Workload, error) {
	s := drawDense(fixed["row"], size).requirements(size)
	s.row = ""
	return s.workload(f)
}

// formOn is form on a device, which may lack clusters of blocks.
func (s requirements) formOn(facts device.Facts, v *device.Variant) (layout, error) {
	f, err := s.layoutFor(v)
	if err == nil && f.cluster > 1 && facts.Major < 9 {
		err = fmt.Errorf("%s: %s has no clusters of blocks", v.Label, facts)
	}
	return f, err
}

// variant returns the variant for a problem where nothing is tuned: the narrowest rows, then the
// least unused capacity, then the fewest threads. Rows of bits take more instructions than rows of
// bytes, and are chosen where no cache holds the matrix in bytes. Clusters are chosen where the
// registers of one block are too few.
func (s requirements) variant(facts device.Facts) (*device.Variant, error) {
	var best *device.Variant
	var of layout
	var refused error
	for i := range qubo.Bulk.Variants {
		v := &qubo.Bulk.Variants[i]
		f, err := s.formOn(facts, v)
		if err != nil {
			refused = err
			continue
		}
		if best == nil || cmp.Or(cmp.Compare(f.rank(s.n), of.rank(s.n)), cmp.Compare(f.misfit(s.n), of.misfit(s.n)),
			cmp.Compare(f.capacity(), of.capacity()), cmp.Compare(f.threads(), of.threads()), cmp.Compare(f.block, of.block)) < 0 {
			best, of = v, f
		}
	}
	if best == nil {
		return nil, fmt.Errorf("qubo/bulk: %d variables: no variant holds them, the last refused: %w", s.n, refused)
	}
	return best, nil
}

// rank orders types of rows by the bits of a coefficient, less being better.
func (f layout) rank(n int) int {
	const cache = 40 << 20
	switch {
	case f.row == "bits" && n*n <= cache:
		return 9
	case f.row == "pairs" || f.row == "float32": // types of the same width hold more, and take no more instructions
		return 64 + f.bits()
	}
	return f.bits()
}

// misfit orders blocks and clusters, the better first: one block's registers
// hold the gains of 16,384 variables. Messages are faster than the barrier
// (docs/notes/qubo-flips.md).
func (f layout) misfit(n int) int {
	order := 0
	if (n > 16384) != (f.cluster > 1) {
		order = 2
	}
	if f.cluster > 1 && f.meet == "barrier" {
		order++
	}
	return order
}
