package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/rogpeppe/go-internal/diff"

	"coalesce/gen/nvcc"
	"coalesce/gen/space"
)

// list prints a line a variant: family, label, and "safe" or "study" where it is.
func (c *command) list(context.Context, string) error {
	for _, s := range c.spaces {
		if len(c.only) > 0 && !slices.Contains(c.only, s.Family) {
			continue
		}
		points, err := enumerate(s, c.options())
		if err != nil {
			return err
		}
		for _, p := range points {
			mark := ""
			switch {
			case p.Safe:
				mark = "\tsafe"
			case p.Study:
				mark = "\tstudy"
			}
			if _, err := fmt.Fprintf(c.stdout, "%s\t%s%s\n", s.Family, p.Label(), mark); err != nil {
				return err
			}
		}
		fmt.Fprintf(c.stderr, "%s: %d variants, target %s\n", s.Family, len(points), s.Target)
	}
	return nil
}

// diff prints the changes that generate would make.
func (c *command) diff(context.Context, string) error {
	out, err := c.runStages()
	if err != nil {
		return err
	}
	changes, err := changesOf(c.root, out.Files, c.only)
	if err != nil {
		return err
	}
	for _, x := range changes {
		var err error
		switch {
		case x.New == nil:
			_, err = fmt.Fprintf(c.stdout, "delete %s\n", x.Path)
		case x.Old == nil:
			_, err = fmt.Fprintf(c.stdout, "create %s\n", x.Path)
		default:
			_, err = c.stdout.Write(diff.Diff("a/"+x.Path, x.Old, "b/"+x.Path, x.New))
		}
		if err != nil {
			return err
		}
	}
	if len(changes) > 0 {
		return errDiffer
	}
	fmt.Fprintf(c.stderr, "%s: %d files, nothing would change\n", folder, len(out.Files))
	return nil
}

// explain prints all that is known of a variant.
func (c *command) explain(_ context.Context, name string) error {
	out, err := c.runStages()
	if err != nil {
		return err
	}
	f, i, err := find(out, name)
	if err != nil {
		return err
	}
	p := f.Points[i]
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "family\t%s (%s)\n", f.Space.Family, f.Space.Pos)
	fmt.Fprintf(w, "label\t%s\n", p.Label())
	fmt.Fprintf(w, "symbol\t%s\n", p.Symbol())
	fmt.Fprintf(w, "hash\t%016x\n", f.Hashes[i])
	if p.Safe {
		fmt.Fprintf(w, "safe\tused where nothing is known\n")
	}
	at := path.Join(folder, f.Space.Problem())
	least, err := f.Space.LeastArch(p)
	if err != nil {
		return err
	}
	if least > 0 {
		fmt.Fprintf(w, "needs\tsm_%d\n", least)
	}
	if f.CUDA == nil {
		fmt.Fprintf(w, "file\t%s\n", path.Join(at, kernelFile(p)))
	} else {
		fmt.Fprintf(w, "file\t%s\n", path.Join(at, f.CUDA.Variants[i].File))
		files, err := f.Space.Files(p)
		if err != nil {
			return err
		}
		for _, file := range files {
			fmt.Fprintf(w, "body\ttemplates/%s\n", file)
		}
		pack := f.CUDA.Packs[f.CUDA.Variants[i].Pack]
		fmt.Fprintf(w, "pack\t%s %016x\n", path.Join(at, pack.File), pack.Hash)
		for _, e := range f.CUDA.Variants[i].Entries {
			var params []string
			for _, q := range e.Params {
				params = append(params, q.Name+" "+q.Type)
			}
			fmt.Fprintf(w, "entry\t%s(%s)\n", e.Name, strings.Join(params, ", "))
		}
	}
	for _, where := range f.Space.Where {
		fmt.Fprintf(w, "where\t%s (%s)\n", where.Expr, where.Pos)
	}
	w.Flush()
	fmt.Fprintf(w, "\nparameter\tvalue\tvalues\n")
	for j, q := range f.Space.Params {
		fmt.Fprintf(w, "%s\t%s\t%s\n", q.Name, p.Values[j], strings.Join(q.AllValues(), " "))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if f.CUDA == nil {
		return nil
	}
	v := f.CUDA.Variants[i]
	pack := f.CUDA.Packs[v.Pack]
	report, err := nvcc.ReadReport(filepath.Join(c.root, filepath.FromSlash(cache)), pack.Hash)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(c.stderr, "no registers, shared memory, occupancy or spills to show: %v\n", err)
		return nil
	}
	if err != nil {
		return err
	}
	return usage(c.stdout, report.KernelsOf(v.Symbol), v.Symbol)
}

// usage prints ptxas's report, a line for each kernel and architecture.
func usage(out io.Writer, kernels []nvcc.Usage, symbol string) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\nkernel\tarch\tregisters\tshared B\tspill stores B\tspill loads B\tthreads\tblocks/SM\toccupancy\tlimited by\t\n")
	for _, u := range kernels {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t", strings.TrimPrefix(u.Name, symbol+"_"), u.Arch, u.Registers, u.Shared, u.SpillStores, u.SpillLoads)
		if u.Blocks == 0 {
			fmt.Fprintf(w, "-\t-\t-\t-\t\n")
			continue
		}
		fmt.Fprintf(w, "%d\t%d\t%d %%\t%s\t\n", u.Threads, u.Blocks, u.Occupancy, u.Limited)
	}
	return w.Flush()
}

// find looks a variant up by label, symbol, or as many parameters as name one
// alone, with the family in front and a colon where two families have it.
func find(out *Output, name string) (*Family, int, error) {
	family, wanted, ok := strings.Cut(name, ":")
	if !ok {
		family, wanted = "", name
	}
	var found *Family
	var at, count int
	var labels []string
	for k := range out.Families {
		f := &out.Families[k]
		if family != "" && f.Space.Family != family {
			continue
		}
		for i, p := range f.Points {
			labels = append(labels, p.Label())
			if p.Label() == wanted || p.Symbol() == wanted {
				return f, i, nil
			}
			if matches(p, wanted) {
				found, at, count = f, i, count+1
			}
		}
	}
	switch {
	case count == 1:
		return found, at, nil
	case count > 1:
		return nil, 0, fmt.Errorf("%w: %d variants have %s, expected a label that names one (gen list shows them)", errUsage, count, wanted)
	}
	return nil, 0, fmt.Errorf("%w: no variant %q (gen list shows them)%s", errUsage, name, didYouMean(wanted, labels))
}

// matches reports whether p has every name=value of a list, "safe" standing
// for the safe points.
func matches(p space.Point, wanted string) bool {
	for pair := range strings.SplitSeq(wanted, ",") {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			if pair != "safe" || !p.Safe {
				return false
			}
			continue
		}
		if have, known := p.Get(name); !known || have != value {
			return false
		}
	}
	return true
}
