package main

import (
	"fmt"
	"slices"
	"strings"

	solver "coalesce/solvers/assignment"
	assignmentproblem "coalesce/solvers/assignment/problem"
)

// A problem is an instance to race on, up to its seed.
type problem struct {
	kind  string
	n     int
	spans costRange // the range of costs
	value assignmentproblem.Value
	noise string // "", permuted, shift or jitter
}

// A costRange is a range of costs, fixed or in proportion to the side.
type costRange struct {
	name string // "0.1n", "1e6"; empty where the kind has no range
	of   func(n int) int64
}

var (
	tenth   = costRange{"0.1n", func(n int) int64 { return int64(n) / 10 }}
	side    = costRange{"n", func(n int) int64 { return int64(n) }}
	tenfold = costRange{"10n", func(n int) int64 { return 10 * int64(n) }}
	million = costRange{"1e6", func(int) int64 { return 1e6 }}
	most32  = costRange{"2e9", func(int) int64 { return 2e9 }}
	billion = costRange{"1e9", func(int) int64 { return 1e9 }}
	natural = costRange{"", func(int) int64 { return 0 }}
)

func (p problem) String() string {
	s := fmt.Sprintf("%s %d", p.kind, p.n)
	if p.spans.name != "" {
		s += " R=" + p.spans.name
	}
	if p.value != assignmentproblem.Int32 {
		s += " " + string(p.value)
	}
	if p.noise != "" {
		s += " " + p.noise
	}
	return s
}

// class is what problems of different sides have in common.
func (p problem) class() string {
	return strings.Join([]string{p.kind, p.spans.name, string(p.value), p.noise}, " ")
}

// drawing of seed s*2^40.
func (p problem) drawing(s int) solver.Drawing {
	d := solver.Drawing{Kind: p.kind, Rows: p.n, Cols: p.n, Range: p.spans.of(p.n), Seed: uint64(s) << 40, Type: p.value}
	switch p.noise {
	case "permuted":
		d.Permuted = true
	case "shift":
		d.Shift = 1000
	case "jitter":
		d.Jitter = true
	}
	return d
}

// printed are known optima of seed 2^40, from independent exact solvers.
var printed = map[string]string{
	"uniform 1000 R=0.1n": "0", "uniform 1000 R=n": "1171", "uniform 1000 R=10n": "15656", "uniform 1000 R=1e6": "1675514",
	"uniform 2000 R=0.1n": "0", "uniform 2000 R=n": "2393", "uniform 2000 R=10n": "32115", "uniform 2000 R=1e6": "1660769",
	"uniform 5000 R=0.1n": "0", "uniform 5000 R=n": "5813", "uniform 5000 R=10n": "79740", "uniform 5000 R=1e6": "1636188",
	"uniform 10000 R=0.1n": "0", "uniform 10000 R=n": "11515", "uniform 10000 R=10n": "160681", "uniform 10000 R=1e6": "1663368",
	"uniform 20000 R=0.1n": "3", "uniform 20000 R=n": "23283", "uniform 20000 R=10n": "317941", "uniform 20000 R=1e6": "1642034",
	"uniform 20000 R=2e9": "3290201032",
	"uniform 40000 R=n":   "46286", "uniform 40000 R=1e6": "1626371",
	"geom 1000 R=1e6": "32586080", "geom 2000 R=1e6": "49060060", "geom 5000 R=1e6": "87590585", "geom 10000 R=1e6": "124813132",
	"machol 1000": "167167000", "machol 2000": "1335334000", "machol 5000": "20845835000",
}

// knownOptimum is the printed optimum of a problem and seed, "" for none.
func (p problem) knownOptimum(s int) string {
	if p.kind != "machol" && s != 1 {
		return ""
	}
	p.value = assignmentproblem.Int32 // the same integers in another type cost the same
	if p.noise == "permuted" && p.kind == "machol" {
		p.noise = ""
	}
	return printed[p.String()]
}

// targetProblems are the instances that targets were set for, small ones first.
func targetProblems() []problem {
	var all []problem
	add := func(kind string, n int, value assignmentproblem.Value, spans ...costRange) {
		for _, s := range spans {
			all = append(all, problem{kind: kind, n: n, spans: s, value: value})
		}
	}
	add("uniform", 1000, assignmentproblem.Int32, side, million)
	add("machol", 2000, assignmentproblem.Int32, natural)
	add("uniform", 5000, assignmentproblem.Int32, side, million)
	add("geom", 5000, assignmentproblem.Int32, million)
	add("uniform", 10000, assignmentproblem.Int32, tenth, side, tenfold, million)
	add("uniform", 20000, assignmentproblem.Int32, tenth, side, tenfold, million, most32)
	add("uniform", 20000, assignmentproblem.Float32, natural)
	add("uniform", 40000, assignmentproblem.Int32, side, million)
	add("uniform", 100000, assignmentproblem.Int32, billion)
	return all
}

// selectProblems are the problems that the flags ask for: of the experiment's own, or
// at other sides, of each of its classes.
func (b *bench) selectProblems(all []problem) []problem {
	var list []problem
	sizes := b.settings.sizes
	for _, p := range all {
		if len(b.settings.kinds) > 0 && !slices.Contains(b.settings.kinds, p.kind) || len(sizes) > 0 && !slices.Contains(sizes, p.n) {
			continue
		}
		list = append(list, p)
	}
	for _, n := range sizes {
		if slices.ContainsFunc(list, func(p problem) bool { return p.n == n }) {
			continue
		}
		seen := map[string]bool{}
		for _, p := range all {
			if !seen[p.class()] && (len(b.settings.kinds) == 0 || slices.Contains(b.settings.kinds, p.kind)) {
				seen[p.class()] = true
				p.n = n
				list = append(list, p)
			}
		}
	}
	return list
}
