// Package placement has the options that say where to solve and which variants of kernels to choose. The command and the
// library for other languages share them. Go programs open devices and tuning data themselves.
package placement

import (
	"fmt"
	"slices"
	"strings"

	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/solvers/option"
)

// A Placement says where to solve, and what variants are chosen by.
type Placement struct {
	// compute there: auto, host, emulated, cuda or cuda:INDEX
	Device string `option:"device" default:"auto"`
	// cores that the host device uses
	Threads int `option:"threads" min:"0" max:"2147483647" default:"all"`
	// choose among the winners in this file too
	Tuned string `option:"tuned" default:"those of coalesce tune"`
	// run this variant of a family, FAMILY:LABEL, whatever was measured; several texts name variants of several families
	Pin []string `option:"pin" whole:"true" default:"none"`
	// refuse to solve with a variant that was tuned neither at this size nor on both sides of it on this class of device
	Frozen bool `option:"frozen"`
}

// Policy is how Pin and Frozen have variants of families chosen. Its errors are ValueErrors of the option pin.
func (p *Placement) Policy(families []subject.Subject) (tuned.Policy, error) {
	policy := tuned.Policy{Frozen: p.Frozen, Pinned: map[string]string{}}
	for _, pin := range p.Pin {
		wrong := func(expected string, args ...any) error {
			return &option.ValueError{Declaration: p.Fields().Find("pin").Declaration, Found: fmt.Sprintf("%.80q", pin), Expected: fmt.Sprintf(expected, args...)}
		}
		name, label, ok := strings.Cut(pin, ":")
		at := slices.IndexFunc(families, func(s subject.Subject) bool { return s.Family().Name == name })
		switch {
		case !ok:
			return policy, wrong("FAMILY:LABEL")
		case at < 0:
			var names []string
			for _, s := range families {
				names = append(names, s.Family().Name)
			}
			return policy, wrong("one of %s, and a label", strings.Join(names, ", "))
		}
		f := families[at].Family()
		if f.Variant(label) == nil {
			return policy, wrong("one of %d variants, such as %q: %s has no variant %q", len(f.Variants), f.Variants[0].Label, name, label)
		}
		if old, twice := policy.Pinned[name]; twice && old != label {
			return policy, wrong("one variant of %s", name)
		}
		policy.Pinned[name] = label
	}
	return policy, nil
}
