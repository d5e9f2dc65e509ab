package nvcc

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// Build compiles the images of a job that the cache does not hold, puts every
// image, compressed, in job.Images with an index beside them, and every report in
// the cache, deletes stale images and talks about its progress on w. When images
// fail the others are still built, and the error is a *BuildError naming the variants.
func (tk *Toolkit) Build(ctx context.Context, job Job, w io.Writer) (*Result, error) {
	start := time.Now()
	job.defaults()
	for _, d := range []string{job.Images, tk.objectFolder(job), filepath.Join(job.Cache, "reports")} {
		if err := os.MkdirAll(d, 0o777); err != nil {
			return nil, fmt.Errorf("make a folder for images: %w", err)
		}
	}
	work, err := os.MkdirTemp(job.Cache, "work-")
	if err != nil {
		return nil, fmt.Errorf("make a working folder: %w", err)
	}
	defer os.RemoveAll(work)
	if err := os.WriteFile(filepath.Join(work, "turing.cuh"), turing, 0o666); err != nil {
		return nil, fmt.Errorf("write what older architectures lack: %w", err)
	}

	units := job.units()
	b := &build{tk: tk, job: job, work: work, reports: map[uint64]*Report{}}
	b.meter = newMeter(w, len(units))
	defer b.meter.stop()
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(job.Parallel)
	for i := range units {
		g.Go(func() error { return b.unit(gctx, &units[i]) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	b.meter.stop()
	if err := b.writeReports(); err != nil {
		return nil, err
	}
	index, err := b.writeIndex()
	if err != nil {
		return nil, err
	}
	if err := b.deleteStale(index); err != nil {
		return nil, err
	}
	b.res.Elapsed = time.Since(start)
	if len(b.failures) > 0 {
		sort.Slice(b.failures, func(i, j int) bool {
			return b.failures[i].Pack.File+b.failures[i].Label < b.failures[j].Pack.File+b.failures[j].Label
		})
		return &b.res, &BuildError{b.failures}
	}
	fmt.Fprintf(w, "nvcc %s: %d images compiled, %d from the cache, %d stale deleted, %.1f MB for %s in %.1f s\n",
		tk.Full, b.res.Compiled, b.res.Cached, b.res.Stale, float64(b.res.Bytes)/1e6,
		strings.Join(job.Archs, ","), b.res.Elapsed.Seconds())
	return &b.res, nil
}

func (job *Job) defaults() {
	if len(job.Archs) == 0 {
		job.Archs = []string{"sm_90"}
	}
	if job.Parallel <= 0 {
		job.Parallel = runtime.NumCPU()
	}
	if job.Timeout <= 0 {
		job.Timeout = time.Hour // a busy machine takes ten minutes for the largest packs
	}
}

// objectFolder is where the cache keeps images and reports by their content key.
func (tk *Toolkit) objectFolder(job Job) string { return filepath.Join(job.Cache, "nvcc") }

type build struct {
	tk    *Toolkit
	job   Job
	work  string
	meter *meter

	mu       sync.Mutex
	res      Result
	failures []Failure
	names    int
	images   []Image
	reports  map[uint64]*Report // by the pack's hash
}

// unit makes one image, or takes it from the cache. It returns an error only where the whole build
// has to end; an image that does not compile is noted.
func (b *build) unit(ctx context.Context, u *unit) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p := u.pack
	key, err := b.key(u)
	if err != nil {
		return fmt.Errorf("%s: %w", p.File, err)
	}
	object := filepath.Join(b.tk.objectFolder(b.job), key+".fatbin")
	report := filepath.Join(b.tk.objectFolder(b.job), key+".json")
	cached := isFile(object) && isFile(report)
	if !cached {
		if err := b.compile(ctx, u, object, report); err != nil {
			var fail *compileError
			if !errors.As(err, &fail) {
				return err
			}
			found, err := b.culprits(ctx, u, u.variants, fail)
			if err != nil {
				return err
			}
			b.mu.Lock()
			b.failures = append(b.failures, found...)
			b.mu.Unlock()
			b.meter.count(false, true)
			return nil
		}
	}
	if cached {
		// Used today: pruneCache goes by it. Failing to note that harms no one.
		now := time.Now()
		_, _ = os.Chtimes(object, now, now), os.Chtimes(report, now, now)
	}
	image, err := b.installImage(ctx, u, key, object)
	if err != nil {
		return fmt.Errorf("%s: place its image: %w", p.File, err)
	}
	rep, err := readReport(report)
	if err != nil {
		return fmt.Errorf("%s: %w", p.File, err)
	}
	b.mu.Lock()
	b.images = append(b.images, image)
	b.res.Bytes += image.Compressed
	if cached {
		b.res.Cached++
	} else {
		b.res.Compiled++
	}
	if all := b.reports[p.Hash]; all != nil {
		all.Kernels, all.Seconds = append(all.Kernels, rep.Kernels...), all.Seconds+rep.Seconds
	} else {
		b.reports[p.Hash] = rep
	}
	b.mu.Unlock()
	b.meter.count(cached, false)
	return nil
}

// compile runs nvcc over a unit and puts image and report in the cache. A
// *compileError says that nvcc ran and refused.
func (b *build) compile(ctx context.Context, u *unit, object, report string) error {
	p := u.pack
	file, err := b.text(u, u.variants)
	if err != nil {
		return err
	}
	tmp := b.tempPath(".fatbin")
	start := time.Now()
	out, err := b.translate(ctx, u, file, tmp)
	if err != nil {
		return err
	}
	rep := parseReport(out)
	rep.Pack = fmt.Sprintf("%016x", p.Hash)
	rep.File = filepath.Base(p.File)
	rep.Version = b.tk.Full
	rep.Seconds = time.Since(start).Seconds()
	rep.setThreads(u.variants)
	text, err := json.MarshalIndent(rep, "", "\t")
	if err != nil {
		return err
	}
	if err := os.Rename(tmp, object); err != nil {
		return fmt.Errorf("keep the image of %s: %w", p.File, err)
	}
	if err := replaceFile(report, append(text, '\n')); err != nil {
		return fmt.Errorf("keep the report of %s: %w", p.File, err)
	}
	return nil
}

// maxCulprits bounds how many failing variants of a pack are looked for: a
// broken header fails all of them.
const maxCulprits = 3

// culprits halves a failing set of variants until single ones are left.
func (b *build) culprits(ctx context.Context, u *unit, set []Variant, fail *compileError) ([]Failure, error) {
	p := u.pack
	if len(set) == 0 {
		return []Failure{{*p, "", fail.Error()}}, nil
	}
	if len(set) == 1 {
		return []Failure{{*p, set[0].Label, fail.Error()}}, nil
	}
	var found []Failure
	for _, half := range [][]Variant{set[:len(set)/2], set[len(set)/2:]} {
		if len(found) >= maxCulprits {
			break
		}
		file, err := b.text(u, half)
		if err != nil {
			return nil, err
		}
		b.meter.printNote("looking for what fails in " + filepath.Base(p.File))
		_, err = b.translate(ctx, u, file, b.tempPath(".fatbin"))
		var sub *compileError
		switch {
		case err == nil:
		case errors.As(err, &sub):
			more, err := b.culprits(ctx, u, half, sub)
			if err != nil {
				return nil, err
			}
			found = append(found, more...)
		default:
			return nil, err
		}
	}
	if len(found) == 0 {
		found = []Failure{{*p, "", fail.Error()}}
	}
	return found, nil
}

func (b *build) tempPath(ext string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.names++
	return filepath.Join(b.work, fmt.Sprintf("%d%s", b.names, ext))
}

// optimise are the flags that every image's code depends on.
var optimise = []string{"-O3", "-std=c++17"}

// uncompressed leaves PTX and large machine code in a fatbin as they are: installImage compresses the whole
// fatbin, which takes less. It is not one of optimise: the code is the same with it and without.
const uncompressed = "--no-compress"

// translate compiles a text to an image and returns the compilers' output.
func (b *build) translate(ctx context.Context, u *unit, file, out string) (string, error) {
	if b.job.PTXAS != nil {
		return b.assemble(ctx, u, file, out)
	}
	return b.tk.run(ctx, b.args(u, file, out), b.job.Timeout)
}

// flags are everything of the command line but the file names.
func (b *build) flags(u *unit) []string {
	num := strings.TrimPrefix(u.arch, "sm_")
	args := append(append([]string{"-fatbin"}, optimise...), "-Xptxas", "-v", "-gencode", "arch=compute_"+num+",code=sm_"+num)
	if u.ptx {
		args = append(args, "-gencode", "arch=compute_"+num+",code=compute_"+num)
	}
	args = append(args, uncompressed)
	return append(args, b.job.Flags...)
}

func (b *build) args(u *unit, file, out string) []string {
	args := b.flags(u)
	for _, d := range b.job.Include {
		args = append(args, "-I", d)
	}
	if before := b.before(u); before != "" {
		args = append(args, "-include", before)
	}
	return append(args, "-o", out, file)
}

// turing has, for architectures below sm_80, the instructions that they lack.
//
//go:embed turing.cuh
var turing []byte

// before is the file that is included before a unit's text; most units have none.
func (b *build) before(u *unit) string {
	if number(u.arch) >= 80 {
		return ""
	}
	return filepath.Join(b.work, "turing.cuh")
}

// text is the file that includes some variants of a unit's pack: the pack's own
// where it includes no others.
func (b *build) text(u *unit, set []Variant) (string, error) {
	if len(set) == len(u.pack.Variants) {
		return u.pack.File, nil
	}
	var text strings.Builder
	for _, v := range set {
		abs, err := filepath.Abs(v.File)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&text, "#include \"%s\"\n", filepath.ToSlash(abs))
	}
	file := b.tempPath(".cu")
	if err := os.WriteFile(file, []byte(text.String()), 0o666); err != nil {
		return "", fmt.Errorf("write a part of a pack: %w", err)
	}
	return file, nil
}

// key is the content hash under which an image is cached: compilers, flags, and
// the texts with everything they include in quotes.
func (b *build) key(u *unit) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "cache 1\n%s\n%q\n", b.tk.Full, b.flags(u))
	if b.job.PTXAS != nil {
		fmt.Fprintf(h, "ptxas %s\n", b.job.PTXAS.Version)
	}
	files := []string{u.pack.File}
	if len(u.variants) == len(u.pack.Variants) {
		fmt.Fprintf(h, "%016x\n", u.pack.Hash)
	} else {
		files = files[:0]
		for _, v := range u.variants {
			files = append(files, v.File)
		}
	}
	if b.before(u) != "" {
		h.Write(turing)
	}
	seen := map[string]bool{}
	for _, file := range files {
		if err := expandIncludes(h, file, b.job.Include, seen); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}
