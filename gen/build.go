package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"

	"coalesce/gen/nvcc"
)

// images and cache are folders that git ignores.
const (
	images = "runtime/bundle/images"
	cache  = ".build/cache"
)

// build compiles the packs of all CUDA families where there is nvcc.
func (c *command) build(ctx context.Context, out *Output) error {
	job := nvcc.Job{
		Include: []string{filepath.Join(c.root, "templates")},
		Archs:   c.archs,
		Images:  filepath.Join(c.root, filepath.FromSlash(images)),
		Cache:   filepath.Join(c.root, filepath.FromSlash(cache)),
		Keep:    len(c.only) > 0,
	}
	for _, f := range out.Families {
		job.Packs = append(job.Packs, c.packs(f)...)
	}
	if len(job.Packs) == 0 {
		return nil
	}
	tk, err := nvcc.Find(nvcc.Search{Root: c.root, Home: c.cuda, Allow: c.allow})
	if errors.Is(err, nvcc.ErrNotFound) && c.cuda == "" {
		fmt.Fprintf(c.stderr, "not compiled for GPUs: %v\n", err)
		return nil
	}
	if err != nil {
		return err
	}
	if tk.Note != "" {
		fmt.Fprintln(c.stderr, tk.Note)
	}
	_, err = tk.Build(ctx, job, c.stderr)
	return err
}

// packs are a family's translation units as nvcc sees them.
func (c *command) packs(f Family) []nvcc.Pack {
	if f.CUDA == nil {
		return nil
	}
	at := func(name string) string {
		return filepath.Join(c.root, filepath.FromSlash(path.Join(folder, f.Space.Problem(), name)))
	}
	out := make([]nvcc.Pack, len(f.CUDA.Packs))
	for i, p := range f.CUDA.Packs {
		out[i] = nvcc.Pack{Family: f.Space.Family, File: at(p.File), Hash: p.Hash}
	}
	for _, v := range f.CUDA.Variants {
		p := &out[v.Pack]
		p.Variants = append(p.Variants, nvcc.Variant{Label: v.Point.Label(), Symbol: v.Symbol, File: at(v.File)})
		// A driver newer than the images compiles the safe variants' PTX.
		p.PTX = p.PTX || v.Point.Safe
	}
	return out
}
