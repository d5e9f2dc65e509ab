package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"coalesce/gen/nvcc"
	"coalesce/templates"
)

// images, other and cache are folders that git ignores: images that this module's CUDA binary embeds, another
// module's images, and the cache of compiled images.
const (
	images = "runtime/bundle/images"
	other  = ".build/images"
	cache  = ".build/cache"
)

// winners is the file of the winners that the binary carries.
const winners = "autotune/tuned/tuned.json"

// compilePacks compiles the packs of all CUDA families where there is nvcc.
func (c *command) compilePacks(ctx context.Context, out *Output) error {
	job := nvcc.Job{
		Include: []string{filepath.Join(c.root, "templates")},
		Archs:   c.archs,
		Some:    c.points != "all",
		Images:  c.images,
		Cache:   filepath.Join(c.root, filepath.FromSlash(cache)),
		Keep:    len(c.only) > 0,
	}
	made := images
	if out.foreign {
		made = other
		shared, err := os.MkdirTemp("", "coalesce-headers-*")
		if err != nil {
			return err
		}
		defer os.RemoveAll(shared)
		if err := os.CopyFS(shared, templates.Files); err != nil {
			return err
		}
		job.Include = append(job.Include, shared)
	}
	job.Images = cmp.Or(job.Images, filepath.Join(c.root, filepath.FromSlash(made)))
	won, err := c.winners()
	if err != nil {
		return err
	}
	for _, f := range out.Families {
		packs, err := c.packs(f, won[f.Space.Family])
		if err != nil {
			return err
		}
		job.Packs = append(job.Packs, packs...)
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
	if c.ptxas != "" {
		if job.PTXAS, err = nvcc.FindAssembler(c.ptxas); err != nil {
			return err
		}
	}
	_, err = tk.Build(ctx, job, c.stderr)
	return err
}

// winners are the labels of the variants that won when they were tuned, by family;
// none where nothing was tuned.
func (c *command) winners() (map[string]map[string]bool, error) {
	text, err := os.ReadFile(filepath.Join(c.root, filepath.FromSlash(winners)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the winners: %w", err)
	}
	var file struct {
		Entries []struct{ Family, Winner string }
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", winners, err)
	}
	won := map[string]map[string]bool{}
	for _, e := range file.Entries {
		if won[e.Family] == nil {
			won[e.Family] = map[string]bool{}
		}
		won[e.Family][e.Winner] = true
	}
	return won, nil
}

// packs are a family's translation units as nvcc sees them; won are the labels of its
// winners.
func (c *command) packs(f Family, won map[string]bool) ([]nvcc.Pack, error) {
	if f.CUDA == nil {
		return nil, nil
	}
	at := func(name string) string {
		return filepath.Join(c.root, filepath.FromSlash(path.Join(folder, f.Space.Problem(), name)))
	}
	out := make([]nvcc.Pack, len(f.CUDA.Packs))
	for i, p := range f.CUDA.Packs {
		out[i] = nvcc.Pack{Family: f.Space.Family, File: at(p.File), Hash: p.Hash}
	}
	for _, v := range f.CUDA.Variants {
		least, err := f.Space.LeastArch(v.Point)
		if err != nil {
			return nil, err
		}
		held, err := f.Space.AlwaysBundled(v.Point)
		if err != nil {
			return nil, err
		}
		held = v.Point.Safe || c.points != "safe" && (held || won[v.Point.Label()])
		p := &out[v.Pack]
		threads := map[string]int{}
		for _, e := range v.Entries {
			threads[v.Symbol+"_"+e.Name] = e.Threads
		}
		p.Variants = append(p.Variants, nvcc.Variant{Label: v.Point.Label(), Symbol: v.Symbol, File: at(v.File),
			Hash: v.Hash, Threads: threads, Safe: v.Point.Safe, Held: held, Least: least})
	}
	return out, nil
}
