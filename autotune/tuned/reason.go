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
	asked     int // size of the workload
	low, high *tunedSize
	won       bool // level exact: the variant is the winner, not a runner-up; level safe: there are results, and none is usable
	count     int  // number of variants, of classes, or of parameters that differ from the safe point
	fixed     map[string]string
	name      string      // name of the device, where there is no pool
	here      deviceClass // of this device
	prior     string      // why the prior is
	driver    string      // driver of this device
	refused   int
	why       error
}

// Reason is one sentence for the user: the level, the measurements behind it, the variants passed
// over, and the command that measures more.
func (c Choice) Reason() string { return c.ReasonOf("coalesce") }

// ReasonOf is Reason with the commands of another program.
func (c Choice) ReasonOf(program string) string {
	if c.Level == ByName {
		return "asked for by name"
	}
	problem, family, _ := strings.Cut(c.family.Name, "/")
	tune := fmt.Sprintf("%s tune %s --family %s --sizes %d", program, problem, family, c.asked)
	text := c.Level + ": " + c.basis()
	if p := c.pool; p != nil && p.stale > 0 {
		text += fmt.Sprintf("; %s of kernels that have changed since ignored as stale", results(p.stale))
	}
	if c.refused > 0 {
		text += fmt.Sprintf("; %s not feasible here ignored (%v)", results(c.refused), c.why)
	}
	if t := c.low; t != nil && t.size != t.measured {
		units := "multiprocessors"
		if t.on.class.kind == device.Host {
			units = "cores"
		}
		text += fmt.Sprintf("; size %d gives each of its %d %s as much work as size %d gives each of this device's", t.measured, t.on.class.sms, units, t.size)
	}
	if t := c.low; t != nil && t.driver != "" && c.driver != "" && t.driver != c.driver {
		text += fmt.Sprintf("; measured with driver %s, here %s", t.driver, c.driver)
	}
	switch {
	case c.only(): // there are no others to measure
	case c.Level == Safe || c.Level == Predicted:
		text += "; " + tune + " measures the others"
	case c.Level != Exact || c.fromOtherClass():
		text += "; " + tune + " measures them here"
	}
	return text
}

// only reports whether an untuned workload has one variant, not counting variants marked as study.
func (c Choice) only() bool {
	n := 0
	for i := range c.family.Variants {
		if v := &c.family.Variants[i]; !v.Study && hasFixedParams(c.family, v, c.fixed) {
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
		text := fmt.Sprintf("%s when size %d was tuned on %s", what, c.low.measured, where)
		if n := c.low.faster(); c.won && n == 1 {
			text += ", where another had a lesser time that its samples, few or scattered, do not prove"
		} else if c.won && n > 1 {
			text += fmt.Sprintf(", where %d had lesser times that their samples, few or scattered, do not prove", n)
		}
		return text
	case Interpolated:
		return fmt.Sprintf("size %d lies between the tuned sizes %s, and of %d variants measured there it is predicted fastest",
			c.asked, c.sizes("and"), c.count)
	case Nearest:
		return fmt.Sprintf("the best at size %d, the tuned size nearest to %d on %s", c.low.measured, c.asked, where)
	case FamilyDefault:
		from := fmt.Sprintf("size %d on %s", c.low.measured, where)
		if c.low != c.high {
			from = "sizes " + c.sizes("and")
		}
		return fmt.Sprintf("%s was tuned on devices unlike this one alone, and going by %s this variant is predicted fastest", c.family.Name, from)
	case Predicted:
		return c.prior
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
		return fmt.Sprintf("%d %s %d on %s", c.low.measured, and, c.high.measured, high)
	}
	return fmt.Sprintf("%d on %s %s %d on %s", c.low.measured, low, and, c.high.measured, high)
}

// where names the class of devices that a size was tuned on; where it is nil, this device.
func (c Choice) where(t *tunedSize) string {
	if t == nil {
		return c.name
	}
	from := t.on.class
	text := from.name
	switch {
	case from == c.here || !from.sameCode(c.here):
	case from.kind == device.Host:
		text += " (another host of the same instructions)"
	default:
		text += " (of the same compute capability)"
	}
	if t.on.other != "" {
		text += " for " + t.on.other
	}
	return text
}

// fromOtherClass reports whether results of another class or workload take part.
func (e *evidence) fromOtherClass() bool {
	foreign := func(t *tunedSize) bool { return t != nil && (t.on.class != e.here || t.on.other != "") }
	return foreign(e.low) || foreign(e.high)
}

// faster counts the results of a size that took less time than the winner.
func (t *tunedSize) faster() int {
	n := 0
	for i := range t.usable {
		if t.usable[i].log < t.winnerLog {
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
