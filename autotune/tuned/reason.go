package tuned

import (
	"cmp"
	"fmt"
	"strings"

	"coalesce/runtime/device"
)

// A Choice is a variant with its justification.
type Choice struct {
	Variant *device.Variant
	Level   string // one of the levels
	evidence
}

// evidence has the facts that a choice rests on; Reason puts them into words.
type evidence struct {
	family    *device.Family
	pool      *pool
	size      int // size that was looked for in the pool
	asked     int // size of the workload
	low, high *tunedSize
	won       bool    // level exact: the variant is the winner, not a runner-up; level safe: there are results, and none is usable
	count     int     // number of variants, of classes, or of parameters that differ from the safe point
	ratio     float64 // mean slowdown
	fixed     map[string]string
	name      string // name of the device, where there is no pool
	kin       bool   // the pool is of another class
	sms       int    // multiprocessors of this device
	predicted string
	driver    string // driver of this device
	refused   int
	why       error
}

// Reason is one sentence for the user: the level, what was measured where, what was
// passed over, and the command that would tell more.
func (c Choice) Reason() string {
	if c.Level == ByName {
		return "asked for by name"
	}
	problem, family, _ := strings.Cut(c.family.Name, "/")
	tune := fmt.Sprintf("coalesce tune %s --family %s --sizes %d", problem, family, c.asked)
	text := c.Level + ": " + c.basis()
	if p := c.pool; p != nil && p.stale > 0 {
		text += fmt.Sprintf("; %s of kernels that have changed since ignored as stale", results(p.stale))
	}
	if c.refused > 0 {
		text += fmt.Sprintf("; %s not feasible here ignored (%v)", results(c.refused), c.why)
	}
	if c.pool != nil && c.size != c.asked {
		units := "multiprocessors"
		if c.pool.class.kind == device.Host {
			units = "cores"
		}
		text += fmt.Sprintf("; size %d gives each of its %d %s as much work as size %d gives each of this device's", c.size, c.pool.class.sms, units, c.asked)
	}
	if t := c.low; t != nil && t.driver != "" && c.driver != "" && t.driver != c.driver {
		text += fmt.Sprintf("; measured with driver %s, here %s", t.driver, c.driver)
	}
	switch {
	case c.only(): // there are no others to measure
	case c.Level == Safe || c.Level == Predicted:
		text += "; " + tune + " measures the others"
	case c.Level != Exact || c.elsewhere() || c.pool.other != "":
		text += "; " + tune + " measures them here"
	}
	return text
}

// only reports whether an untuned workload has one variant, not counting variants marked as study.
func (c Choice) only() bool {
	n := 0
	for i := range c.family.Variants {
		if v := &c.family.Variants[i]; !v.Study && has(c.family, v, c.fixed) {
			n++
		}
	}
	return c.Level == Safe && n == 1
}

// basis is the text about the results that the choice rests on.
func (c Choice) basis() string {
	where := c.where(c.low)
	switch c.Level {
	case Exact:
		what := "won"
		if !c.won {
			what = "is the fastest usable runner-up"
		}
		text := fmt.Sprintf("%s when size %d was tuned on %s", what, c.low.size, where)
		if n := c.low.faster(); c.won && n == 1 {
			text += ", where another had a lesser time that its samples, few or scattered, do not prove"
		} else if c.won && n > 1 {
			text += fmt.Sprintf(", where %d had lesser times that their samples, few or scattered, do not prove", n)
		}
		return text
	case Interpolated:
		return fmt.Sprintf("size %d lies between the tuned sizes %s, and of %d variants measured there it is predicted fastest",
			c.size, c.sizes("and"), c.count)
	case Extrapolated:
		return fmt.Sprintf("size %d lies far from what was tuned, and going by the growth from size %s of %d variants no other is predicted faster by more than errors of measurement grow to",
			c.size, c.sizes("to"), c.count)
	case Nearest:
		return fmt.Sprintf("the best at size %d, the tuned size nearest to %d on %s", c.low.size, c.size, where)
	case DeviceDefault:
		sizes := make([]string, len(c.pool.sizes))
		for i, t := range c.pool.sizes {
			sizes[i] = fmt.Sprint(t.size)
		}
		return fmt.Sprintf("size %d lies far from all that was tuned on %s (%s), and this variant is the best all-rounder there (on average %.2f times the fastest)",
			c.size, where, strings.Join(sizes, ", "), c.ratio)
	case FamilyDefault:
		return fmt.Sprintf("%s was tuned on devices unlike this one alone, and this variant is the best all-rounder of %d of them (on average %.2f times the fastest)",
			c.family.Name, c.count, c.ratio)
	case Predicted:
		return c.predicted
	}
	what := "the safe point"
	if c.count > 0 {
		what = "the variant nearest to the safe point"
	}
	workload := cmp.Or(fixedString(c.fixed), "this workload")
	if c.only() {
		return fmt.Sprintf("the one variant of %s for %s", c.family.Name, workload)
	}
	if c.won {
		return fmt.Sprintf("nothing tuned for %s on %s is usable, so %s is used", workload, where, what)
	}
	return fmt.Sprintf("%s was not tuned for %s on %s, so %s is used", c.family.Name, workload, where, what)
}

// sizes are the two tuned sizes of a choice with the devices: "16 and 24 on X", or "16 on X and 24 on Y".
func (c Choice) sizes(and string) string {
	low, high := c.where(c.low), c.where(c.high)
	if low == high {
		return fmt.Sprintf("%d %s %d on %s", c.low.size, and, c.high.size, high)
	}
	return fmt.Sprintf("%d on %s %s %d on %s", c.low.size, low, and, c.high.size, high)
}

// where names the class of devices that a size, or where that is nil the pool, was tuned on.
func (c Choice) where(t *tunedSize) string {
	if c.pool == nil {
		return c.name
	}
	from, kin := c.pool, c.kin
	if t != nil && t.kin != nil {
		from, kin = t.kin, true
	}
	text := from.class.name
	switch {
	case kin && from.class.kind == device.Host:
		text += " (another host of the same instructions)"
	case kin:
		text += " (of the same compute capability)"
	}
	if from.other != "" {
		text += " for " + from.other
	}
	return text
}

// elsewhere reports whether results of another class take part.
func (e *evidence) elsewhere() bool {
	return e.kin || e.low != nil && e.low.kin != nil || e.high != nil && e.high.kin != nil
}

// faster counts the results of a size that took less time than the winner.
func (t *tunedSize) faster() int {
	n := 0
	for i := range t.usable {
		if t.usable[i].nanos < t.winnerNanos {
			n++
		}
	}
	return n
}

func results(n int) string {
	if n == 1 {
		return "1 tuned result"
	}
	return fmt.Sprintf("%d tuned results", n)
}
