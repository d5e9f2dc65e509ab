package tuned

import (
	"errors"
	"fmt"

	"coalesce/runtime/device"
)

// A Policy is what a user decides about choices from a database.
type Policy struct {
	Pinned map[string]string // the label to take, by the family's name, whatever was measured
	// Frozen refuses guesses: what was tuned neither at this size nor on both sides of it, for this
	// workload and this class of device. A family with one variant that can run leaves nothing to
	// guess. Choices of an algorithm pass; the variants of its kernels are refused instead. The
	// error wraps ErrNotTuned.
	Frozen bool
	// Guessed is called with each guess, also where Frozen refuses it; nil: not wanted. It
	// may be called by several goroutines at a time.
	Guessed func(UnmeasuredChoice)
}

// A UnmeasuredChoice is a workload that a variant was chosen for without measurements of it.
type UnmeasuredChoice struct {
	Family string            `json:"family"`
	Class  string            `json:"class"` // device.Facts.Class
	Fixed  map[string]string `json:"fixed"`
	Size   int               `json:"size"`
	Level  string            `json:"level"` // what the choice rested on
}

// ErrNotTuned is wrapped where a frozen database would have to guess.
var ErrNotTuned = errors.New("not tuned")

// WithPolicy returns a database that chooses from db as p says. db may be nil, which stands for
// none, and may not be changed afterwards.
func (db *Database) WithPolicy(p Policy) *Database {
	if len(p.Pinned) == 0 && !p.Frozen && p.Guessed == nil { // the choice is db's own, without the work of looking for guesses
		return db
	}
	return &Database{under: db, policy: &p}
}

// PinnedLabel returns the label that the policy of db pins for a family, "" for none.
func (db *Database) PinnedLabel(f *device.Family) string {
	if db == nil || db.policy == nil {
		return ""
	}
	return db.policy.Pinned[f.Name]
}

// Choose picks the variant of f for a workload on a device: as the policy of db says, else
// as best knows. The error wraps ErrNoVariant where none fits, and ErrNotTuned.
func (db *Database) Choose(f *device.Family, facts device.Facts, w Workload, feasible func(*device.Variant) error) (Choice, error) {
	if db == nil {
		db = nothing
	}
	p := db.policy
	if p == nil {
		return db.predictFastest(f, facts, w, feasible)
	}
	if label := p.Pinned[f.Name]; label != "" {
		c, err := VariantByLabel(f, label, w, feasible)
		if err != nil {
			err = fmt.Errorf("pinned for %s: %w", f.Name, err)
		}
		return c, err
	}
	c, err := db.predictFastest(f, facts, w, feasible)
	if err != nil || !c.guessed() || db.lone(f, facts, w, feasible) {
		return c, err
	}
	if p.Guessed != nil {
		p.Guessed(UnmeasuredChoice{f.Name, facts.Class(), w.Fixed, w.Size, c.Level})
	}
	if p.Frozen && f.Target != "" {
		return Choice{}, fmt.Errorf("%s, %s, size %d: %w on this device (%s)", f.Name, fixedString(w.Fixed), w.Size, ErrNotTuned, c.Reason())
	}
	return c, nil
}

// guessed reports whether a choice rests on something else than measurements of its
// workload on this class of device, at its size or on both sides of it.
func (c Choice) guessed() bool {
	if c.Level == ByName {
		return false
	}
	return c.Level != Exact && c.Level != Interpolated || c.fromOtherClass()
}

// lone reports whether a single variant can run a workload, but for those that are there
// for study alone.
func (db *Database) lone(f *device.Family, facts device.Facts, w Workload, feasible func(*device.Variant) error) bool {
	s, n := search{family: f, facts: facts, feasible: feasible}, 0
	for i := range f.Variants {
		if v := &f.Variants[i]; !v.Study && hasFixedParams(f, v, w.Fixed) && s.checkRunnable(v) == nil {
			n++
		}
	}
	return n <= 1
}
