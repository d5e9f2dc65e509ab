package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"coalesce/gen/nvcc"
)

// occupancy prints a table from ptxas's reports on each family's first safe point, for the
// architectures that were compiled here: the registers of the kernel that has the most, the share
// of a multiprocessor's warps that these and static shared memory allow, and the bytes spilled.
func (c *command) occupancy(context.Context, string) error {
	out, err := c.runStages()
	if err != nil {
		return err
	}
	var families []string
	var archs []string
	cells := map[[2]string]string{}
	for k := range out.Families {
		f := &out.Families[k]
		if f.CUDA == nil {
			continue
		}
		at := -1
		for i, p := range f.Points {
			if p.Safe {
				at = i
				break
			}
		}
		if at < 0 {
			continue
		}
		v := f.CUDA.Variants[at]
		report, err := nvcc.ReadReport(filepath.Join(c.root, filepath.FromSlash(cache)), f.CUDA.Packs[v.Pack].Hash)
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(c.stderr, "%s: %v\n", f.Space.Family, err)
			continue
		}
		if err != nil {
			return err
		}
		families = append(families, f.Space.Family)
		largest := map[string]nvcc.Usage{}
		for _, u := range report.KernelsOf(v.Symbol) {
			if old, ok := largest[u.Arch]; !ok || u.Registers > old.Registers {
				largest[u.Arch] = u
			}
		}
		for arch, u := range largest {
			if !slices.Contains(archs, arch) {
				archs = append(archs, arch)
			}
			cell := fmt.Sprintf("%d, %d %%", u.Registers, u.Occupancy)
			if spilled := u.SpillStores + u.SpillLoads; spilled > 0 {
				cell += fmt.Sprintf(", %d B", spilled)
			}
			cells[[2]string{f.Space.Family, arch}] = cell
		}
	}
	slices.SortFunc(archs, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	fmt.Fprintf(c.stdout, "| family | %s |\n|---|%s\n", strings.Join(archs, " | "), strings.Repeat("---|", len(archs)))
	for _, family := range families {
		var row []string
		for _, arch := range archs {
			row = append(row, cmp.Or(cells[[2]string{family, arch}], "-"))
		}
		if _, err := fmt.Fprintf(c.stdout, "| %s | %s |\n", family, strings.Join(row, " | ")); err != nil {
			return err
		}
	}
	return nil
}
