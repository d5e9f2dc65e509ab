package assignment

import (
	"context"
	"errors"
	"fmt"

	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/algorithms"
	"coalesce/solvers/assignment/internal/draw"
	"coalesce/solvers/assignment/internal/reference"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// deviceAlgorithms are the algorithms with which a solve of one dense instance on a GPU, or on the emulated
// device, may begin. bound is the number of passes after which the classical variant hands over to
// core, 0 for none. probe is the number of steps that the tree variant gets where core found many
// equal costs, before the classical variant takes over, 0 for none.
var deviceAlgorithms = algorithms.NewFamily("assignment/algorithm", []string{"algorithm", "bound", "probe"},
	algorithms.Algorithm{Values: []string{"core", "0", "50"}, Kernels: &assignment.Core},
	algorithms.Algorithm{Values: []string{"core", "0", "0"}, Kernels: &assignment.Core},
	algorithms.Algorithm{Values: []string{"tree", "0", "0"}, Kernels: &assignment.Tree},
	algorithms.Algorithm{Values: []string{"classical", "0", "0"}, Kernels: &assignment.Classical},
	algorithms.Algorithm{Values: []string{"classical", "8", "50"}, Kernels: &assignment.Classical},
	algorithms.Algorithm{Values: []string{"classical", "32", "50"}, Kernels: &assignment.Classical},
	algorithms.Algorithm{Values: []string{"host", "0", "0"}, Kernels: &assignment.Hostscan},
)

// Classes of the values that costs have, by which algorithms differ most.
const (
	equalCosts  = "equal"
	fewCosts    = "few"    // less than a quarter of the rows
	smallCosts  = "small"  // at most as many as columns
	mediumCosts = "medium" // up to a hundred times that
	wideCosts   = "wide"
)

// costClass is the class of a problem's costs.
func costClass(p *problem.Normal) string {
	span := p.Max - p.Min
	switch {
	case span < 0: // beyond what int64 holds
		return wideCosts
	case span == 0:
		return equalCosts
	case span < int64(p.Rows)/4:
		return fewCosts
	case span < int64(p.Cols):
		return smallCosts
	case span <= 100*int64(p.Cols):
		return mediumCosts
	}
	return wideCosts
}

// shapeOf tells problems of many more columns than rows from others.
func shapeOf(p *problem.Normal) string {
	if p.Cols >= 2*p.Rows {
		return "broad"
	}
	return "square"
}

// predictAlgorithm is the algorithm to begin with where nothing was measured. Where costs have few values,
// a row has many pairs of slack 0 and little is left to do beyond a matching of these: the zero
// lists of the classical variant are best then, and the tree variant where all costs are equal.
// Uniform costs with as many values as columns take the classical variant 3 to 5 passes after the
// reductions, fewer with bounds: 0.47 to 0.73 of core's time at 1,000 to 40,000 rows
// (bench/results/assignment-race.json, an H200). Other costs may take many passes. Fewer than 512
// rows were not compared.
func predictAlgorithm(costs string, rows int) (*device.Variant, string) {
	const least = 512
	switch {
	case costs == equalCosts:
		return deviceAlgorithms.Variant("algorithm=tree,bound=0,probe=0"), "all costs are equal"
	case costs == fewCosts:
		return deviceAlgorithms.Variant("algorithm=classical,bound=0,probe=0"), "costs have fewer values than a quarter of the rows"
	case costs == smallCosts && rows >= least:
		return deviceAlgorithms.Variant("algorithm=classical,bound=8,probe=50"), "costs have at most as many values as there are columns"
	}
	return &deviceAlgorithms.Variants[0], "as a rule the fastest"
}

// firstAlgorithm returns the algorithm to begin with, among those that can solve the problem on the device:
// the one that measurements of problems like this one favour, else the predicted one.
func firstAlgorithm(facts device.Facts, p *problem.Normal, o Options) (tuned.Choice, error) {
	costs := costClass(p)
	w := algorithms.PredictedWorkload(map[string]string{"costs": costs, "shape": shapeOf(p)}, p.Rows, func(rows int) (*device.Variant, string) { return predictAlgorithm(costs, rows) })
	return o.ChooseAlgorithm(deviceAlgorithms, facts, w, func(v *device.Variant) error {
		if deviceAlgorithms.Value(v, "algorithm") != "host" {
			return nil // whether its kernels fit is asked when one is chosen
		}
		if p.Source != nil {
			return errors.New("the costs are on the device alone")
		}
		return hostFits(facts, p)
	})
}

// thresholds are those of an algorithm.
func thresholds(v *device.Variant) (bound, probe uint64) {
	return uint64(deviceAlgorithms.Int(v, "bound")), uint64(deviceAlgorithms.Int(v, "probe"))
}

// deviceAlgorithmsSubject is the choice among the algorithms, for the tuner.
func deviceAlgorithmsSubject() subject.Subject {
	var workloads []map[string]string
	for _, shape := range []string{"square", "broad"} {
		for _, costs := range []string{equalCosts, fewCosts, smallCosts, mediumCosts, wideCosts} {
			workloads = append(workloads, map[string]string{"costs": costs, "shape": shape})
		}
	}
	return algorithms.NewSubject(algorithms.Problem[*problem.Instance]{
		Family: deviceAlgorithms,
		Fixed:  workloads,
		Sizes: func(f device.Facts) []int {
			switch f.Kind {
			case device.CUDA:
				return []int{300, 1000, 5000, 20000}
			case device.Host:
				return nil // which has algorithms of its own
			}
			return []int{8, 40}
		},
		Feasible: func(_ *device.Variant, f device.Facts, size int) error {
			if need := float64(4+4*severalWays(size)) * float64(size) * float64(size); f.Free > 0 && need > 0.9*float64(f.Free) {
				return fmt.Errorf("%d rows: %w", size, device.ErrMemory)
			}
			return nil
		},
		Predicted: func(fixed map[string]string, _ device.Facts, size int) (*device.Variant, string) {
			return predictAlgorithm(fixed["costs"], size)
		},
		Small: []int{2, 9, 40},
		Draw:  drawWay, Kinds: len(wayKinds), Several: severalWays,
		Reference: referenceValue,
		Open: func(ctx context.Context, inst *problem.Instance, s solve.Settings) (algorithms.Solver, error) {
			session, err := Open(Options{Settings: s})
			if err != nil {
				return algorithms.Solver{}, err
			}
			if err := session.Load(ctx, inst); err != nil {
				return algorithms.Solver{}, errors.Join(err, session.Close())
			}
			return algorithms.Solver{Close: session.Close, Solve: func(ctx context.Context) (*solve.Report, error) {
				r, err := session.SolveAgain(ctx)
				if err != nil {
					return nil, err
				}
				report := r.Report
				return &report, nil
			}}, nil
		},
		Work: countCosts,
	})
}

// referenceValue is the value of an instance of at most as many rows as columns by the reference.
func referenceValue(inst *problem.Instance) (solve.Number, error) {
	p, err := problem.Normalise(inst)
	if err != nil {
		return "", err
	}
	s, err := reference.Solve(p, nil)
	if err != nil {
		return "", err
	}
	value, _ := totalCost(inst, s.Column)
	return value, nil
}

// countCosts is the number of an instance's costs.
func countCosts(inst *problem.Instance) float64 { return float64(inst.Rows) * float64(inst.Cols) }

// wayKinds are the kinds of costs that every class of values is drawn of.
var wayKinds = []string{"uniform", "geom", "ties", otherRange}

// otherRange names uniform costs with another number of values of the class.
const otherRange = "uniform, other range"

// drawWay draws int32 costs of a workload: uniform ones, distances of points in the plane, costs
// of which most are equal to others, or those of otherRange.
func drawWay(fixed map[string]string, rows, kind int, seed uint64) (*problem.Instance, error) {
	cols := rows
	if fixed["shape"] == "broad" {
		cols = 2 * rows
	}
	span := map[string]int64{equalCosts: 1, fewCosts: int64(rows) / 4, smallCosts: int64(cols), mediumCosts: 10 * int64(cols),
		wideCosts: max(1e6, 1000*int64(cols))}[fixed["costs"]]
	if wayKinds[kind] == otherRange {
		switch fixed["costs"] {
		case mediumCosts:
			span *= 5
		case wideCosts:
			span /= 5
		default:
			span /= 2
		}
	}
	span = max(1, span)
	d := draw.Drawing{Kind: wayKinds[kind], Rows: rows, Cols: cols, Range: span, Seed: seed << 40, Type: problem.Int32}
	switch {
	case fixed["costs"] == equalCosts || d.Kind == otherRange:
		d.Kind = "uniform"
	case d.Kind == "geom":
		d.Range = max(1, int64(float64(span)/1.5)) // the diagonal is the longest distance
	case d.Kind == "ties" && fixed["costs"] == wideCosts:
		d.Kind, d.Range = "twocost", 0
	case d.Kind == "ties" && fixed["costs"] == fewCosts:
		d.Kind, d.Range = "binary", 0
	case d.Kind == "ties": // means of four products, most of them near a quarter of the range
		d.Kind, d.Rank = "lowrank", 4
	}
	return draw.Draw(d)
}

// severalWays is how many instances a timed run solves: six of up to 2,300 rows, one of 8,200 rows
// and more, so that drawing and loading them does not take longer than the rest.
func severalWays(rows int) int { return max(1, min(6, 1<<25/(rows*rows))) }
