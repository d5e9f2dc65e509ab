package assignment

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"coalesce/autotune/tuned"
	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/assignment/internal/engine"
	"coalesce/solvers/assignment/internal/families"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// A plan is the choice of an algorithm: a method of the host, or a family and its variant.
type plan struct {
	method  *families.Method
	family  *families.Family
	variant *device.Variant
	bound   uint64 // that the family gives up after, 0: never; of classical passes, of tree steps
	probe   uint64 // the tree variant's steps where core gave up, 0: it does not try
	reason  string
}

func (c plan) String() string {
	if c.method != nil {
		return "assignment/" + c.method.Name
	}
	return c.family.Kernels.Name + " " + c.variant.Label
}

// The costs of a dense matrix that one core solves faster by Match, check and all, than a host's cores by their method: on any host, and on
// one of at most two cores. Uniform costs, distances and costs that nearly all are one constant, of 100 to 5,000 rows, were
// compared (docs/notes/python.md).
const pathsCosts, pathsCostsOfFew = 2000 * 2000, 5000 * 5000

// FewCosts reports whether Match solves a dense matrix of so many rows and columns faster than Solve's method for a host of so many cores.
func FewCosts(rows, cols, cores int) bool {
	most := pathsCosts
	if cores <= 2 {
		most = pathsCostsOfFew
	}
	return rows <= most && cols <= most && rows*cols <= most
}

// planFor plans for a device: the family and variant asked for, or the best.
func planFor(facts device.Facts, p *problem.Normal, o Options) (plan, error) {
	all, hosts := families.DeviceFamilies(), families.HostMethods()
	if o.Algorithm != "" && !slices.Contains(families.AlgorithmNames(), o.Algorithm) {
		return plan{}, solve.InvalidInput("Algorithm", "found %.40q, expected one of %s", o.Algorithm, strings.Join(families.AlgorithmNames(), ", "))
	}
	if at := slices.IndexFunc(hosts, func(m families.Method) bool { return m.Name == o.Algorithm }); at >= 0 {
		if p.Limit != problem.Infinity && !hosts[at].Limits {
			return plan{}, solve.InvalidInput("Algorithm", "family %s takes no limit", o.Algorithm)
		}
		return plan{method: &hosts[at], reason: "asked for by name"}, errors.Join(o.RefuseVariant(o.Algorithm), hostFits(facts, p))
	}
	if facts.Kind == device.Host {
		if o.Algorithm != "" {
			return plan{}, solve.InvalidInput("Algorithm", "family %s runs on a GPU or the emulated device, not on %s", o.Algorithm, facts)
		}
		reason := "the fastest method of a host"
		if takesPaths(p.Instance) {
			if way, err := chooseHostWay(&o.Settings, facts, p.Instance); err == nil && !isPaths(way.Variant) && way.Level != tuned.Predicted {
				reason = way.Reason()
			}
		}
		return plan{method: &hosts[0], reason: reason}, errors.Join(o.RefuseVariant(hosts[0].Name), hostFits(facts, p))
	}
	first, reason := plan{probe: probe}, ""
	if o.Algorithm == "" && o.Variant == "" && p.Instance.Dense() && p.Limit == problem.Infinity { // others core alone takes
		way, err := firstAlgorithm(facts, p, o)
		if err != nil {
			return plan{}, err
		}
		name := deviceAlgorithms.Value(way.Variant, "algorithm")
		if way.Level != tuned.Predicted {
			reason = fmt.Sprintf("algorithm %s: %s; its variant: ", name, way.Reason())
		}
		if name == hosts[0].Name {
			return plan{method: &hosts[0], reason: way.Reason()}, nil
		}
		first.bound, first.probe = thresholds(way.Variant)
		slices.SortStableFunc(all, func(f, g families.Family) int { return rank(f, name) - rank(g, name) })
	}
	var refused []error
	for k := range all {
		f := &all[k]
		switch {
		case o.Algorithm != "" && f.Name != o.Algorithm:
			continue
		case o.Variant != "" && o.Algorithm == "" && f.Kernels.Variant(o.Variant) == nil:
			continue
		case !p.Instance.Dense() && f.Implicit == nil:
			refused = append(refused, solve.InvalidInput("Algorithm", "family %s takes neither sparse costs nor points", f.Name))
			continue
		case p.Limit != problem.Infinity && !f.Limits:
			refused = append(refused, solve.InvalidInput("Algorithm", "family %s takes no limit", f.Name))
			continue
		case f.Square && p.Rows != p.Cols:
			refused = append(refused, solve.InvalidInput("Algorithm", "family %s takes no other than square costs, found %d rows and %d columns", f.Name, p.Rows, p.Cols))
			continue
		}
		c, err := variant(f, facts, p, o)
		if err == nil {
			if k > 0 {
				first, reason = plan{probe: probe}, "" // another begins
			}
			return plan{family: f, variant: c.Variant, bound: first.bound, probe: first.probe, reason: reason + c.Reason()}, nil
		}
		if errors.Is(err, tuned.ErrNotTuned) { // what comes after it is no better known
			return plan{}, err
		}
		refused = append(refused, err)
	}
	if o.Variant != "" && len(refused) == 0 {
		refused = append(refused, solve.InvalidInput("Variant", "no family has a variant %q", o.Variant))
	}
	if o.Algorithm != "" || o.Variant != "" {
		return plan{}, errors.Join(refused...)
	}
	if err := errors.Join(refused...); errors.Is(err, device.ErrMemory) {
		return plan{}, err
	}
	return plan{method: &hosts[0], reason: fmt.Sprintf("%s has no kernels for this instance", facts)}, nil
}

// rank puts one family before the others.
func rank(f families.Family, first string) int {
	if f.Name == first {
		return 0
	}
	return 1
}

// variant picks a family's variant for a problem that the device has memory for.
func variant(f *families.Family, facts device.Facts, p *problem.Normal, o Options) (tuned.Choice, error) {
	if err := fits(facts, p); err != nil {
		return tuned.Choice{}, err
	}
	return o.Choose(f.Kernels, facts, engine.Workload(p), func(v *device.Variant) error { return facts.BlockFits(f.Kernels.Int(v, "block"), 0) })
}

// checkerFor picks the kernels that check: o.Variant names others.
func checkerFor(facts device.Facts, p *problem.Normal, o Options) (*device.Variant, error) {
	s := solve.Settings{Tuning: o.Tuning}
	c, err := s.Choose(&assignment.Check, facts, tuned.Workload{Fixed: map[string]string{"value": string(p.Instance.Type)}, Size: p.Cols}, nil)
	return c.Variant, err
}

// hostFits compares a host's free memory with what a solve keeps beside the costs: 32 pairs of 16
// bytes for each row, and for points their trees, plus half as much for each coarser level.
func hostFits(facts device.Facts, p *problem.Normal) error {
	const row, column = 640, 32
	need := row*float64(p.Rows) + column*float64(p.Cols)
	if p.Instance.Points != nil {
		need *= 2
	}
	if facts.Kind != device.Host || facts.Free == 0 || need <= float64(facts.Free) {
		return nil
	}
	return fmt.Errorf("beside their costs %d rows and %d columns take %s: %w", p.Rows, p.Cols, facts.MemoryShortage(need), device.ErrMemory)
}

// fits holds the costs against a device's free memory.
func fits(facts device.Facts, p *problem.Normal) error {
	if !p.Instance.Dense() || facts.Free == 0 {
		return nil
	}
	size := int64(p.Instance.Type.Size())
	need := float64(p.Rows) * float64(p.Cols) * float64(size)
	if need <= float64(facts.Free) {
		return nil
	}
	side := int64(math.Sqrt(float64(facts.Free / size)))
	return fmt.Errorf("%d x %d costs of type %s take %s, enough for about %d x %d: %w",
		p.Rows, p.Cols, p.Instance.Type, facts.MemoryShortage(need), side, side, device.ErrMemory)
}
