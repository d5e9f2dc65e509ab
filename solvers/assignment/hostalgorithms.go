package assignment

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/generated/assignment"
	"coalesce/runtime/device"
	"coalesce/solvers/algorithms"
	"coalesce/solvers/assignment/internal/draw"
	"coalesce/solvers/assignment/internal/host"
	"coalesce/solvers/assignment/internal/paths"
	"coalesce/solvers/assignment/problem"
	"coalesce/solvers/solve"
)

// hostAlgorithms are the algorithms with which a host solves one dense instance: the method of all cores, or Match's paths on one
// core, which read all pairs of a row, or lists of its near ones.
var hostAlgorithms = algorithms.NewFamily("assignment/hostalgorithm", []string{"algorithm", "pairs"},
	algorithms.Algorithm{Values: []string{"host", "near"}, Kernels: &assignment.Hostscan},
	algorithms.Algorithm{Values: []string{"paths", "all"}},
	algorithms.Algorithm{Values: []string{"paths", "near"}},
)

// hostWorkload is the workload of a dense matrix on a host of so many cores. The algorithms differ most by its shape and by the type of
// its costs, which paths read as float64.
func hostWorkload(rows, cols int, value problem.Value, cores int) tuned.Workload {
	rows, cols = min(rows, cols), max(rows, cols)
	broad := cols >= 2*rows
	return algorithms.PredictedWorkload(hostFixed[hostKey{broad, value}], rows, func(rows int) (*device.Variant, string) {
		if broad {
			return predictHost(rows, 2*rows, cores)
		}
		return predictHost(rows, rows, cores)
	})
}

type hostKey struct {
	broad bool
	value problem.Value
}

// hostFixed are the workloads' parameters, made once.
var hostFixed = func() map[hostKey]map[string]string {
	all := map[hostKey]map[string]string{}
	for _, value := range []problem.Value{problem.Int32, problem.Int64, problem.Float32, problem.Float64} {
		all[hostKey{false, value}] = map[string]string{"shape": "square", "value": string(value)}
		all[hostKey{true, value}] = map[string]string{"shape": "broad", "value": string(value)}
	}
	return all
}()

// predictHost is the algorithm where nothing was measured.
func predictHost(rows, cols, cores int) (*device.Variant, string) {
	if !FewCosts(rows, cols, cores) {
		return &hostAlgorithms.Variants[0], "for many costs the method of all cores is faster, as a rule"
	}
	if paths.ByLists(rows, cols) {
		return &hostAlgorithms.Variants[2], "few costs, for which no goroutine is started, and many enough for lists of near pairs"
	}
	return &hostAlgorithms.Variants[1], "few costs, for which no goroutine is started"
}

// checkHostAlgorithm says why an algorithm does not take a matrix.
func checkHostAlgorithm(v *device.Variant, rows, cols int) error {
	if isPaths(v) && rows*cols > pathsCostsOfFew {
		return fmt.Errorf("%d x %d costs: paths were compared up to %d, and nothing ends them", rows, cols, pathsCostsOfFew)
	}
	return nil
}

func isPaths(v *device.Variant) bool { return hostAlgorithms.Value(v, "algorithm") == "paths" }

// readingOf is how paths read rows with an algorithm.
func readingOf(v *device.Variant) paths.Reading {
	if hostAlgorithms.Value(v, "pairs") == "near" {
		return paths.NearPairs
	}
	return paths.AllPairs
}

// chooseHostWay is the choice for an instance that paths take.
func chooseHostWay(s *solve.Settings, facts device.Facts, inst *problem.Instance) (tuned.Choice, error) {
	return s.ChooseAlgorithm(hostAlgorithms, facts, hostWorkload(inst.Rows, inst.Cols, inst.Type, facts.SMs), func(v *device.Variant) error { return checkHostAlgorithm(v, inst.Rows, inst.Cols) })
}

// chosenFrom is the least number of costs for which a choice takes no time that counts.
const chosenFrom = 1 << 14

// reading is how paths read the rows of a matrix: as the binary's winners for this host say.
func (q *QuickSolver) reading(rows, cols int, value problem.Value) paths.Reading {
	if rows*cols < chosenFrom || rows*cols > pathsCostsOfFew {
		return paths.ByShape
	}
	if q.chosen.rows == rows && q.chosen.cols == cols && q.chosen.value == value {
		return q.chosen.reading
	}
	q.chosen.rows, q.chosen.cols, q.chosen.value, q.chosen.reading = rows, cols, value, paths.ByShape
	facts := host.Facts()
	c, err := tuned.Shipped().Choose(hostAlgorithms, facts, hostWorkload(rows, cols, value, facts.SMs), func(v *device.Variant) error {
		if !isPaths(v) {
			return errors.New("it starts goroutines")
		}
		return nil
	})
	if err == nil {
		q.chosen.reading = readingOf(c.Variant)
	}
	return q.chosen.reading
}

// A chosenReading is the last choice of a QuickSolver.
type chosenReading struct {
	rows, cols int
	value      problem.Value
	reading    paths.Reading
}

// hostKinds are the kinds of costs that the algorithms of hosts are compared on.
var hostKinds = []string{"uniform", "geom", repeatedCosts}

// repeatedCosts names uniform costs of as many values as there are columns.
const repeatedCosts = "uniform, repeated"

// drawHostWay draws an instance of a workload, of integers where it names no type. Integers of other kinds have ten times as many values as there are columns.
func drawHostWay(fixed map[string]string, rows, kind int, seed uint64) (*problem.Instance, error) {
	cols := rows
	if fixed["shape"] == "broad" {
		cols = 2 * rows
	}
	d := draw.Drawing{Kind: hostKinds[kind], Rows: rows, Cols: cols, Seed: seed << 40, Type: cmp.Or(problem.Value(fixed["value"]), problem.Int32)}
	if d.Type.Integer() {
		d.Range = 10 * int64(cols)
	}
	if d.Kind == repeatedCosts {
		d.Kind, d.Range = "uniform", int64(cols)
	}
	return draw.Draw(d)
}

// hostAlgorithmsSubject is the choice among the algorithms of a host, for the tuner.
func hostAlgorithmsSubject() subject.Subject {
	var workloads []map[string]string
	for _, broad := range []bool{false, true} {
		for _, value := range []problem.Value{problem.Int32, problem.Float64} {
			workloads = append(workloads, hostFixed[hostKey{broad, value}])
		}
	}
	return algorithms.NewSubject(algorithms.Problem[*problem.Instance]{
		Family: hostAlgorithms,
		Fixed:  workloads,
		Sizes: func(f device.Facts) []int {
			if f.Kind != device.Host {
				return nil
			}
			return []int{100, 500, 1500, 3000}
		},
		Feasible: func(v *device.Variant, _ device.Facts, size int) error { return checkHostAlgorithm(v, size, size) },
		Predicted: func(fixed map[string]string, f device.Facts, size int) (*device.Variant, string) {
			w := hostWorkload(size, map[string]int{"square": 1, "broad": 2}[fixed["shape"]]*size, problem.Value(fixed["value"]), f.SMs)
			return w.Prior.Variant, w.Prior.Why
		},
		Small: []int{2, 9, 40},
		Draw:  drawHostWay, Kinds: len(hostKinds), Several: severalWays,
		Reference: referenceValue,
		// A session that has not loaded the instance solves it as a call of the package's Solve does.
		Open: func(_ context.Context, inst *problem.Instance, s solve.Settings) (algorithms.Solver, error) {
			session, err := Open(Options{Settings: s})
			if err != nil {
				return algorithms.Solver{}, err
			}
			return algorithms.Solver{Close: session.Close, Solve: func(ctx context.Context) (*solve.Report, error) {
				r, err := session.Solve(ctx, inst)
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
