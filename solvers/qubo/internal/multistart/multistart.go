// Package multistart is massive multi-start (Lewis 2017) on devices and on the host,
// and the experiments on its kernels: Evaluation times qubo/evaluate, whose
// solutions the kernels of qubo/multistart draw, and Subjects are what the tuner
// knows of both families.
package multistart

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"coalesce/autotune/tuned"
	"coalesce/solvers/cores"
	"coalesce/solvers/qubo/internal/draw"
	"coalesce/solvers/qubo/internal/search"
	"coalesce/solvers/qubo/problem"
)

// Massive multi-start (Lewis, "A Diversified Multi-Start Algorithm for
// Unconstrained Binary Quadratic Problems Leveraging the Graphics Processor
// Unit", arXiv:1706.00037, Figure 2): random samples give the mean objective,
// the first derivative of Q a starting solution; then every iteration
// diversifies a solution, evaluates it, and takes it to a local optimum by
// steepest ascent if it passes the screen T(λ) = mean + λ(max - mean), max being
// the best objective so far.
//
// What the paper leaves open or gets wrong, and what is done here:
//
//   - λ is printed as max/mean. That makes T so large that nothing passes or,
//     of a negative mean, so small that everything does. Here λ is a number in
//     [0,1), DefaultLambda unless given; the printed one can be asked for. With
//     λ < 1, T lies between mean and max for a mean of any sign. Where no
//     sample's mean is below max, there is nothing to screen by, and all pass.
//   - λ is not updated; T is, with max.
//   - The starting solution sums the full symmetric row, q(i,i) + Σ q(i,j).
//   - Solutions are blended with the best so far; with the starting solution, or nothing, where that is
//     asked for ("different diversification approaches based on blending", which the paper does not name).
//   - Diversification is "based on Glover (1998)" and blends two solutions, the
//     number of changes following the loop counter. Our choice: iteration i
//     blends its last solution with the best, keeping what they share and
//     drawing the rest by fair coins, then turns over every h-th variable from
//     the q-th as Glover's generator of 0-1 vectors does, with h running through
//     2 ... √n/2+1 and q stepping when h has run through: about n/h changes.
//   - The flips of one ascent are bounded only where a bound is given.

// DefaultLambda is the λ of the screen where none is given, our choice in [0, 1):
// bench/qubo, experiment lambda, sweeps it over five instances. Of the values tried 0.2 has
// the smallest mean gap, 0.060 % (0.1: 0.152 %), and the smallest worst gap; 92 % of the
// iterations pass the screen.
const DefaultLambda = 0.2

// DefaultSamples is the paper's number of samples.
const DefaultSamples = 1000

// Options of massive multi-start. The zero value is the paper's run,
// with the default λ.
type Options struct {
	Samples    int      // 0: 1000
	Lambda     *float64 // in [0,1); nil: DefaultLambda
	Printed    bool     // λ = max/mean, as printed, in place of Lambda
	Iterations int      // of diversify, screen and search; 0: 2500
	Batch      int      // iterations at once, T being updated after them; 0 or 1: the paper's serial run
	MaxFlips   int64    // of one ascent; 0: no bound
	Ascend     string   // one of search.AscentNames: where solutions ascend; empty: where they are evaluated
	Blend      string   // one of search.BlendNames: what an iteration blends its last solution with; empty: the best so far
	Seed       uint64
	Target     *int64    // stop at this scaled objective; nil: none
	Deadline   time.Time // stop starting iterations; zero: none

	Tuning *tuned.Database // that variants are chosen by; nil: the one embedded in the binary
}

// A Run is the result of massive multi-start. Objectives are those of the normal form: scaled, to
// be maximised.
type Run struct {
	Value      int64
	X          []uint64 // bit i%64 of word i/64
	Mean       float64  // of the samples
	Start      int64    // of the starting solution
	Lambda     float64
	Threshold  float64 // T at the end
	Iterations int
	Searched   int // iterations that passed the screen
	Flips      int64
	Seconds    float64       // of the whole run
	Sampling   time.Duration // of samples: drawn, evaluated and reduced
	History    []Step
}

// A Step is a new best.
type Step struct {
	Iteration int
	Value     int64
	Original  float64       // the value in the instance's own terms
	At        time.Duration // since the run began
}

// backend is where the arithmetic of massive multi-start is done. Slots hold
// the solutions of a batch.
type backend interface {
	// sample draws count solutions and returns the sum of their objectives.
	sample(count int, seed uint64) (float64, error)
	// begin sets every slot and the best to x.
	begin(x []uint64) error
	// runBatch diversifies the first count slots, slot s with loop counter
	// counter + s unless that is 0, and takes those above the threshold to a
	// local optimum.
	runBatch(count int, counter, strides uint64, seed uint64, threshold float64, limit int64) ([]outcome, error)
	// solution of a slot.
	solution(slot int) ([]uint64, error)
	// makeBest makes a slot's solution the best.
	makeBest(slot int) error
	Close() error
}

// outcome of a slot: its objective after the ascent, and the ascent's flips, -1
// where the screen rejected it.
type outcome struct{ value, flips int64 }

// firstDerivative is the paper's starting solution: one where the row of
// symmetric Q sums to more than zero.
func firstDerivative(p *problem.Normal) []uint64 {
	x := make([]uint64, problem.Words(p.N))
	cores.Split(len(x), 1+problem.RowsPerCore(p.N)/64, func(from, to int) {
		for i := 64 * from; i < min(64*to, p.N); i++ {
			twice := 2 * p.Diag[i]
			_, weight := p.Row(i)
			for _, w := range weight {
				twice += w
			}
			if twice > 0 {
				x[i>>6] |= 1 << (i & 63)
			}
		}
	})
	return x
}

// screenThreshold is T(λ) = mean + λ(max - mean).
func screenThreshold(mean, lambda, largest float64) float64 { return mean + lambda*(largest-mean) }

// printedLambda is λ as printed: max/mean.
func printedLambda(largest, mean float64) float64 { return largest / mean }

// limits are the options of a search that are part of o.
func (o Options) limits() search.Options {
	return search.Options{Began: time.Now(), Seed: o.Seed, Target: o.Target, Deadline: o.Deadline}
}

// run is the pseudocode of Figure 2, within limits.
func (o Options) run(ctx context.Context, p *problem.Normal, on backend, limits search.Options, found func(value int64, x []uint64, at time.Duration)) (*Run, error) {
	began := time.Now()
	samples, iterations, batch := orElse(o.Samples, DefaultSamples), orElse(o.Iterations, 2500), orElse(o.Batch, 1)
	r := &Run{Lambda: DefaultLambda}
	if o.Lambda != nil {
		if r.Lambda = *o.Lambda; !(r.Lambda >= 0 && r.Lambda < 1) {
			return nil, fmt.Errorf("λ = %v, expected 0 <= λ < 1", r.Lambda)
		}
	}
	if o.Blend != "" && !slices.Contains(search.BlendNames(), o.Blend) {
		return nil, fmt.Errorf("blend %q, expected one of %v", o.Blend, search.BlendNames())
	}
	if o.Ascend != "" && !slices.Contains(search.AscentNames(), o.Ascend) {
		return nil, fmt.Errorf("ascend %q, expected one of %v", o.Ascend, search.AscentNames())
	}
	sum, err := on.sample(samples, limits.Seed)
	if err != nil {
		return nil, err
	}
	r.Sampling = time.Since(began)
	r.Mean = sum / float64(samples)
	r.X = firstDerivative(p)
	r.Value = p.Value(r.X)
	r.Start = r.Value
	if o.Printed {
		r.Lambda = printedLambda(float64(r.Start), r.Mean)
	}
	rounds := limits.NewRounds(ctx, found)
	defer rounds.End()
	report := func(iteration int) {
		r.History = append(r.History, Step{iteration, r.Value, p.Original(r.Value), time.Since(began)})
		rounds.Improve(r.Value, r.X)
	}
	report(0)
	if err := on.begin(r.X); err != nil {
		return nil, err
	}
	limit := int64(math.MaxInt64)
	if o.MaxFlips > 0 {
		limit = o.MaxFlips
	}
	_, err = rounds.Run(search.Method{Round: func() error {
		r.Threshold = screenThreshold(r.Mean, r.Lambda, float64(r.Value))
		if !o.Printed && !(r.Mean < float64(r.Value)) {
			r.Threshold = math.Inf(-1)
		}
		count := min(batch, iterations-r.Iterations)
		list, err := on.runBatch(count, uint64(r.Iterations), draw.StrideCount(p.N), ^limits.Seed, r.Threshold, limit)
		if err != nil {
			return err
		}
		best := -1
		for s, c := range list {
			rounds.Spent += max(1, c.flips) // a rejected iteration counts, or a screen that rejects all would not end
			if c.flips < 0 {
				continue
			}
			rounds.Did.Restarts++
			rounds.Did.Flips += c.flips
			if c.value > r.Value && (best < 0 || c.value > list[best].value) {
				best = s
			}
		}
		if best >= 0 {
			x, err := on.solution(best)
			if err != nil {
				return err
			}
			if v := p.Value(x); v != list[best].value {
				return fmt.Errorf("multistart: iteration %d says %d, its solution's objective is %d: %w", r.Iterations+best, list[best].value, v, problem.ErrCheck)
			}
			r.X, r.Value = x, list[best].value
			if err := on.makeBest(best); err != nil {
				return err
			}
			report(r.Iterations + best)
		}
		if r.Iterations += count; r.Iterations >= iterations {
			rounds.End()
		}
		return nil
	}})
	if err != nil {
		return nil, err
	}
	r.Searched, r.Flips = int(rounds.Did.Restarts), rounds.Did.Flips
	r.Seconds = time.Since(began).Seconds()
	return r, nil
}

func orElse(v, otherwise int) int {
	if v > 0 {
		return v
	}
	return otherwise
}
