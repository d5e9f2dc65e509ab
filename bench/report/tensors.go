package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// tensors are the results of bench/assignment/tensors.py: small matrices in a GPU's memory, through Python.
type tensors struct {
	Device, Torch string
	Peer          string `json:"torch-linear-assignment"`
	Rows          []tensorRow
}

type tensorRow struct {
	Batch, Rows, Cols, Rounds int
	Kind                      string
	Seconds                   map[string]float64 // by contender
	Enqueued, Ratio           float64
}

// tensorTables has the table of small matrices on a GPU, the worst ratio first as the file has it.
func tensorTables(root string) (map[string]string, error) {
	text, err := os.ReadFile(filepath.Join(root, "bench", "results", "tensors.json"))
	if err != nil {
		return nil, err
	}
	var all tensors
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("tensors.json: %w", err)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "Medians in milliseconds, %s, torch %s, torch-linear-assignment %s (`python bench/assignment/tensors.py`).\n\n", all.Device, all.Torch, all.Peer)
	out.WriteString("| matrices | costs | coalesce | with `ties=\"scipy\"` | `batch_linear_assignment` | in a CUDA graph | torch-linear-assignment | ratio |\n|---|---|---:|---:|---:|---:|---:|---:|\n")
	for _, r := range all.Rows {
		fmt.Fprintf(&out, "| %d x %d x %d | %s | %.3f | %.3f | %.3f | %.3f | %.3f | %.2f |\n", r.Batch, r.Rows, r.Cols, r.Kind,
			1e3*r.Seconds["coalesce"], 1e3*r.Seconds[`coalesce, ties="scipy"`], 1e3*r.Seconds["batch_linear_assignment"], 1e3*r.Enqueued, 1e3*r.Seconds["torch-linear-assignment"], r.Ratio)
	}
	return map[string]string{"assignment-tensors": out.String()}, nil
}
