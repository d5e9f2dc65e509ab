package t4

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"coalesce/autotune/trial"
	"coalesce/runtime/device"
)

// Size is the parameter that has a trial's size. Within one file it is as much a constant as the filter's size in files of the hub.
const Size = "size"

// best is how many configurations of a size a search begins with.
const best = 3

// FromTrials turns recorded trials into results, a file for each family, class of devices and workload, in the order of their first trials. A
// variant has one result for each size: its failure, or the last time of its final rounds, or else of a glance. All that its trials took
// stands as time of the framework, because trials keep no single runs.
func FromTrials(trials []trial.Trial) []*Results {
	type variant struct {
		space, label string
		size         int
	}
	var files []*Results
	byFile, kept, cost := map[string]*Results{}, map[variant]*trial.Trial{}, map[variant]float64{}
	var order []variant
	for i := range trials {
		t := &trials[i]
		if t.Action == trial.ActionDone || t.Status == trial.Skipped || t.Status == trial.OK && t.Best() == nil {
			continue
		}
		fixed, err := json.Marshal(t.Fixed) // keys in order
		if err != nil {
			panic(err) // a map of texts always has a JSON form
		}
		of := variant{fmt.Sprint(t.Family, " ", t.Class, " ", string(fixed)), t.Variant, t.Size}
		if byFile[of.space] == nil {
			f := &Results{Version: Version, Metadata: map[string]string{
				"timeunit": "milliseconds", "kernel": t.Family, "device": t.Class, "workload": string(fixed)}}
			byFile[of.space], files = f, append(files, f)
		}
		cost[of] += float64(t.Wall) / 1e6
		if kept[of] == nil {
			order = append(order, of)
		}
		if old := kept[of]; old == nil || old.Status == trial.OK && (t.Status != trial.OK || t.Best().N >= old.Best().N) {
			kept[of] = t
		}
	}
	for _, of := range order {
		f := byFile[of.space]
		f.Results = append(f.Results, resultOf(kept[of], cost[of]))
	}
	return files
}

// resultOf is the result of a trial, whose variant took so many milliseconds in all.
func resultOf(t *trial.Trial, cost float64) Result {
	r := Result{
		Timestamp: t.Time.UTC().Format("2006-01-02 15:04:05.000000+00:00"), Configuration: map[string]any{Size: json.Number(strconv.Itoa(t.Size))},
		Times: Times{Framework: cost, Runs: []float64{}}, Invalidity: Correct, Correctness: 1, Objectives: []string{"time"}, Measurements: []Measurement{},
	}
	for part := range strings.SplitSeq(t.Variant, ",") {
		name, text, _ := strings.Cut(part, "=")
		r.Configuration[name] = text
		if n, err := strconv.Atoi(text); err == nil && strconv.Itoa(n) == text {
			r.Configuration[name] = json.Number(text)
		}
	}
	switch t.Status {
	case trial.Constraint:
		r.Invalidity = Constraints
	case trial.Compile:
		r.Invalidity = Compile
	case trial.Timeout:
		r.Invalidity = Timeout
	case trial.Verify:
		r.Invalidity, r.Correctness = Incorrect, 0
	case trial.OK:
		s := t.Best()
		ms := func(ns int64) json.Number { return json.Number(strconv.FormatFloat(float64(ns)/1e6, 'f', -1, 64)) }
		r.Measurements = []Measurement{{"time", ms(s.Median), "ms"}, {"time_min", ms(s.Min), "ms"}, {"time_mad", ms(s.MAD), "ms"}}
	default: // launch, memory
		r.Invalidity = Runtime
	}
	return r
}

// Fastest are the labels of the variants of a family that are the fastest in the results, three for each combination of the parameters
// that the family lacks, such as sizes: the best first. It is nil where the space does not fit: where results lack a parameter of the family.
func (f *Results) Fastest(family *device.Family) (labels []string) {
	type timed struct {
		label string
		ms    float64
	}
	groups := map[string][]timed{}
	for i := range f.Results {
		r := &f.Results[i]
		at := slices.IndexFunc(family.Variants, func(v device.Variant) bool {
			for k, param := range family.Params {
				if text, ok := r.Text(param); !ok || text != v.Values[k] {
					return false
				}
			}
			return true
		})
		if ms := r.Time(); at >= 0 && ms > 0 {
			rest := maps.Clone(r.Configuration)
			maps.DeleteFunc(rest, func(name string, _ any) bool { return slices.Contains(family.Params, name) })
			groups[fmt.Sprint(rest)] = append(groups[fmt.Sprint(rest)], timed{family.Variants[at].Label, ms}) // keys in order
		}
	}
	for _, of := range slices.Sorted(maps.Keys(groups)) {
		list := groups[of]
		slices.SortStableFunc(list, func(a, b timed) int { return cmp.Compare(a.ms, b.ms) })
		for _, t := range list[:min(best, len(list))] {
			labels = append(labels, t.label)
		}
	}
	return labels
}
