package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// pointsIndex is the file that package runtime/ondemand reads, with the schema's version.
const (
	pointsIndex  = "points.json"
	pointsSchema = "points/1"
)

// A rendered point is a line of the index.
type rendered struct {
	Label  string   `json:"label"`
	Symbol string   `json:"symbol"`
	Hash   string   `json:"hash"`
	Values []string `json:"values"`
	Study  bool     `json:"study,omitempty"`
	File   string   `json:"file"` // below the folder
}

// writeTexts writes the texts of one family's points into a folder, with an index, for a binary
// to compile on demand. Nothing below generated/ changes.
func (c *command) writeTexts(ctx context.Context, dir string) error {
	if len(c.only) != 1 {
		return fmt.Errorf("%w: points takes one family, named by --only", errUsage)
	}
	out, err := c.runStages()
	if err != nil {
		return err
	}
	f := &out.Families[0]
	if f.CUDA == nil {
		return fmt.Errorf("%s: its kernels are Go, which is compiled with the binary", f.Space.Family)
	}
	var list []rendered
	for _, v := range f.CUDA.Variants {
		if err := ctx.Err(); err != nil {
			return err
		}
		list = append(list, rendered{v.Point.Label(), v.Symbol, fmt.Sprintf("%016x", v.Hash), v.Point.Values, v.Point.Study, v.File})
		file := filepath.Join(dir, filepath.FromSlash(v.File))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(v.Text), 0o666); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(map[string]any{
		"schema": pointsSchema, "family": f.Space.Family, "hash": fmt.Sprintf("%016x", f.Hash), "params": f.Points[0].Params, "points": list,
	}, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, pointsIndex), append(text, '\n'), 0o666); err != nil {
		return err
	}
	fmt.Fprintf(c.stderr, "%s: %d points in %s\n", f.Space.Family, len(list), dir)
	return nil
}
