package main

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"coalesce/bench/result"
	solver "coalesce/solvers/qubo"
	quboproblem "coalesce/solvers/qubo/problem"
)

// qoblibTable is made by qoblib.py: QOBLIB's programs and what its submissions say.
//
//go:embed qoblib.csv
var qoblibTable string

// qoblibProblems are QOBLIB's low autocorrelation binary sequences, market splits and portfolios.
func qoblibProblems() (list []problem, err error) {
	rows, err := csv.NewReader(strings.NewReader(qoblibTable)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("qoblib.csv: %w", err)
	}
	for _, row := range rows[1:] {
		var numbers [5]float64 // the best known value, ABS2's and its seconds, Gurobi's and its seconds
		for k, text := range row[2:] {
			if numbers[k], err = strconv.ParseFloat(text, 64); err != nil && text != "" {
				return nil, fmt.Errorf("qoblib.csv: %w", err)
			}
		}
		p := newProblem(row[0], numbers[0], 0, 0)
		p.abs2, p.gurobi = result.Published{Value: numbers[1], Seconds: numbers[2]}, result.Published{Value: numbers[3], Seconds: numbers[4]}
		list = append(list, p)
	}
	return list, nil
}

// timeQOBLIB times the device's best engine, or -engines, to the best known value of QOBLIB's programs, every seed, and writes the
// submission where a folder is named.
func (b *bench) timeQOBLIB() error {
	list, err := qoblibProblems()
	if err != nil {
		return err
	}
	return b.timeEngines(list)
}

// A submission is a folder in QOBLIB's form (its CONTRIBUTING.md): for each instance its summary, its solution and its objective over time.
type submission struct {
	folder string
	runs   map[string]*submittedRuns
}

// submittedRuns are those of an instance so far.
type submittedRuns struct {
	row      result.Binary // the best
	solution string
	total    float64 // seconds of all runs
	count    int
	met      int
}

var submissionColumns = []string{
	"Problem", "Submitter", "Date", "Reference", "Best Objective Value", "Optimality Bound", "Modeling Approach", "# Decision Variables", "# Binary Variables",
	"# Integer Variables", "# Continuous Variables", "# Non-Zero Coefficients", "Coefficients Type", "Coefficients Range", "Workflow", "Algorithm Type",
	"# Runs", "# Feasible Runs", "# Successful Runs", "Success Threshold", "Hardware Specifications", "Total Runtime", "CPU Runtime", "GPU Runtime",
	"QPU Runtime", "Other HW Runtime", "Remarks",
}

// add takes a run, and writes the instance's folder anew.
func (s *submission) add(inst *quboproblem.Instance, row result.Binary, r *solver.Result, hardware string) error {
	if s.runs == nil {
		s.runs = map[string]*submittedRuns{}
	}
	all := s.runs[row.Instance]
	if all == nil {
		all = &submittedRuns{row: row}
		s.runs[row.Instance] = all
	}
	all.count, all.total = all.count+1, all.total+row.Seconds
	if row.Success {
		all.met++
	}
	if all.solution == "" || row.Value < all.row.Value {
		all.row, all.solution = row, r.Solution.String()
	}
	folder := filepath.Join(s.folder, row.Instance)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	write := func(name, text string) error {
		return os.WriteFile(filepath.Join(folder, row.Instance+name), []byte(text), 0o644)
	}
	var out strings.Builder
	w := csv.NewWriter(&out)
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	low, high := min(slices.Min(inst.Int.Linear), slices.Min(inst.Int.Pair)), max(slices.Max(inst.Int.Linear), slices.Max(inst.Int.Pair))
	gpu := "N/A"
	if !strings.Contains(all.row.Name, "host") {
		gpu = number(all.row.Best)
	}
	w.WriteAll([][]string{submissionColumns, {
		row.Instance, "Coalesce", time.Now().Format(time.DateOnly), "docs/results/qoblib.md of Coalesce", number(all.row.Value), "N/A", "QUBO, QOBLIB's qs file",
		fmt.Sprint(inst.N), fmt.Sprint(inst.N), "0", "0", fmt.Sprint(int(inst.Pairs()) + inst.N), "Integer", fmt.Sprintf("%d - %d", low, high),
		"preprocessing, search, recomputation of the value", "Stochastic", fmt.Sprint(all.count), fmt.Sprint(all.count), fmt.Sprint(all.met), "0",
		hardware, number(all.total / float64(all.count)), "N/A", gpu, "N/A", "N/A", "GPU Runtime is the time to the value",
	}})
	var series strings.Builder
	series.WriteString("[[")
	for k, h := range r.History {
		if k > 0 {
			series.WriteString(",")
		}
		fmt.Fprintf(&series, `{"Time":%g,"Incumbent":%g}`, h.Seconds, h.Value.Float())
	}
	series.WriteString("]]\n")
	for name, text := range map[string]string{"_summary.csv": out.String(), "_solution.sol": solutionText(row.Instance, all.solution), "_objective_time_series.json": series.String()} {
		if err := write(name, text); err != nil {
			return err
		}
	}
	return nil
}

// solutionText is a solution as QOBLIB's checks read it: the sequence alone, the choice in a line, or all variables.
func solutionText(instance, solution string) string {
	var out strings.Builder
	length, labs := strings.CutPrefix(instance, "labs")
	switch {
	case labs:
		n, _ := strconv.Atoi(length)
		for _, bit := range solution[:min(n, len(solution))] {
			fmt.Fprintf(&out, "%c\n", bit)
		}
	case strings.HasPrefix(instance, "ms_"):
		fmt.Fprintln(&out, solution)
	default:
		for k, bit := range solution {
			fmt.Fprintf(&out, "x#%d  %c\n", k+1, bit)
		}
	}
	return out.String()
}
