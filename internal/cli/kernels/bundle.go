package kernels

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"coalesce/autotune/subject"
	"coalesce/autotune/tuned"
	"coalesce/autotune/verify"
	"coalesce/internal/cli/run"
	"coalesce/internal/ui"
	"coalesce/runtime/bundle"
	"coalesce/runtime/device"
	"coalesce/runtime/devices"
)

// bundleFlags are the flags of `bundle`.
type bundleFlags struct {
	output, tuned, from, images string
	families, archs             []string
	all                         bool

	problems subject.Problems // of which families are held
}

func bundleCommand(a *run.App, all subject.Problems) *cobra.Command {
	f := bundleFlags{problems: all}
	cmd := &cobra.Command{
		Use:   "bundle",
		Short: "Make one executable for some families, GPUs and tuning data",
		Long: `Make one executable from this one, or from coalesce-cuda beside it, without Go or nvcc.
It holds the images with safe points, winners and runners-up of each family for each
architecture, the PTX of the safe points, and tuning data. It needs nothing but a
driver. Name problems (csg) or single families (csg/tiles).`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return makeBundle(a, f) },
	}
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "`file` to write")
	cmd.Flags().StringSliceVar(&f.families, "families", nil, "`problems` or families to hold (default all)")
	cmd.Flags().StringSliceVar(&f.archs, "arch", nil, "`architectures` to hold, such as sm_90 (default all that are there)")
	cmd.Flags().StringVar(&f.tuned, "tuned", "", "`file` of tuning data to carry and to choose winners by, beside those in the binary")
	cmd.Flags().StringVar(&f.from, "from", "", "`executable` to make it of")
	cmd.Flags().StringVar(&f.images, "images", "", "`folder` of images to take instead of those of the executable, as go run ./gen or another module's go generate leaves it")
	cmd.Flags().BoolVar(&f.all, "all", false, "hold every image, as a binary for tuning does")
	cmd.AddCommand(&cobra.Command{
		Use:   "verify [FILE]",
		Short: "Check the hashes of a bundle, and verify its kernels on a GPU",
		Long: `Check the hashes of a bundle, FILE or this program. If it is this program and there is
a GPU, also run its safe and winning variants on their test cases there.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return verifyBundle(cmd.Context(), a, args, all) },
	})
	return cmd
}

// source is the executable that bundles are made of, and its images.
func (f *bundleFlags) source() (path string, b *bundle.Bundle, err error) {
	path = f.from
	if path == "" {
		if path, err = os.Executable(); err != nil {
			return "", nil, err
		}
		beside := filepath.Join(filepath.Dir(path), "coalesce-cuda")
		if _, none := bundle.Open(); errors.Is(none, bundle.ErrNone) && f.images == "" {
			if _, err := os.Stat(beside); err == nil {
				path = beside
			}
		}
	}
	switch {
	case f.images != "":
		b, err = bundle.OpenFolder(os.DirFS(f.images))
	case f.from != "":
		b, err = bundle.OpenFile(path)
	default:
		if b, err = bundle.Open(); errors.Is(err, bundle.ErrNone) {
			b, err = bundle.OpenFile(path)
		}
	}
	return path, b, err
}

func makeBundle(a *run.App, f bundleFlags) error {
	if f.output == "" {
		return run.Usagef("bundle needs --output FILE")
	}
	path, b, err := f.source()
	if err != nil {
		return err
	}
	index := b.Index
	if f.archs != nil {
		for _, arch := range f.archs {
			if !slices.Contains(index.Architectures, arch) {
				return fmt.Errorf("no images for %s in %s: it holds %s", arch, path, strings.Join(index.Architectures, ", "))
			}
		}
		index.Architectures = f.archs
	}
	text, err := b.TuningData()
	if err != nil {
		return err
	}
	db := &tuned.Database{}
	if text != nil {
		if db, err = tuned.Decode(path, text); err != nil {
			return err
		}
	}
	if f.tuned != "" {
		own, err := tuned.Load(f.tuned)
		if err != nil {
			return err
		}
		db = tuned.Merge(db, own)
	}
	wanted, err := f.wanted(db)
	if err != nil {
		return err
	}
	index.Families = f.families
	index.Images = nil
	for _, i := range b.Images {
		if !i.PTX && !slices.Contains(index.Architectures, i.Arch) {
			continue
		}
		known := func(v string) bool { _, known := wanted[v]; return known }
		anothers := f.images != "" && f.families == nil && !slices.ContainsFunc(i.Variants, known) // of a module with kernels of its own
		if anothers && (f.all || i.Held) || slices.ContainsFunc(i.Variants, func(v string) bool { return known(v) && (f.all || i.Held || wanted[v]) }) {
			index.Images = append(index.Images, i)
		}
	}
	if len(index.Images) == 0 {
		return fmt.Errorf("%s has no image of the families that were asked for: is it of another version?", path)
	}
	var tuning []byte
	if text != nil || f.tuned != "" {
		tuning = db.Encode()
	}
	if err := b.Write(f.output, path, index, tuning); err != nil {
		return err
	}
	made, err := bundle.OpenFile(f.output)
	if err != nil {
		return err
	}
	return printContents(a, made)
}

// wanted has the hashes of the variants of the families that were asked for. The value is true if the
// variant is safe or the tuning data has a result of it.
func (f *bundleFlags) wanted(db *tuned.Database) (map[string]bool, error) {
	shipped, err := tuned.Embedded()
	if err != nil {
		return nil, err
	}
	results := map[tuned.Hash]bool{}
	for _, e := range tuned.Merge(shipped, db).Entries() {
		for _, r := range e.Results {
			results[r.Hash] = true
		}
	}
	asked := map[string]bool{} // by the name of a problem or family: whether there is one
	for _, name := range f.families {
		asked[name] = false
	}
	wanted := map[string]bool{}
	for _, family := range f.problems.Families() {
		problem, _, _ := strings.Cut(family.Name, "/")
		_, one := asked[family.Name]
		_, all := asked[problem]
		if family.Target != device.CUDA || len(asked) > 0 && !one && !all {
			continue
		}
		if one {
			asked[family.Name] = true
		}
		if all {
			asked[problem] = true
		}
		for i := range family.Variants {
			v := &family.Variants[i]
			wanted[tuned.Hash(v.Hash).String()] = v.Safe || results[tuned.Hash(v.Hash)]
		}
	}
	for _, name := range f.families {
		if !asked[name] {
			return nil, run.Usagef("--families %q: no such problem or family of CUDA kernels", name)
		}
	}
	return wanted, nil
}

// printContents prints the contents of a bundle.
func printContents(a *run.App, b *bundle.Bundle) error {
	var t ui.Table
	for _, row := range ContentRows(b) {
		t.Row(row[0], row[1])
	}
	return t.Write(a.Out)
}

// ContentRows are the rows, name and value, that describe a bundle.
func ContentRows(b *bundle.Bundle) [][2]string {
	families := "all"
	if len(b.Families) > 0 {
		families = strings.Join(b.Families, ", ")
	}
	bytes, variants, ptx := int64(0), map[string]bool{}, 0
	for _, i := range b.Images {
		bytes += i.Compressed
		if i.PTX {
			ptx++
		}
		for _, v := range i.Variants {
			variants[v] = true
		}
	}
	rows := [][2]string{
		{"architectures", strings.Join(b.Architectures, ", ")},
		{"driver", b.Driver + " or newer"},
		{"families", families},
		{"images", fmt.Sprintf("%d with %d variants, %s; PTX in %d", len(b.Images), len(variants), device.Size(bytes), ptx)},
	}
	if b.Tuning != nil {
		rows = append(rows, [2]string{"own tuning", fmt.Sprintf("%.12s, %s", b.Tuning.SHA256, device.Size(b.Tuning.Bytes))})
	}
	return rows
}

// verifyBundle hashes a bundle again and, where that is this program, verifies kernels.
func verifyBundle(ctx context.Context, a *run.App, args []string, all subject.Problems) error {
	var b *bundle.Bundle
	var err error
	if len(args) > 0 {
		b, err = bundle.OpenFile(args[0])
	} else {
		b, err = bundle.Open()
	}
	if err != nil {
		return err
	}
	if err := b.Verify(); err != nil {
		return run.AsCheck(err)
	}
	fmt.Fprintf(a.Out, "%d images have the hashes of the index\n", len(b.Images))
	gpus := a.Devices.Kind(device.CUDA)
	if len(args) > 0 || gpus == nil {
		fmt.Fprintln(a.Out, "no kernel was run: only a bundle that runs on a GPU verifies its own")
		return nil
	}
	d, err := gpus.Open(0, devices.Options{Say: a.PrintNotice})
	if err != nil {
		fmt.Fprintf(a.Out, "no kernel was run: %v\n", err)
		return nil
	}
	defer d.Close()
	n, err := verifyKernels(ctx, all, d)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "%d variants answer their cases right on %s\n", n, d.Facts())
	return nil
}

// verifyKernels runs the test cases of those variants that a device loads and that are safe or have a
// result in the tuning data.
func verifyKernels(ctx context.Context, all subject.Problems, d device.Device) (n int, err error) {
	wanted, err := (&bundleFlags{problems: all}).wanted(&tuned.Database{})
	if err != nil {
		return 0, err
	}
	s, err := d.NewStream()
	if err != nil {
		return 0, err
	}
	defer s.Close()
	for _, sub := range all.Subjects() {
		f := sub.Family()
		if f.Target != device.CUDA {
			continue
		}
		for i := range f.Variants {
			v := &f.Variants[i]
			if !wanted[tuned.Hash(v.Hash).String()] || d.Facts().CheckLoadable(f, v) != nil {
				continue
			}
			_, err := verify.Variant(ctx, d, s, sub, v, 0)
			switch {
			case errors.Is(err, verify.ErrNoCase):
			case err != nil:
				return n, run.AsCheck(fmt.Errorf("%s %s: %w", f.Name, v.Label, err))
			default:
				n++
			}
		}
	}
	return n, nil
}

// BundleHelp adds the contents of a bundle to the help of a program.
func BundleHelp(a *run.App, root *cobra.Command) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if b, err := bundle.Open(); cmd == root && err == nil && b.Program != nil {
			root.Long += "\n\nThis executable carries kernels for GPUs:"
			for _, row := range ContentRows(b) {
				root.Long += fmt.Sprintf("\n  %-14s %s", row[0], row[1])
			}
		}
		help(cmd, args)
	})
}
