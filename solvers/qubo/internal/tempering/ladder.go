package tempering

import (
	"coalesce/generated/qubo"
	"math"
)

// temperSpans are the coldest and the hottest temperature of ladders, in sizes of a typical field
// (needs.temperature); blocks take the four of a row in turn. The first row is for replicas in
// pairs, with cluster moves, the others for ladders without: of few neighbours, of which the coldest need not be so cold, and of more.
// docs/notes/qubo-flips.md has the spans that were tried.
var temperSpans = [3][4][2]float64{
	{{0.075, 0.18}, {0.075, 0.22}, {0.06, 0.25}, {0.08, 0.35}},
	{{0.07, 0.29}, {0.09, 0.25}, {0.075, 0.45}, {0.06, 0.52}},
	{{0.06, 0.40}, {0.06, 0.52}, {0.06, 0.46}, {0.075, 0.45}},
}

// Courses of annealing.
const (
	annealHot    = 0.5  // temperature at the beginning, in the unit of temperSpans
	annealCold   = 0.05 // temperature at the end
	annealQuench = 0.02 // share of a course's sweeps, at its end, in which no gain below 0 is taken
	annealFirst  = 256  // sweeps of the first course; each is twice as long as the one before
)

// deviceTemperature is a temperature as the device takes it: the loss of gain, on the device's scale, that 2^32
// units of lcg.cost allow.
func (t *tempering) deviceTemperature(temperature float64) int64 {
	return int64(math.RoundToEven(temperature * math.Ln2 * math.Ldexp(64, t.form.shift)))
}

// ladder has fixed temperatures in even steps, one for each replica, or for each pair of replicas
// where there are cluster moves.
func (t *tempering) ladder(block int) []int64 {
	words, each, row := make([]int64, qubo.TemperLadderRungs), 1, 2
	switch {
	case t.every > 0:
		each, row = 2, 0
	case t.needs.degree <= clusterDegree:
		row = 1
	}
	span := temperSpans[row][block%4]
	steps := replicas/each - 1
	var at [replicas]float64
	for k := range at {
		at[k] = t.needs.temperature * (span[0] + (span[1]-span[0])*float64(k/each)/float64(steps))
		words[qubo.TemperLadderFrom+k] = max(1, t.deviceTemperature(at[k]))
		words[qubo.TemperLadderTo+k] = words[qubo.TemperLadderFrom+k]
	}
	for k := range replicas - 1 {
		cool := (1/at[k] - 1/at[k+1]) / math.Ln2 * math.Ldexp(1, 26-t.form.shift)
		words[qubo.TemperLadderCool+k] = int64(math.Float64bits(cool))
	}
	return words
}

// A temperCourse anneals all replicas of a block from hot to cold, again and again, each time in
// twice as many sweeps.
type temperCourse struct{ length, done int }

// advance advances the course by at most limit sweeps, and returns how many, and the ladder for
// these. left is the number of sweeps that there is time for, 0 where unknown. A course after
// which the time would not suffice for another takes all of the time; after the last one replicas
// stay cold, which leaves time to combine their solutions.
func (c *temperCourse) advance(t *tempering, limit, left int) (int, []int64) {
	if c.done == c.length && left > 0 && left < c.length/5 {
		words := make([]int64, qubo.TemperLadderRungs)
		for k := range replicas {
			words[qubo.TemperLadderFrom+k] = t.deviceTemperature(t.needs.temperature * annealCold)
			words[qubo.TemperLadderTo+k] = words[qubo.TemperLadderFrom+k]
		}
		return limit, words
	}
	if c.done == c.length {
		if c.length, c.done = max(annealFirst, 2*c.length), 0; left > 0 && left < 3*c.length {
			c.length = max(1, left-left/8)
		}
	}
	cooling := c.length - int(annealQuench*float64(c.length))
	end := c.length
	if c.done < cooling {
		end = cooling
	}
	sweeps := min(limit, end-c.done)
	words := make([]int64, qubo.TemperLadderRungs)
	for k := range replicas {
		if c.done < cooling {
			at := func(done int) int64 {
				share := float64(done) / float64(cooling)
				return t.deviceTemperature(t.needs.temperature * (annealHot + (annealCold-annealHot)*share))
			}
			words[qubo.TemperLadderFrom+k], words[qubo.TemperLadderTo+k] = at(c.done), at(c.done+sweeps)
		}
	}
	c.done += sweeps
	return sweeps, words
}
