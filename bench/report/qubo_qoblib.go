package main

import (
	"fmt"
	"strings"

	"coalesce/bench/result"
)

// qoblibClasses are the classes of QOBLIB, by the beginnings of their instances' names.
var qoblibClasses = []struct{ title, begins string }{
	{"Low autocorrelation binary sequences", "labs"}, {"Market splits", "ms_"}, {"Portfolios of 10 assets", "a010_"}, {"Portfolios of 50 assets", "a050_"},
}

// qoblibTable has the best of our runs on each instance beside ABS2's and Gurobi's submissions, a table a class. All are minimisations.
func qoblibTable(rows []result.Binary) string {
	var out strings.Builder
	for _, c := range qoblibClasses {
		type line struct {
			best      result.Binary
			hits, all int
		}
		var order []string
		lines := map[string]*line{}
		for _, r := range rows {
			if !strings.HasPrefix(r.Instance, c.begins) || r.NotGiven || r.Failed != "" {
				continue
			}
			l := lines[r.Instance]
			if l == nil {
				l = &line{best: r}
				lines[r.Instance], order = l, append(order, r.Instance)
			}
			l.all++
			if r.Success {
				l.hits++
			}
			if r.Value < l.best.Value || r.Value == l.best.Value && r.Best < l.best.Best {
				l.best = r
			}
		}
		if len(order) == 0 {
			continue
		}
		table := tableHead("instance", "variables", "best known", "ours", "s to it", "runs that reach the best known", "ABS2", "s to it", "Gurobi", "s of its run")
		better, same, reached := 0, 0, 0
		for _, name := range order {
			l := lines[name]
			r := l.best
			switch {
			case r.Value < r.ABS2.Value:
				better++
			case r.Value == r.ABS2.Value:
				same++
			}
			if l.hits > 0 {
				reached++
			}
			gurobi, seconds := fmt.Sprintf("%.0f", r.Gurobi.Value), formatTimeToTarget(r.Gurobi.Seconds)
			if r.Gurobi.Seconds == 0 {
				gurobi = "-"
			}
			table += tableLine(name, fmt.Sprint(r.N), fmt.Sprintf("%.0f", r.Known), fmt.Sprintf("%.0f", r.Value), fmt.Sprintf("%.3g", r.Best), fmt.Sprintf("%d of %d", l.hits, l.all),
				fmt.Sprintf("%.0f", r.ABS2.Value), fmt.Sprintf("%.3g", r.ABS2.Seconds), gurobi, seconds)
		}
		fmt.Fprintf(&out, "**%s**: %d of %d at the best known value; better than ABS2 %d, as good %d, worse %d.\n\n%s\n", c.title, reached, len(order), better, same, len(order)-better-same, table)
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}
