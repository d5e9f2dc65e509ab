package main

import (
	"slices"

	"coalesce/bench/experiment"
	"coalesce/runtime/device"
	solver "coalesce/solvers/assignment"
	assignmentproblem "coalesce/solvers/assignment/problem"
)

// onHost are the methods that need no device, as Families names them.
var onHost = []string{"host", "reference"}

// auto is the solver's own choice, with all its switches.
const auto = "auto"

// families are those to race: what the flag says, or all that this device
// runs but the slow references.
func (b *bench) families() []string {
	if len(b.settings.families) > 0 {
		return b.settings.families
	}
	list := []string{auto}
	for _, name := range solver.Algorithms() {
		if name == "host" || b.Facts.Kind != device.Host && !slices.Contains(onHost, name) && !isSequential(name) {
			list = append(list, name)
		}
	}
	return list
}

// raceTargets runs all contenders on the instances of the targets.
func (b *bench) raceTargets() error {
	return b.raceEach(targetProblems(), b.families(), b.rivals.names())
}

// raceEach runs families and rivals on every instance of the problems wanted.
func (b *bench) raceEach(all []problem, families, others []string) error {
	for _, p := range b.selectProblems(all) {
		for s := 1; s <= b.settings.seeds; s++ {
			if b.OutOfTime() {
				return experiment.ErrLate
			}
			i, err := b.drawInstance(p, s)
			if err != nil {
				return err
			}
			for _, name := range families {
				if b.OutOfTime() {
					return experiment.ErrLate
				}
				if !i.isRemote() || !slices.Contains(onHost, name) && !isSequential(name) {
					b.raceOwn(name, b.settings.Variant, i)
				}
			}
			for _, name := range others {
				if b.OutOfTime() {
					return experiment.ErrLate
				}
				if p.n <= b.settings.rivalSize && !i.isRemote() {
					b.raceRival(name, i, 0, b.settings.spend)
				}
			}
		}
	}
	return nil
}

// raceKinds runs every kind of costs, and those with structure again permuted,
// with r_i + c_j added and with -1, 0 or 1 added.
func (b *bench) raceKinds() error {
	n := 2000
	if b.Facts.Kind != device.CUDA {
		n = 500
	}
	var all []problem
	for _, s := range []costRange{tenth, side, tenfold, million, most32} {
		all = append(all, problem{kind: "uniform", n: n, spans: s, value: assignmentproblem.Int32})
	}
	for _, value := range []assignmentproblem.Value{assignmentproblem.Int64, assignmentproblem.Float32, assignmentproblem.Float64} {
		all = append(all, problem{kind: "uniform", n: n, spans: million, value: value}, problem{kind: "uniform", n: n, spans: natural, value: value})
	}
	for _, k := range []struct {
		kind  string
		spans costRange
	}{{"geom", million}, {"disjoint", costRange{"1e4", func(int) int64 { return 1e4 }}}, {"spatial", costRange{"1e4", func(int) int64 { return 1e4 }}}, {"machol", natural},
		{"lowrank", million}, {"twocost", natural}, {"equal", million}, {"planted_identity", million}, {"integer", million}, {"binary", natural}} {
		for _, noise := range []string{"", "permuted", "shift", "jitter"} {
			all = append(all, problem{kind: k.kind, n: n, spans: k.spans, value: assignmentproblem.Int32, noise: noise})
		}
	}
	for _, kind := range []string{"logarithmic", "signed"} {
		all = append(all, problem{kind: kind, n: n, spans: natural, value: assignmentproblem.Float64})
	}
	return b.raceEach(all, b.families(), b.rivals.names())
}

// raceHost races the host's solver against rivals of one thread.
func (b *bench) raceHost() error {
	var all []problem
	for _, n := range []int{1000, 2000, 5000} {
		for _, s := range []costRange{tenth, side, tenfold, million} {
			all = append(all, problem{kind: "uniform", n: n, spans: s, value: assignmentproblem.Int32})
		}
		all = append(all, problem{kind: "uniform", n: n, spans: natural, value: assignmentproblem.Float32})
		for _, k := range []struct {
			kind  string
			spans costRange
		}{{"geom", million}, {"machol", natural}, {"lowrank", million}, {"twocost", natural}, {"equal", million}, {"binary", natural}} {
			all = append(all, problem{kind: k.kind, n: n, spans: k.spans, value: assignmentproblem.Int32})
		}
	}
	return b.raceEach(all, []string{"host"}, b.rivals.names())
}
