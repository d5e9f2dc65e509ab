// Package propose picks the variant to time next, from the times of the variants tried so far.
//
// Winners of kin devices and sizes come first, then the variant farthest from them. Without winners the search begins with the
// variant nearest to the middle of the space, and four others, each the farthest from those before.
//
// For each next one it grows two randomised regression trees on the logarithms of all times so far and takes the variant of
// least mean prediction; of several, the nearest to the best so far, or any where four trials in a row were not faster than all
// before. Trees are grown afresh for each proposal, which is all else that makes it explore. A node draws four random splits and
// takes the one of least variance; a leaf holds trials that are alike. A variant that failed counts as slow as the slowest.
//
// Parameters are ordered as numbers where all their values are numbers. The product and the ratio of each
// pair are features too: threads of a block, elements of a tile.
package propose

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
)

// The fixed numbers of the strategy.
const (
	openers = 5 // trials before the trees where nothing is known
	opposed = 2 // the same where something is
	splits  = 4 // random splits a node, of which the best counts
	trees   = 2 // a proposal; their mean decides
	stuck   = 4 // trials in a row, none faster than all before: the next one need not be near the best
	misled  = 3 // trials in a row of what won elsewhere, none faster than all before: the rest is left
)

// A Proposer proposes variants, each at most once.
type Proposer struct {
	rng      *rand.Rand
	places   [][]float64 // by variant and parameter: the place of its value, 0 to 1
	features [][]float64 // by feature and variant
	first    []int       // to propose before all others
	winners  []int       // elsewhere, to propose then
	openers  int
	vain     int   // of them, the last trials that were not faster than all before
	left     []int // neither proposed nor learnt yet
	pending  []int // proposed and not learnt yet
	tried    []int
	times    []float64 // their logarithms; +Inf where they failed

	// Of the proposal under way.
	targets []float64 // times, with those of failures as the slowest
	sums    []float64 // of predictions, by variant
}

// New takes the values of each variant's parameters, and further features with a number for each variant, such as
// times at another size.
func New(values [][]string, more [][]float64, rng *rand.Rand) *Proposer {
	p := &Proposer{rng: rng, openers: openers, places: make([][]float64, len(values)), sums: make([]float64, len(values))}
	for _, feature := range more {
		if slices.ContainsFunc(feature, func(x float64) bool { return x != feature[0] }) {
			p.features = append(p.features, feature)
		}
	}
	for i := range values {
		p.left = append(p.left, i)
	}
	if len(values) == 0 {
		return p
	}
	var logs [][]float64
	for k := range values[0] {
		place, log := featureColumn(values, k)
		if place == nil {
			continue
		}
		p.features = append(p.features, place)
		for i, x := range place {
			p.places[i] = append(p.places[i], x)
		}
		if log == nil {
			continue
		}
		for _, other := range logs {
			product, ratio := make([]float64, len(log)), make([]float64, len(log))
			for i := range log { // rounded, for equal products of different factors to be equal
				product[i], ratio[i] = math.Round(1e9*(other[i]+log[i])), math.Round(1e9*(other[i]-log[i]))
			}
			p.features = append(p.features, product, ratio)
		}
		logs = append(logs, log)
	}
	return p
}

// featureColumn is a parameter by variant: the places of its values from 0 to 1, in numeric order where all are numbers, else in
// the order in which they come, and their logarithms where all are positive. It is nil for a parameter of one value.
func featureColumn(values [][]string, k int) (place, log []float64) {
	number, all, numeric, positive := map[string]float64{}, []string{}, true, true
	for _, v := range values {
		if _, ok := number[v[k]]; !ok {
			x, err := strconv.ParseFloat(v[k], 64)
			numeric, positive = numeric && err == nil, positive && err == nil && x > 0
			number[v[k]], all = x, append(all, v[k])
		}
	}
	if len(all) < 2 {
		return nil, nil
	}
	if numeric {
		slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(number[a], number[b]) })
	}
	at := map[string]float64{}
	for i, v := range all {
		at[v] = float64(i) / float64(len(all)-1)
	}
	for _, v := range values {
		place = append(place, at[v[k]])
		if positive {
			log = append(log, math.Log(number[v[k]]))
		}
	}
	return place, log
}

// Begin has variants proposed before all others, and then what won elsewhere, until three in a row of that are
// not faster than all before.
func (p *Proposer) Begin(first, winners []int) {
	if p.first, p.winners = first, winners; len(first)+len(winners) > 0 {
		p.openers = opposed
	}
}

// Learn takes the time of a variant, in any unit, 0 where it failed. The variant is not proposed any more.
func (p *Proposer) Learn(variant int, time float64) {
	y := math.Inf(1)
	if time > 0 {
		y = math.Log(time)
	}
	if p.vain++; len(p.times) == 0 || y < slices.Min(p.times) {
		p.vain = 0
	}
	p.tried, p.times = append(p.tried, variant), append(p.times, y)
	p.Remove(variant)
	if at := slices.Index(p.pending, variant); at >= 0 {
		p.pending = slices.Delete(p.pending, at, at+1)
	}
}

// Remove takes a variant out of those to propose.
func (p *Proposer) Remove(variant int) {
	if at := slices.Index(p.left, variant); at >= 0 {
		p.left[at] = p.left[len(p.left)-1]
		p.left = p.left[:len(p.left)-1]
	}
}

// Remaining is how many variants are left to propose.
func (p *Proposer) Remaining() int { return len(p.left) }

// Next is the variant to try next; -1 where none is left. It may be called again before the time of the last one is learnt: openers
// are far from those too, and the trees do without them.
func (p *Proposer) Next() int {
	variant, ok := p.known()
	if !ok {
		variant = p.unknown()
	}
	if variant >= 0 {
		p.Remove(variant)
		p.pending = append(p.pending, variant)
	}
	return variant
}

// unknown is the next one where nothing of what Begin took is left.
func (p *Proposer) unknown() int {
	before := slices.Concat(p.tried, p.pending)
	switch {
	case len(p.left) == 0:
		return -1
	case len(before) == 0:
		return p.opener(func(i int) (d float64) {
			for _, x := range p.places[i] {
				d += math.Abs(x - 0.5)
			}
			return d
		})
	case len(before) < p.openers || len(p.tried) == 0:
		return p.opener(func(i int) float64 {
			near := math.Inf(1)
			for _, j := range before {
				near = min(near, p.distance(i, j))
			}
			return -near
		})
	}
	return p.promising()
}

// known is the next of what Begin took.
func (p *Proposer) known() (variant int, ok bool) {
	for len(p.first) > 0 {
		variant, p.first, p.vain = p.first[0], p.first[1:], 0
		if slices.Contains(p.left, variant) {
			return variant, true
		}
	}
	for len(p.winners) > 0 && p.vain < misled {
		variant, p.winners = p.winners[0], p.winners[1:]
		if slices.Contains(p.left, variant) {
			return variant, true
		}
	}
	p.winners = nil
	return 0, false
}

// opener is the one for which a value is the least; of several a random one.
func (p *Proposer) opener(value func(variant int) float64) (pick int) {
	least, n := math.Inf(1), 0
	for _, i := range p.left {
		x := value(i)
		if x < least {
			least, n = x, 0
		}
		if x == least {
			if n++; p.rng.IntN(n) == 0 {
				pick = i
			}
		}
	}
	return pick
}

// distance is the sum over the parameters of how far apart two variants' values are.
func (p *Proposer) distance(a, b int) (d float64) {
	for k, x := range p.places[a] {
		d += math.Abs(x - p.places[b][k])
	}
	return d
}

// promising is the variant with the least mean prediction of trees grown anew: of several the nearest to the
// fastest so far unless the search is stuck there, of several such a random one.
func (p *Proposer) promising() int {
	slowest, fastest := math.Inf(-1), 0
	for k, y := range p.times {
		if !math.IsInf(y, 1) {
			slowest = max(slowest, y)
		}
		if y < p.times[fastest] {
			fastest = k
		}
	}
	p.targets = p.targets[:0]
	for _, y := range p.times {
		p.targets = append(p.targets, max(min(y, slowest), -math.MaxFloat64)) // all are equal where all failed
	}
	trials, ahead := make([]int, len(p.tried)), slices.Clone(p.left)
	for _, i := range ahead {
		p.sums[i] = 0
	}
	for range trees {
		for k := range trials {
			trials[k] = k
		}
		p.grow(trials, ahead)
	}
	least, nearest, n, pick := math.Inf(1), 0.0, 0, -1
	for _, i := range p.left {
		if p.sums[i] > least {
			continue
		}
		d := 0.0
		if p.vain < stuck {
			d = p.distance(i, p.tried[fastest])
		}
		if p.sums[i] < least || d < nearest {
			least, nearest, n = p.sums[i], d, 0
		}
		if d == nearest {
			if n++; p.rng.IntN(n) == 0 {
				pick = i
			}
		}
	}
	return pick
}

// grow splits trials, and the variants ahead with them, until the trials of a leaf are alike, and adds the leaf's
// mean to the sums of its variants.
func (p *Proposer) grow(trials, ahead []int) {
	if len(ahead) == 0 {
		return
	}
	sum, least, most := 0.0, math.Inf(1), math.Inf(-1)
	for _, k := range trials {
		sum, least, most = sum+p.targets[k], min(least, p.targets[k]), max(most, p.targets[k])
	}
	mean := sum / float64(len(trials))
	var split []float64
	at, gain := 0.0, -1.0
	for n := 0; most > least && n < splits*len(p.features) && (n < splits || split == nil); n++ {
		feature := p.features[p.rng.IntN(len(p.features))]
		low, high := math.Inf(1), math.Inf(-1)
		for _, k := range trials {
			low, high = min(low, feature[p.tried[k]]), max(high, feature[p.tried[k]])
		}
		threshold := low + (high-low)*p.rng.Float64()
		if threshold >= high {
			continue
		}
		below, part := 0.0, 0.0
		for _, k := range trials {
			if feature[p.tried[k]] <= threshold {
				below, part = below+1, part+p.targets[k]
			}
		}
		above := float64(len(trials)) - below
		a, b := part/below-mean, (sum-part)/above-mean
		if g := below*a*a + above*b*b; g > gain {
			split, at, gain = feature, threshold, g
		}
	}
	if split == nil {
		for _, i := range ahead {
			p.sums[i] += mean
		}
		return
	}
	a := partition(trials, func(k int) bool { return split[p.tried[k]] <= at })
	b := partition(ahead, func(i int) bool { return split[i] <= at })
	p.grow(trials[:a], ahead[:b])
	p.grow(trials[a:], ahead[b:])
}

// partition puts what satisfies a condition first, and returns how many do.
func partition(list []int, first func(int) bool) (n int) {
	for i, x := range list {
		if first(x) {
			list[i], list[n] = list[n], x
			n++
		}
	}
	return n
}
