package main

import (
	"errors"
	"slices"
	"strings"

	"coalesce/bench/experiment"
	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	solver "coalesce/solvers/assignment"
	assignmentproblem "coalesce/solvers/assignment/problem"
)

// isSequential reports whether a method is the paper's sequential program.
func isSequential(name string) bool { return strings.HasPrefix(name, "sequential") }

// racePaper draws the table of Date and Nagi (2016): both variants at 5,000 to
// 20,000 and costs up to n/10, n and 10n, against the same methods on one core.
func (b *bench) racePaper() error {
	b.ResumeRows()
	var all []problem
	for _, n := range []int{5000, 10000, 15000, 20000} {
		for _, s := range []costRange{tenth, side, tenfold} {
			all = append(all, problem{kind: "uniform", n: n, spans: s, value: assignmentproblem.Int32})
		}
	}
	list := b.settings.families
	if len(list) == 0 {
		for _, name := range solver.Algorithms() {
			if b.Facts.Kind != device.Host && (name == "classical" || name == "tree") || isSequential(name) {
				list = append(list, name)
			}
		}
	}
	return b.raceEach(all, list, nil)
}

// asPublished runs the classical variant with the paper's own combination: slacks stored, forests grown
// anew, many paths a phase, a launch a step.
func (b *bench) asPublished() error {
	b.ResumeRows()
	f := &assignment.Classical
	at := slices.IndexFunc(f.Variants, func(v device.Variant) bool {
		return f.Value(&v, "barrier") == "host" && f.Value(&v, "slack") == "stored" && f.Value(&v, "forest") == "anew" && f.Value(&v, "paths") == "many"
	})
	if at < 0 {
		return errors.New("assignment/classical has no variant as published")
	}
	var all []problem
	for _, n := range []int{5000, 10000, 15000, 20000} {
		for _, s := range []costRange{tenth, side, tenfold} {
			all = append(all, problem{kind: "uniform", n: n, spans: s, value: assignmentproblem.Int32})
		}
	}
	for _, p := range b.selectProblems(all) {
		for s := 1; s <= b.settings.seeds; s++ {
			if b.OutOfTime() {
				return experiment.ErrLate
			}
			i, err := b.drawInstance(p, s)
			if err != nil {
				return err
			}
			b.raceOwn("classical", f.Variants[at].Label, i)
		}
	}
	return nil
}

// racePaths runs each variant of the published methods that finds one augmenting
// path a phase, and the one that finds many and is like it in all else.
func (b *bench) racePaths() error {
	b.ResumeRows()
	var all []problem
	for _, n := range []int{1000, 5000, 10000} {
		for _, s := range []costRange{tenth, side, tenfold} {
			all = append(all, problem{kind: "uniform", n: n, spans: s, value: assignmentproblem.Int32})
		}
	}
	for _, p := range b.selectProblems(all) {
		for s := 1; s <= b.settings.seeds; s++ {
			i, err := b.drawInstance(p, s)
			if err != nil {
				return err
			}
			for _, f := range assignment.Families() {
				_, name, _ := strings.Cut(f.Name, "/")
				for k := range f.Variants {
					v := &f.Variants[k]
					if f.Value(v, "paths") != "one" || f.Value(v, "value") != string(p.value) {
						continue
					}
					for _, label := range []string{v.Label, many(f, v)} {
						if b.OutOfTime() {
							return experiment.ErrLate
						}
						if label != "" {
							b.raceOwn(name, label, i)
						}
					}
				}
			}
		}
	}
	return nil
}

// many is the label of the variant with many paths a phase that is like v in
// all else, "" when there is none.
func many(f *device.Family, v *device.Variant) string {
	for i := range f.Variants {
		w := &f.Variants[i]
		alike := true
		for p, name := range f.Params {
			alike = alike && (v.Values[p] == w.Values[p]) == (name != "paths")
		}
		if alike {
			return w.Label
		}
	}
	return ""
}
