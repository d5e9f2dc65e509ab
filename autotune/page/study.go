package page

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"coalesce/autotune/search"
	"coalesce/autotune/trial"
	"coalesce/runtime/device"
)

// A Study has the trials of one family on one class of device for one workload. Times within a study
// are comparable.
type Study struct {
	Family string
	Class  string            // device.Facts.Class
	Fixed  map[string]string // the workload's parameters
	Params []Param           // those that differ among the variants tried, in the order of labels
	Sizes  []*Size           // ascending, those with a time
	Counts map[trial.Status]int
	Spent  time.Duration // in trials
	Failed []Failure     // by status, then size and label
	Safe   string        // label of the safe point; empty: none was measured
	Stale  int           // trials left out: of variants whose text has changed since
}

// A Param is a parameter with the values that were tried, numbers in their order.
type Param struct {
	Name   string
	Values []string
}

// A Size is the variants that ran at one size.
type Size struct {
	Size   int
	Points []*Point // fastest first; points with final rounds stand before those without
	Safe   *Point   // nil: not measured here
}

// A Point is a variant's time at a size: the median of the medians of its final rounds,
// else that of its last trial.
type Point struct {
	Variant string
	Values  map[string]string
	Nanos   float64
	Sample  trial.Sample   // of the last trial
	Ceiling *trial.Ceiling // of the last trial that has one
	Rounds  int            // final rounds; 0: measured briefly only
	Since   time.Duration
	medians []float64
}

// A Failure is a trial whose status is not ok, with the number of trials of its variant and size that
// ended with the same status and error.
type Failure struct {
	Status  trial.Status
	Size    int
	Variant string
	Reason  string
	Times   int
}

// Studies sorts trials by family, device and workload. If several texts of a variant were tried, it
// keeps the trials of the last text. families say which variants are safe; studies of families that are
// not among them have no safe point.
func Studies(trials []trial.Trial, families []*device.Family) []*Study {
	trials = slices.Clone(trials)
	slices.SortStableFunc(trials, func(a, b trial.Trial) int { return a.Time.Compare(b.Time) })
	text := map[string]string{} // hash by family and label
	for i := range trials {
		text[trials[i].Family+" "+trials[i].Variant] = trials[i].VariantHash
	}
	studies := map[string]*Study{}
	builders := map[*Study]*builder{}
	for i := range trials {
		t := &trials[i]
		if t.Action == trial.ActionDone {
			continue
		}
		key := t.Family + "\n" + t.Class + "\n" + workloadName(t.Fixed)
		s := studies[key]
		if s == nil {
			s = &Study{Family: t.Family, Class: t.Class, Fixed: t.Fixed, Counts: map[trial.Status]int{}}
			studies[key] = s
			builders[s] = &builder{Study: s, sizes: map[int]map[string]*Point{}, dead: map[string]bool{}}
		}
		if text[t.Family+" "+t.Variant] != t.VariantHash {
			s.Stale++
			continue
		}
		builders[s].add(t)
	}
	var list []*Study
	for _, key := range slices.Sorted(maps.Keys(studies)) {
		s := studies[key]
		builders[s].finish(families)
		list = append(list, s)
	}
	return list
}

type builder struct {
	*Study
	sizes map[int]map[string]*Point
	dead  map[string]bool // answered wrongly, crashed or hung: its times do not count
	tried []string        // labels, in order
}

func (b *builder) add(t *trial.Trial) {
	b.Counts[t.Status]++
	b.Spent += time.Duration(t.Wall)
	if !slices.Contains(b.tried, t.Variant) {
		b.tried = append(b.tried, t.Variant)
	}
	if t.Status != trial.OK {
		b.fail(t)
		return
	}
	best := t.Best()
	if best == nil {
		return
	}
	if b.sizes[t.Size] == nil {
		b.sizes[t.Size] = map[string]*Point{}
	}
	p := b.sizes[t.Size][t.Variant]
	if p == nil {
		p = &Point{Variant: t.Variant, Values: labelParameters(t.Variant), Since: b.Spent}
		b.sizes[t.Size][t.Variant] = p
	}
	p.Sample = *best
	if t.Ceiling != nil {
		p.Ceiling = t.Ceiling
	}
	if t.Phase == search.PhaseFinal {
		p.medians = append(p.medians, float64(best.Median))
		p.Rounds = len(p.medians)
	} else if p.Rounds == 0 {
		p.Nanos = float64(best.Median)
	}
	if p.Rounds > 0 {
		p.Nanos = middle(p.medians)
	}
}

func (b *builder) fail(t *trial.Trial) {
	switch t.Status {
	case trial.Skipped:
	case trial.Constraint, trial.Memory:
		if t.Action == trial.ActionVerify {
			b.dead[t.Variant] = true
		}
	default:
		b.dead[t.Variant] = true
	}
	for i := range b.Failed {
		f := &b.Failed[i]
		if f.Status == t.Status && f.Size == t.Size && f.Variant == t.Variant && f.Reason == t.Error {
			f.Times++
			return
		}
	}
	b.Failed = append(b.Failed, Failure{t.Status, t.Size, t.Variant, t.Error, 1})
}

func (b *builder) finish(families []*device.Family) {
	rank := func(s trial.Status) int { return slices.Index(trial.Statuses, s) }
	slices.SortStableFunc(b.Failed, func(x, y Failure) int {
		return cmp.Or(cmp.Compare(rank(x.Status), rank(y.Status)), cmp.Compare(x.Size, y.Size), cmp.Compare(x.Variant, y.Variant))
	})
	for _, label := range b.tried {
		if !b.dead[label] && b.Safe == "" && safe(families, b.Family, label, b.Fixed) {
			b.Safe = label
		}
	}
	for _, n := range slices.Sorted(maps.Keys(b.sizes)) {
		size := &Size{Size: n}
		for label, p := range b.sizes[n] {
			if b.dead[label] || p.Nanos <= 0 {
				continue
			}
			size.Points = append(size.Points, p)
			if label == b.Safe {
				size.Safe = p
			}
		}
		slices.SortFunc(size.Points, func(x, y *Point) int {
			return cmp.Or(cmp.Compare(unproven(x), unproven(y)), cmp.Compare(x.Nanos, y.Nanos), cmp.Compare(x.Variant, y.Variant))
		})
		if len(size.Points) > 0 {
			b.Sizes = append(b.Sizes, size)
		}
	}
	b.params()
}

// unproven is 0 for a point that was measured in final rounds, else 1.
func unproven(p *Point) int {
	if p.Rounds > 0 {
		return 0
	}
	return 1
}

// params lists the parameters of which more than one value has a time.
func (b *builder) params() {
	found := map[string]map[string]bool{}
	var order []string
	for _, size := range b.Sizes {
		for _, p := range size.Points {
			for name := range strings.SplitSeq(p.Variant, ",") {
				name, value, _ := strings.Cut(name, "=")
				if found[name] == nil {
					found[name] = map[string]bool{}
					order = append(order, name)
				}
				found[name][value] = true
			}
		}
	}
	for _, name := range order {
		if len(found[name]) > 1 {
			b.Params = append(b.Params, Param{name, slices.SortedFunc(maps.Keys(found[name]), numbers)})
		}
	}
}

// numbers orders values that are numbers by size, before those that are none.
func numbers(a, b string) int {
	x, xe := strconv.ParseFloat(a, 64)
	y, ye := strconv.ParseFloat(b, 64)
	switch {
	case xe == nil && ye == nil:
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a, b))
	case xe == nil:
		return -1
	case ye == nil:
		return 1
	}
	return cmp.Compare(a, b)
}

// safe reports whether the label is that of a family's safe point for a workload.
func safe(families []*device.Family, name, label string, fixed map[string]string) bool {
	i := slices.IndexFunc(families, func(f *device.Family) bool { return f.Name == name })
	if i < 0 {
		return false
	}
	v := families[i].Variant(label)
	return v != nil && v.Safe && families[i].CheckWorkload(v, fixed) == nil
}

// labelParameters are the parameters that a label names.
func labelParameters(label string) map[string]string {
	m := map[string]string{}
	for part := range strings.SplitSeq(label, ",") {
		name, value, _ := strings.Cut(part, "=")
		m[name] = value
	}
	return m
}

// Workload writes the workload's parameters, "all" where there is none.
func (s *Study) Workload() string { return cmp.Or(workloadName(s.Fixed), "all") }

// workloadName writes fixed parameters in a stable order.
func workloadName(fixed map[string]string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(fixed)) {
		parts = append(parts, k+"="+fixed[k])
	}
	return strings.Join(parts, ",")
}

// middle is the median of some numbers.
func middle(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	n := len(x)
	return (x[(n-1)/2] + x[n/2]) / 2
}

// find is the point of a variant, nil if there is none.
func (s *Size) find(label string) *Point {
	for _, p := range s.Points {
		if p.Variant == label {
			return p
		}
	}
	return nil
}

// Best is the fastest point.
func (s *Size) Best() *Point { return s.Points[0] }

// slowdown is a point's time over that of the best point. It is below 1 only for points that were
// measured briefly.
func (s *Size) slowdown(p *Point) float64 { return p.Nanos / s.Best().Nanos }

// Speedup is how many times faster than the safe point the best is; 0: not known.
func (s *Size) Speedup() float64 {
	if s.Safe == nil {
		return 0
	}
	return s.Safe.Nanos / s.Best().Nanos
}

// CountTied counts the other points that the best one beats by no more than the noise: of those that were
// measured like the best one, in final rounds or else briefly.
func (s *Size) CountTied() int {
	n := 0
	best := s.Best()
	for _, p := range s.Points[1:] {
		if unproven(p) == unproven(best) && p.Nanos*(1-search.Margin(&best.Sample, &p.Sample)) <= best.Nanos {
			n++
		}
	}
	return n
}

// A ParameterEffect has the effect of a parameter on the time at a size.
type ParameterEffect struct {
	Param string
	Best  string  // its value in the fastest variant
	Safe  float64 // loss, as a part of the best time, where it keeps the safe point's value; NaN: not known
	Worst float64 // loss at the value whose best variant is the slowest
	Value string  // that value
	Part  float64 // of the variance of log(time), explained by this parameter alone: 0 to 1
}

// ParameterEffects are the effects of the parameters at a size, the largest loss first. Of each value the best
// variant counts, whatever its other parameters are.
func (s *Study) ParameterEffects(size *Size) []ParameterEffect {
	var list []ParameterEffect
	for _, p := range s.Params {
		least := map[string]float64{}
		for _, x := range size.Points {
			v := x.Values[p.Name]
			if old, ok := least[v]; !ok || x.Nanos < old {
				least[v] = x.Nanos
			}
		}
		if len(least) < 2 {
			continue
		}
		w := ParameterEffect{Param: p.Name, Best: size.Best().Values[p.Name], Safe: math.NaN(), Part: size.explained(p.Name)}
		for _, v := range p.Values {
			if t, ok := least[v]; ok && t/size.Best().Nanos-1 > w.Worst {
				w.Worst, w.Value = t/size.Best().Nanos-1, v
			}
		}
		if size.Safe != nil {
			w.Safe = max(0, least[size.Safe.Values[p.Name]]/size.Best().Nanos-1)
		}
		list = append(list, w)
	}
	slices.SortStableFunc(list, func(a, b ParameterEffect) int { return cmp.Compare(b.Worst, a.Worst) })
	return list
}

// explained is the correlation ratio η² of log(time) by a parameter: the variance between
// its values' means over the whole variance. The points are chosen by a search, not drawn, so the
// ratio describes these points and not the whole space.
func (s *Size) explained(param string) float64 {
	sums, counts := map[string]float64{}, map[string]float64{}
	var sum, all float64
	for _, p := range s.Points {
		x := math.Log(p.Nanos)
		v := p.Values[param]
		sums[v] += x
		counts[v]++
		sum += x
	}
	n := float64(len(s.Points))
	for _, p := range s.Points {
		d := math.Log(p.Nanos) - sum/n
		all += d * d
	}
	between := 0.0
	for v, c := range counts {
		d := sums[v]/c - sum/n
		between += c * d * d
	}
	if all <= 0 {
		return 0
	}
	return between / all
}

// A Rule is one way to choose the same variant at all sizes, with what it costs.
type Rule struct {
	Name    string // "safe point", "best of all sizes", "winner at 24"
	Variant string
	Slower  []float64 // at each of the study's sizes, over the best; NaN: not measured
}

const winnerAt = "winner at "

// Rules are the safe point, the variant with the least geometric-mean slowdown over all
// sizes, and each size's winner.
func (s *Study) Rules() []Rule {
	var rules []Rule
	add := func(name, label string) {
		if label == "" {
			return
		}
		for i := range rules {
			if rules[i].Variant == label {
				if both := strings.TrimPrefix(name, winnerAt); both != name && strings.Contains(rules[i].Name, winnerAt) {
					name = both
				}
				rules[i].Name += ", " + name
				return
			}
		}
		r := Rule{Name: name, Variant: label}
		for _, size := range s.Sizes {
			x := math.NaN()
			if p := size.find(label); p != nil {
				x = size.slowdown(p)
			}
			r.Slower = append(r.Slower, x)
		}
		rules = append(rules, r)
	}
	add("safe point", s.Safe)
	if len(s.Sizes) > 1 {
		add("best of all sizes", s.rounder())
	}
	for _, size := range s.Sizes {
		add(winnerAt+strconv.Itoa(size.Size), size.Best().Variant)
	}
	return rules
}

// rounder is the best all-rounder of the variants measured at every size; empty: none.
func (s *Study) rounder() string {
	label, least := "", math.Inf(1)
next:
	for _, p := range s.Sizes[0].Points {
		sum := 0.0
		for _, size := range s.Sizes {
			x := size.find(p.Variant)
			if x == nil {
				continue next
			}
			sum += math.Log(size.slowdown(x))
		}
		if sum < least || sum == least && p.Variant < label {
			label, least = p.Variant, sum
		}
	}
	return label
}
