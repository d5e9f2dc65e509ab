package nvcc

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// Build compiles the packs of a job that the cache does not hold, puts every
// image in job.Images and every report in the cache, deletes stale images and
// talks about its progress on w. When packs fail the others are still built,
// and the error is a *BuildError naming the variants.
func (tk *Toolkit) Build(ctx context.Context, job Job, w io.Writer) (*Result, error) {
	start := time.Now()
	job.defaults()
	for _, d := range []string{job.Images, tk.objects(job), filepath.Join(job.Cache, "reports")} {
		if err := os.MkdirAll(d, 0o777); err != nil {
			return nil, fmt.Errorf("make a folder for images: %w", err)
		}
	}
	work, err := os.MkdirTemp(job.Cache, "work-")
	if err != nil {
		return nil, fmt.Errorf("make a working folder: %w", err)
	}
	defer os.RemoveAll(work)

	b := &build{tk: tk, job: job, work: work}
	b.meter = newMeter(w, len(job.Packs))
	defer b.meter.stop()
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(job.Parallel)
	for i := range job.Packs {
		g.Go(func() error { return b.pack(gctx, &job.Packs[i]) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	b.meter.stop()
	if !job.Keep {
		if err := b.deleteStale(); err != nil {
			return nil, err
		}
	}
	b.res.Elapsed = time.Since(start)
	if len(b.failures) > 0 {
		sort.Slice(b.failures, func(i, j int) bool {
			return b.failures[i].Pack.File+b.failures[i].Label < b.failures[j].Pack.File+b.failures[j].Label
		})
		return &b.res, &BuildError{b.failures}
	}
	if err := b.describe(); err != nil {
		return nil, err
	}
	fmt.Fprintf(w, "nvcc %s: %d packs compiled, %d from the cache, %d stale images deleted, %.1f MB for %s in %.1f s\n",
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
		job.Timeout = 10 * time.Minute
	}
}

// objects is where the cache keeps images and reports by their content key.
func (tk *Toolkit) objects(job Job) string { return filepath.Join(job.Cache, "nvcc") }

type build struct {
	tk    *Toolkit
	job   Job
	work  string
	meter *meter

	mu       sync.Mutex
	res      Result
	failures []Failure
	names    int
}

// pack brings one image about. It returns an error only for what ends the
// whole build; a pack that does not compile is noted.
func (b *build) pack(ctx context.Context, p *Pack) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	key, err := b.key(p)
	if err != nil {
		return fmt.Errorf("%s: %w", p.File, err)
	}
	object := filepath.Join(b.tk.objects(b.job), key+".fatbin")
	report := filepath.Join(b.tk.objects(b.job), key+".json")
	cached := isFile(object) && isFile(report)
	if !cached {
		if err := b.compile(ctx, p, object, report); err != nil {
			var fail *compileError
			if !errors.As(err, &fail) {
				return err
			}
			os.Remove(filepath.Join(b.job.Images, ImageName(p.Hash)))
			found, err := b.culprits(ctx, p, p.Variants, fail)
			if err != nil {
				return err
			}
			b.mu.Lock()
			b.failures = append(b.failures, found...)
			b.mu.Unlock()
			b.meter.add(false, true)
			return nil
		}
	}
	if cached {
		// Used today: prune goes by it. Failing to note that harms no one.
		now := time.Now()
		_, _ = os.Chtimes(object, now, now), os.Chtimes(report, now, now)
	}
	n, err := install(object, filepath.Join(b.job.Images, ImageName(p.Hash)))
	if err == nil {
		_, err = install(report, reportPath(b.job.Cache, p.Hash))
	}
	if err != nil {
		return fmt.Errorf("%s: place its image: %w", p.File, err)
	}
	b.mu.Lock()
	b.res.Bytes += n
	if cached {
		b.res.Cached++
	} else {
		b.res.Compiled++
	}
	b.mu.Unlock()
	b.meter.add(cached, false)
	return nil
}

// compile runs nvcc over a pack and puts image and report in the cache. A
// *compileError says that nvcc ran and refused.
func (b *build) compile(ctx context.Context, p *Pack, object, report string) error {
	tmp := b.temp(".fatbin")
	start := time.Now()
	out, err := b.tk.run(ctx, b.args(p, p.File, tmp), b.job.Timeout)
	if err != nil {
		return err
	}
	rep := parseReport(out)
	rep.Pack = fmt.Sprintf("%016x", p.Hash)
	rep.File = filepath.Base(p.File)
	rep.Version = b.tk.Full
	rep.Seconds = time.Since(start).Seconds()
	rep.threads(p.Variants)
	text, err := json.MarshalIndent(rep, "", "\t")
	if err != nil {
		return err
	}
	if err := os.Rename(tmp, object); err != nil {
		return fmt.Errorf("keep the image of %s: %w", p.File, err)
	}
	if err := replace(report, append(text, '\n')); err != nil {
		return fmt.Errorf("keep the report of %s: %w", p.File, err)
	}
	return nil
}

// maxCulprits bounds how many failing variants of a pack are looked for: a
// broken header fails all of them.
const maxCulprits = 3

// culprits halves a failing set of variants until single ones are left.
func (b *build) culprits(ctx context.Context, p *Pack, set []Variant, fail *compileError) ([]Failure, error) {
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
		var text strings.Builder
		for _, v := range half {
			abs, err := filepath.Abs(v.File)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&text, "#include \"%s\"\n", filepath.ToSlash(abs))
		}
		file := b.temp(".cu")
		if err := os.WriteFile(file, []byte(text.String()), 0o666); err != nil {
			return nil, fmt.Errorf("write half a pack: %w", err)
		}
		b.meter.note("looking for what fails in " + filepath.Base(p.File))
		_, err := b.tk.run(ctx, b.args(p, file, b.temp(".fatbin")), b.job.Timeout)
		var sub *compileError
		switch {
		case err == nil:
		case errors.As(err, &sub):
			more, err := b.culprits(ctx, p, half, sub)
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

func (b *build) temp(ext string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.names++
	return filepath.Join(b.work, fmt.Sprintf("%d%s", b.names, ext))
}

// optimise are the flags that every pack's code depends on.
var optimise = []string{"-O3", "-std=c++17"}

// flags are everything of the command line but the file names.
func (b *build) flags(p *Pack) []string {
	args := append(append([]string{"-fatbin"}, optimise...), "-Xptxas", "-v")
	low := ""
	for _, a := range b.job.Archs {
		num := strings.TrimPrefix(a, "sm_")
		args = append(args, "-gencode", "arch=compute_"+num+",code=sm_"+num)
		if low == "" || archNumber(num) < archNumber(low) {
			low = num
		}
	}
	if p.PTX {
		args = append(args, "-gencode", "arch=compute_"+low+",code=compute_"+low)
	}
	return append(args, b.job.Flags...)
}

func (b *build) args(p *Pack, file, out string) []string {
	args := b.flags(p)
	for _, d := range b.job.Include {
		args = append(args, "-I", d)
	}
	return append(args, "-o", out, file)
}

// key is the content hash under which a pack's image is cached: compiler,
// flags, and the text with everything it includes in quotes.
func (b *build) key(p *Pack) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "cache 1\n%s\n%q\n%016x\n", b.tk.Full, b.flags(p), p.Hash)
	if err := expand(h, p.File, b.job.Include, map[string]bool{}); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// expand writes a file's text and, once each, the texts it includes in
// quotes. An include that is not found is left to nvcc: it may be the
// toolkit's.
func expand(w io.Writer, file string, include []string, seen map[string]bool) error {
	if seen[file] {
		return nil
	}
	seen[file] = true
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\x00%d\n", len(text))
	w.Write(text)
	for line := range strings.Lines(string(text)) {
		rest, ok := strings.CutPrefix(strings.TrimLeft(line, " \t"), "#")
		if !ok {
			continue
		}
		rest, ok = strings.CutPrefix(strings.TrimLeft(rest, " \t"), "include")
		if !ok {
			continue
		}
		_, rest, ok = strings.Cut(rest, `"`)
		name, _, closed := strings.Cut(rest, `"`)
		if !ok || !closed {
			continue
		}
		for _, d := range slices.Concat([]string{filepath.Dir(file)}, include) {
			if path := filepath.Join(d, filepath.FromSlash(name)); isFile(path) {
				if err := expand(w, path, include, seen); err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}

// Description is the file beside the images that says what compiled them: a JSON
// object with the members cuda (the compiler's version), architectures, and flags
// (that the code depends on). The bundle embeds and reads it.
const Description = "build.json"

// describe writes the description. A build of some families only leaves the
// one that is there, which speaks for the others.
func (b *build) describe() error {
	file := filepath.Join(b.job.Images, Description)
	if _, err := os.Stat(file); err == nil && b.job.Keep {
		return nil
	}
	text, err := json.Marshal(struct {
		CUDA          string   `json:"cuda"`
		Architectures []string `json:"architectures"`
		Flags         []string `json:"flags"`
	}{b.tk.Full, b.job.Archs, slices.Concat(optimise, b.job.Flags)})
	if err != nil {
		return err
	}
	if err := replace(file, append(text, '\n')); err != nil {
		return fmt.Errorf("describe the images: %w", err)
	}
	return nil
}

// deleteStale removes images that no pack of the job names.
func (b *build) deleteStale() error {
	want := map[string]bool{}
	for _, p := range b.job.Packs {
		want[ImageName(p.Hash)] = true
	}
	entries, err := os.ReadDir(b.job.Images)
	if err != nil {
		return fmt.Errorf("look for stale images: %w", err)
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".fatbin" || want[e.Name()] {
			continue
		}
		if err := os.Remove(filepath.Join(b.job.Images, e.Name())); err != nil {
			return fmt.Errorf("delete a stale image: %w", err)
		}
		b.res.Stale++
	}
	return b.prune()
}

// keepObjects is how long the cache keeps what no build asks for: long enough
// to go back to another branch.
const keepObjects = 30 * 24 * time.Hour

// prune deletes reports of packs that are gone and cached images that were
// not used for long.
func (b *build) prune() error {
	want := map[string]bool{}
	for _, p := range b.job.Packs {
		want[reportPath(b.job.Cache, p.Hash)] = true
	}
	for _, dir := range []string{filepath.Join(b.job.Cache, "reports"), b.tk.objects(b.job)} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return fmt.Errorf("prune the cache: %w", err)
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			info, err := e.Info()
			if err != nil || want[path] || filepath.Base(dir) == "nvcc" && time.Since(info.ModTime()) < keepObjects {
				continue
			}
			if err := os.Remove(path); err != nil {
				return fmt.Errorf("prune the cache: %w", err)
			}
		}
	}
	return nil
}

// install copies a file unless the target already has the same bytes.
func install(from, to string) (int64, error) {
	text, err := os.ReadFile(from)
	if err != nil {
		return 0, err
	}
	if old, err := os.ReadFile(to); err == nil && string(old) == string(text) {
		return int64(len(text)), nil
	}
	return int64(len(text)), replace(to, text)
}

// replace writes a file so that no reader sees half of it.
func replace(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".part-")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Chmod(f.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}
