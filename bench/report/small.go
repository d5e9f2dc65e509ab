package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"coalesce/bench/result"
)

// smallTables is the region of small matrices on a processor: the worst ratio of each kind, the worst first, and all rows below 1.
func smallTables(root string) (map[string]string, error) {
	f, err := result.Load[result.Small](filepath.Join(root, "bench", "results", "assignment-small.json"))
	if err != nil {
		return nil, fmt.Errorf("load results: %w", err)
	}
	type group struct {
		name string
		rows []result.Small
	}
	var groups []*group
	for _, r := range f.Rows {
		name := fmt.Sprintf("%s, %s", r.Kind, r.Type)
		switch {
		case r.Batch > 0:
			name = "batches, " + r.Type
		case r.Cols >= 2*r.Rows:
			name = "wide, " + r.Type
		case r.Rows >= 2*r.Cols:
			name = "tall, " + r.Type
		}
		at := slices.IndexFunc(groups, func(g *group) bool { return g.name == name })
		if at < 0 {
			at = len(groups)
			groups = append(groups, &group{name: name})
		}
		groups[at].rows = append(groups[at].rows, r)
	}
	for _, g := range groups {
		slices.SortStableFunc(g.rows, func(a, b result.Small) int { return cmp.Compare(a.Ratio(), b.Ratio()) })
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return cmp.Compare(a.rows[0].Ratio(), b.rows[0].Ratio()) })
	size := func(r result.Small) string {
		if r.Batch > 0 {
			return fmt.Sprintf("%d × %d × %d", r.Batch, r.Rows, r.Cols)
		}
		return fmt.Sprintf("%d × %d", r.Rows, r.Cols)
	}
	out := tableHead("costs", "worst at", "ours", "fastest peer", "ratio", "median ratio", "best ratio", "sizes below 1", "certificate's share")
	for _, g := range groups {
		worst, below, shares := g.rows[0], 0, []float64{}
		for _, r := range g.rows {
			if r.Ratio() < 1 {
				below++
			}
			if r.Certificate != nil {
				shares = append(shares, *r.Certificate)
			}
		}
		out += tableLine(g.name, size(worst), micros(worst.Took), fmt.Sprintf("%s, %s", worst.Peer, micros(worst.PeerTook)), fmt.Sprintf("%.2f", worst.Ratio()),
			fmt.Sprintf("%.1f", g.rows[len(g.rows)/2].Ratio()), fmt.Sprintf("%.1f", g.rows[len(g.rows)-1].Ratio()), fmt.Sprintf("%d of %d", below, len(g.rows)), shareOf(shares))
	}
	return map[string]string{"processor": out + fmt.Sprintf("\n%s, commit %s, %s: `%s`.\n", f.Device, f.Commit, f.Date, f.Command)}, nil
}

// shareOf is the median of some shares and the most, nothing of none.
func shareOf(list []float64) string {
	if len(list) == 0 {
		return ""
	}
	slices.Sort(list)
	return fmt.Sprintf("%.2f, at most %.2f", list[len(list)/2], list[len(list)-1])
}

// micros is a time in microseconds, or in milliseconds from 1 on.
func micros(seconds float64) string {
	if seconds >= 1e-3 {
		return fmt.Sprintf("%.3g ms", seconds*1e3)
	}
	return fmt.Sprintf("%.3g µs", seconds*1e6)
}
