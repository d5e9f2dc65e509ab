package main

import (
	"fmt"
	"slices"
	"strings"

	"coalesce/bench/result"
)

// familyOf is the family of an instance: of those of a file of several the file's.
func familyOf(instance string) string {
	if begin, _, found := strings.Cut(instance, "-"); found && (strings.HasPrefix(begin, "bqp") || begin == "gka") {
		return begin
	}
	return result.InstanceClass(instance)
}

// familiesTable counts, for each family, the instances on which our value is better than that of MQLib's best heuristic in the same time, as
// good, or worse, and names these.
func familiesTable(rows []result.Binary) string {
	type family struct {
		better, same, worse int
		sooner              int // of the same
		wins                map[string]int
		named               []string
	}
	var order []string
	families := map[string]*family{}
	for from := 0; from < len(rows); {
		to := from + 1
		for to < len(rows) && rows[to].Instance == rows[from].Instance {
			to++
		}
		ours, theirs := rows[from], result.Binary{}
		for _, r := range rows[from+1 : to] {
			if r.Failed == "" && (theirs.Name == "" || r.Value > theirs.Value || r.Value == theirs.Value && r.Best < theirs.Best) {
				theirs = r
			}
		}
		from = to
		if theirs.Name == "" || ours.NotGiven {
			continue
		}
		name := familyOf(ours.Instance)
		f := families[name]
		if f == nil {
			f = &family{wins: map[string]int{}}
			families[name], order = f, append(order, name)
		}
		f.wins[strings.TrimPrefix(theirs.Name, "MQLib ")]++
		switch {
		case ours.Failed == "" && ours.Value > theirs.Value:
			f.better++
		case ours.Failed == "" && ours.Value == theirs.Value:
			f.same++
			if ours.Best <= theirs.Best {
				f.sooner++
			}
		default:
			f.worse++
			f.named = append(f.named, fmt.Sprintf("%s (%.0f, %s %.0f)", ours.Instance, ours.Value, strings.TrimPrefix(theirs.Name, "MQLib "), theirs.Value))
		}
	}
	out := tableHead("family", "instances", "better", "as good", "of these no later", "worse", "MQLib's best, instances", "where worse: ours, theirs")
	for _, name := range order {
		f := families[name]
		var best []string
		for heuristic, count := range f.wins {
			best = append(best, fmt.Sprintf("%s %d", heuristic, count))
		}
		slices.Sort(best)
		out += tableLine(name, fmt.Sprint(f.better+f.same+f.worse), fmt.Sprint(f.better), fmt.Sprint(f.same), fmt.Sprint(f.sooner), fmt.Sprint(f.worse), strings.Join(best, ", "), strings.Join(f.named, ", "))
	}
	return out
}
