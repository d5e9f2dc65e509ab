package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"coalesce/bench/result"
)

// searchTables are the regions of the tuner's search on recorded spaces.
func searchTables(root string) (map[string]string, error) {
	f, err := result.Load[result.Replay](filepath.Join(root, "bench", "results", "tuning-replay.json"))
	if err != nil {
		return nil, fmt.Errorf("load results: %w", err)
	}
	names := []string{"adaptive_tabu_greywolf", "genetic_algorithm", "simulated_annealing", "random_sample"}
	out := tableHead(append([]string{"space", "variants", "from nothing", "stopped early", "trials to within 5 %", "with kin's winners", "stopped early", "trials to within 5 %"}, names...)...)
	var means [4]result.Scored
	of := map[string]float64{}
	for _, r := range f.Rows {
		cells := []string{strings.ReplaceAll(r.Kernel, "_milo", "") + ", " + r.Device, fmt.Sprint(r.Variants)}
		for k, s := range []*result.Scored{&r.Nothing, &r.Early, r.Kin, r.EarlyKin} {
			if s == nil {
				return nil, fmt.Errorf("%s-%s has no kin", r.Kernel, r.Device)
			}
			cells = append(cells, fmt.Sprintf("%.2f ± %.2f", s.Score, s.Error))
			if k%2 == 1 {
				full := []*result.Scored{&r.Nothing, r.Kin}[k/2]
				trials := fmt.Sprint(full.Trials)
				if full.Trials == 0 {
					trials = "–"
				}
				cells = append(cells, fmt.Sprintf("%s (%.0f %%)", trials, 100*full.Within))
			}
			n := float64(len(f.Rows))
			means[k].Score += s.Score / n
			means[k].Error = math.Hypot(means[k].Error, s.Error/n)
			means[k].Within += s.Within / n
		}
		for _, name := range names {
			cells = append(cells, fmt.Sprintf("%.2f", r.Peers[name]))
			of[name] += r.Peers[name] / float64(len(f.Rows))
		}
		out += tableLine(cells...)
	}
	cells := []string{"**mean**", ""}
	for k, s := range means {
		cells = append(cells, fmt.Sprintf("**%.2f ± %.2f**", s.Score, s.Error))
		if k%2 == 1 {
			cells = append(cells, fmt.Sprintf("(%.0f %%)", 100*means[k-1].Within))
		}
	}
	for _, name := range names {
		cells = append(cells, fmt.Sprintf("%.2f", of[name]))
	}
	return map[string]string{"tuning-replay": out + tableLine(cells...) + fmt.Sprintf("\n%d seeds, commit %s, %s: `%s`.\n", f.Rows[0].Nothing.Seeds, f.Commit, f.Date, f.Command)}, nil
}
