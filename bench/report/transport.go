package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// transports are the results of bench/assignment/transport.py: exact optimal transport on a processor, or of tensors in a GPU's memory.
type transports struct {
	Device, Host, Command, Commit, POT, Torch string
	Rows                                      []transportRow
}

type transportRow struct {
	Kind                 string
	Batch, Rows, Columns int
	CPU                  map[string]float64 `json:"cpu_ms"`   // by contender
	Clock                map[string]float64 `json:"clock_ms"` // by contender
	Difference           float64
}

// transportTables has the tables of optimal transport, by size.
func transportTables(root string) (map[string]string, error) {
	regions := map[string]string{}
	for name, of := range map[string]struct {
		file, other, heading string
		times                func(transportRow) map[string]float64
	}{
		"assignment-transport":         {"transport.json", "pot", "POT", func(r transportRow) map[string]float64 { return r.CPU }},
		"assignment-transport-tensors": {"transport-tensors.json", "host", "arrays on the host", func(r transportRow) map[string]float64 { return r.Clock }},
	} {
		text, err := os.ReadFile(filepath.Join(root, "bench", "results", of.file))
		if err != nil {
			return nil, err
		}
		var all transports
		if err := json.Unmarshal(text, &all); err != nil {
			return nil, fmt.Errorf("%s: %w", of.file, err)
		}
		var out strings.Builder
		if all.Host != "" {
			fmt.Fprintf(&out, "Milliseconds of the clock, medians, %s and its host, %s, torch %s", all.Device, all.Host, all.Torch)
		} else {
			fmt.Fprintf(&out, "Milliseconds of processor time, medians, %s, POT %s", all.Device, all.POT)
		}
		fmt.Fprintf(&out, " (`%s`, commit %s).\n\n| matrices | costs | coalesce | %s | ratio | largest relative difference of costs |\n|---|---|---:|---:|---:|---:|\n", all.Command, all.Commit, of.heading)
		for _, r := range all.Rows {
			times := of.times(r)
			fmt.Fprintf(&out, "| %d x %d x %d | %s | %.2f | %.2f | %.2f | %.1e |\n", r.Batch, r.Rows, r.Columns, r.Kind, times["ours"], times[of.other], times[of.other]/times["ours"], r.Difference)
		}
		regions[name] = out.String()
	}
	return regions, nil
}
