package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// models are the results of bench/models/models.py: models with constraints, of several kinds, and others' solvers.
type models struct {
	Command, Commit, Date, Device, Host string
	Cores, Threads, Seeds               int
	RivalSeeds                          int `json:"rival_seeds"`
	Load, Limit                         float64
	Packages                            map[string]string
	Rows                                []modelRow
}

// A modelRow is a case and a solver. A value is nil where a seed's answer breaks a constraint.
type modelRow struct {
	Kind, Case, Sense, Solver, Failed     string
	Variables, Terms, Constraints, Proven int
	Known, Bound                          *float64
	Values                                []*float64
	Seconds                               float64
}

// best is the best value of a row's seeds; nil: none is feasible.
func (r *modelRow) best() (best *float64) {
	for _, v := range r.Values {
		if v != nil && (best == nil || (*v < *best) == (r.Sense == "minimize")) {
			best = v
		}
	}
	return best
}

// modelTables has the table of models: a line a case, and of each solver its best value, or how far that is from the best of all and of
// what is known. Before the first results no document has it.
func modelTables(root string) (map[string]string, error) {
	text, err := os.ReadFile(filepath.Join(root, "bench", "results", "models.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, err
	}
	var all models
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("models.json: %w", err)
	}
	var solvers, cases []string
	rows := map[[2]string]*modelRow{}
	for k := range all.Rows {
		r := &all.Rows[k]
		rows[[2]string{r.Case, r.Solver}] = r
		if !slices.Contains(solvers, r.Solver) {
			solvers = append(solvers, r.Solver)
		}
		if !slices.Contains(cases, r.Case) {
			cases = append(cases, r.Case)
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%g s a solve, %d at a time on %d cores of %s, coalesce on %s with %d seeds, the others with %d, load %.1f at the start, commit %s, %s: `%s`.\n\n", all.Limit,
		all.Cores/cmp.Or(all.Threads, all.Cores, 1), all.Cores, all.Host, all.Device, all.Seeds, cmp.Or(all.RivalSeeds, all.Seeds), all.Load, all.Commit, all.Date, all.Command)
	fmt.Fprintf(&out, "| kind | case | variables | constraints | best known or found | %s |\n|---|---|---:|---:|---:|%s\n", strings.Join(solvers, " | "), strings.Repeat("---:|", len(solvers)))
	for _, name := range cases {
		var first *modelRow
		var best *float64
		for _, s := range solvers {
			r := rows[[2]string{name, s}]
			if r == nil {
				continue
			}
			if first == nil {
				first, best = r, r.Known
			}
			if v := r.best(); v != nil && (best == nil || (*v < *best) == (r.Sense == "minimize")) {
				best = v
			}
		}
		fmt.Fprintf(&out, "| %s | %s | %d | %d | %s |", first.Kind, first.Case, first.Variables, first.Constraints, plainOr(best, "none"))
		for _, s := range solvers {
			fmt.Fprintf(&out, " %s |", modelCell(rows[[2]string{name, s}], best))
		}
		out.WriteString("\n")
	}
	return map[string]string{"models": out.String()}, nil
}

// plainOr is a number without an exponent, or a word.
func plainOr(v *float64, word string) string {
	if v == nil {
		return word
	}
	return fmt.Sprintf("%.10g", *v)
}

// modelCell says what a solver's seeds found beside the best.
func modelCell(r *modelRow, best *float64) string {
	switch {
	case r == nil:
		return ""
	case len(r.Values) == 0:
		return "(" + r.Failed + ")"
	}
	v := r.best()
	feasible, hits := 0, 0
	for _, x := range r.Values {
		if x != nil {
			feasible++
			if *x == *best {
				hits++
			}
		}
	}
	text := "no answer"
	switch {
	case v == nil:
	case *v == *best:
		text = "best"
	case *best == 0 || *v / *best > 10: // shares of a small value say little
		text = plainOr(v, "")
	default:
		text = fmt.Sprintf("%.2f %% off", 100*max((*v-*best)/(*best), (*best-*v)/(*best)))
	}
	if len(r.Values) > 1 && feasible > 0 {
		text += fmt.Sprintf(" (%d of %d hit)", hits, len(r.Values))
		if feasible < len(r.Values) {
			text += fmt.Sprintf(", %d feasible", feasible)
		}
	}
	if r.Proven > 0 {
		text += ", proven"
	}
	return text
}
