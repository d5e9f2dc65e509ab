package nvcc

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// A bench is a folder with packs and the fake compiler.
type bench struct {
	t   *testing.T
	tk  *Toolkit
	job Job
	log string
	out bytes.Buffer
}

func newBench(t *testing.T) *bench {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the fake compiler is a shell script, which Windows cannot run")
	}
	home := t.TempDir()
	fake, err := os.ReadFile("testdata/nvcc")
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(home, "bin", "nvcc"), string(fake))
	if err := os.Chmod(filepath.Join(home, "bin", "nvcc"), 0o755); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	b := &bench{t: t, log: filepath.Join(dir, "log")}
	t.Setenv("FAKE_LOG", b.log)
	if b.tk, err = Find(Search{Home: home}); err != nil {
		t.Fatal(err)
	}
	b.job = Job{Images: filepath.Join(dir, "images"), Cache: filepath.Join(dir, "cache"), Timeout: 20 * time.Second}
	return b
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// pack adds a pack whose variants have these texts.
func (b *bench) pack(hash uint64, texts ...string) {
	b.t.Helper()
	dir := filepath.Join(filepath.Dir(b.log), fmt.Sprintf("pack%x", hash))
	p := Pack{Family: "toy/family", File: filepath.Join(dir, "pack.cu"), Hash: hash}
	var includes strings.Builder
	for i, text := range texts {
		v := Variant{Label: fmt.Sprintf("v=%d", i), Symbol: fmt.Sprintf("toy_v%d", i), File: filepath.Join(dir, fmt.Sprintf("v%d.cu", i)), Hash: hash<<8 | uint64(i)}
		v.Threads = map[string]int{v.Symbol + "_run": 256}
		put(b.t, v.File, fmt.Sprintf("extern void __launch_bounds__(256) %s_run(int* a)\n%s\n", v.Symbol, text))
		fmt.Fprintf(&includes, "#include \"v%d.cu\"\n", i)
		p.Variants = append(p.Variants, v)
	}
	put(b.t, p.File, includes.String())
	b.job.Packs = append(b.job.Packs, p)
}

func (b *bench) build() (*Result, error) {
	b.out.Reset()
	return b.tk.Build(context.Background(), b.job, &b.out)
}

// listed reads the index.
func (b *bench) listed() Index {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.job.Images, indexName))
	if err != nil {
		b.t.Fatal(err)
	}
	var index Index
	if err := json.Unmarshal(text, &index); err != nil {
		b.t.Fatal(err)
	}
	return index
}

// image is what the index and its file say of the first image of a pack; "" where the
// index names none.
func (b *bench) image(hash uint64) (path, code string) {
	b.t.Helper()
	for _, i := range b.listed().Images {
		if n, err := strconv.ParseUint(i.Variants[0], 16, 64); err != nil || n>>8 != hash {
			continue
		}
		path = filepath.Join(b.job.Images, i.File)
		packed, err := os.ReadFile(path)
		if err != nil {
			b.t.Fatal(err)
		}
		z, err := zstd.NewReader(nil)
		if err != nil {
			b.t.Fatal(err)
		}
		defer z.Close()
		text, err := z.DecodeAll(packed, nil)
		if err != nil {
			b.t.Fatal(err)
		}
		if sum := fmt.Sprintf("%x", sha256.Sum256(packed)); sum != i.SHA256 || int64(len(text)) != i.Bytes || int64(len(packed)) != i.Compressed {
			b.t.Errorf("the index says %+v of %d bytes of sum %s", i, len(packed), sum)
		}
		return path, string(text)
	}
	return "", ""
}

// calls counts the compiler's runs since the last time it was asked.
func (b *bench) calls() int {
	text, err := os.ReadFile(b.log)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.t.Fatal(err)
	}
	os.Remove(b.log)
	return strings.Count(string(text), "\n")
}

func TestBuildAndCache(t *testing.T) {
	b := newBench(t)
	b.pack(0xa, "one", "two")
	b.pack(0xb, "three")
	stale := filepath.Join(b.job.Images, "00000000000000ff.fatbin")
	put(t, stale, "old")
	res, err := b.build()
	if err != nil {
		t.Fatal(err)
	}
	if res.Compiled != 2 || res.Cached != 0 || res.Stale != 1 || b.calls() != 2 {
		t.Errorf("first build: %+v; want 2 compiled and 1 stale", res)
	}
	if isFile(stale) {
		t.Error("the stale image is still there")
	}
	if _, code := b.image(0xa); !strings.Contains(code, "two") {
		t.Errorf("image of the first pack: %q", code)
	}
	if text, err := os.ReadFile(filepath.Join(b.job.Images, indexName)); err != nil || !strings.Contains(strings.Join(strings.Fields(string(text)), ""), `"flags":["-O3","-std=c++17"]`) {
		t.Errorf("description: %s, %v", text, err)
	}
	if !strings.Contains(b.out.String(), "2 images compiled, 0 from the cache") {
		t.Errorf("said %q", b.out.String())
	}

	if res, err = b.build(); err != nil || res.Cached != 2 || b.calls() != 0 {
		t.Errorf("second build: %+v, %v; want all from the cache", res, err)
	}

	// An image that went astray comes back without the compiler.
	astray, _ := b.image(0xb)
	put(t, astray, "damaged")
	if _, err = b.build(); err != nil || b.calls() != 0 {
		t.Errorf("third build: %v", err)
	}
	if _, code := b.image(0xb); !strings.Contains(code, "three") {
		t.Errorf("the damaged image was not replaced: %q", code)
	}

	// What is stale leaves the cache too: a report at once, an image after long.
	old := filepath.Join(b.job.Cache, "nvcc", "old.fatbin")
	fresh := filepath.Join(b.job.Cache, "nvcc", "fresh.fatbin")
	put(t, old, "old")
	put(t, fresh, "fresh")
	put(t, reportPath(b.job.Cache, 0xff), "{}")
	past := time.Now().Add(-2 * keepObjects)
	if err := os.Chtimes(old, past, past); err != nil {
		t.Fatal(err)
	}
	if _, err = b.build(); err != nil || isFile(old) || !isFile(fresh) || isFile(reportPath(b.job.Cache, 0xff)) {
		t.Errorf("pruning: %v; old image %v, fresh image %v, stale report %v; want only the fresh image",
			err, isFile(old), isFile(fresh), isFile(reportPath(b.job.Cache, 0xff)))
	}

	// A changed text, a changed flag and a changed architecture each compile again.
	put(t, b.job.Packs[1].Variants[0].File, "four")
	if res, err = b.build(); err != nil || res.Compiled != 1 || b.calls() != 1 {
		t.Errorf("after a change: %+v, %v; want 1 compiled", res, err)
	}
	b.job.Archs = []string{"sm_90", "sm_80"}
	if res, err = b.build(); err != nil || res.Compiled != 2 || res.Cached != 2 {
		t.Errorf("with another architecture: %+v, %v; want 2 compiled", res, err)
	}
	b.job.Keep, b.job.Packs = true, b.job.Packs[:1]
	if res, err = b.build(); err != nil || res.Stale != 0 {
		t.Errorf("with Keep: %+v, %v; want nothing deleted", res, err)
	}
}

// TestFlags: nvcc leaves the compression of fatbins to Build, and the flags in the index, by which tuning
// data know machine code, are those that the code depends on.
func TestFlags(t *testing.T) {
	b := &build{job: Job{Flags: []string{"-G"}}}
	flags := strings.Join(b.flags(&unit{arch: "sm_80", ptx: true}), " ")
	for _, want := range []string{"-O3 -std=c++17", "--no-compress", "code=sm_80", "code=compute_80", "-G"} {
		if !strings.Contains(flags, want) {
			t.Errorf("%s: no %s", flags, want)
		}
	}
	if slices.Contains(optimise, "--no-compress") {
		t.Error("compression counts as a flag that code depends on: all tuning data would be stale")
	}
}

// TestBefore: architectures without reductions of a warp get a file with them before each text.
func TestBefore(t *testing.T) {
	b := &build{work: "work"}
	args := b.args(&unit{arch: "sm_75"}, "in.cu", "out")
	if k := slices.Index(args, "-include"); k < 0 || args[k+1] != filepath.Join("work", "turing.cuh") {
		t.Errorf("sm_75: %s", args)
	}
	if args := b.args(&unit{arch: "sm_80"}, "in.cu", "out"); slices.Contains(args, "-include") {
		t.Errorf("sm_80: %s", args)
	}
}

// TestUnits: the images of a job, their variants, and the images that carry PTX.
func TestUnits(t *testing.T) {
	p := Pack{Hash: 1, Variants: []Variant{
		{Label: "safe", Safe: true, Held: true}, {Label: "winner", Held: true}, {Label: "cluster", Held: true, Least: 90}, {Label: "study"},
	}}
	for _, c := range []struct {
		some  bool
		archs []string
		want  string
	}{
		{false, []string{"sm_90"}, "sm_90+ptx safe; sm_90 winner cluster study"},
		{false, []string{"sm_80"}, "sm_80+ptx safe; sm_80 winner study"},
		{true, []string{"sm_100", "sm_80"}, "sm_100 safe; sm_100 winner cluster; sm_80+ptx safe; sm_80 winner"},
	} {
		job := Job{Packs: []Pack{p}, Archs: c.archs, Some: c.some}
		var list []string
		for _, u := range job.units() {
			line := u.arch
			if u.ptx {
				line += "+ptx"
			}
			for _, v := range u.variants {
				line += " " + v.Label
			}
			list = append(list, line)
		}
		if got := strings.Join(list, "; "); got != c.want {
			t.Errorf("%v, some %t: %s; want %s", c.archs, c.some, got, c.want)
		}
	}
}

// TestParts: the safe variants of a pack are compiled apart, are found in the cache
// again, and the index says what loads them.
func TestParts(t *testing.T) {
	b := newBench(t)
	b.pack(0xa, "one", "two", "three")
	b.job.Packs[0].Variants[1].Safe = true
	for want := 2; want >= 0; want -= 2 {
		if res, err := b.build(); err != nil || res.Compiled != want || b.calls() != want {
			t.Fatalf("build: %+v, %v; want %d compiled", res, err, want)
		}
	}
	index := b.listed()
	if index.CUDA != "13.0.88" || index.Driver != "580" || index.Least != 13000 || len(index.Images) != 2 {
		t.Fatalf("index %+v", index)
	}
	for _, i := range index.Images {
		want := "0000000000000a00 0000000000000a02"
		if i.PTX {
			want = "0000000000000a01"
		}
		if got := strings.Join(i.Variants, " "); got != want || i.Arch != "sm_90" {
			t.Errorf("image %+v, want variants %s", i, want)
		}
	}
	// Families apart from the others: their images take the place of their old ones.
	put(t, b.job.Packs[0].Variants[0].File, "four")
	b.job.Keep = true
	if _, err := b.build(); err != nil || len(b.listed().Images) != 2 {
		t.Errorf("after a change of one: %v, %+v; want 2 images", err, b.listed().Images)
	}
	if _, code := b.image(0xa); !strings.Contains(code, "four") && !strings.Contains(code, "two") {
		t.Errorf("image %q", code)
	}
	b.job.Archs = []string{"sm_80"}
	if _, err := b.build(); err == nil || !strings.Contains(err.Error(), "build all families") {
		t.Errorf("another architecture for some families: %v", err)
	}
}

func TestReport(t *testing.T) {
	b := newBench(t)
	b.pack(0xa, "one", "two")
	if _, err := b.build(); err != nil {
		t.Fatal(err)
	}
	r, err := ReadReport(b.job.Cache, 0xa)
	if err != nil {
		t.Fatal(err)
	}
	us := r.KernelsOf("toy_v1")
	want := Usage{Name: "toy_v1_run", Arch: "sm_90", Registers: 40, Shared: 1024, Stack: 16, SpillStores: 8, SpillLoads: 4,
		Threads: 256, Blocks: 6, Occupancy: 75, Limited: "registers"}
	if len(us) != 1 || us[0] != want {
		t.Errorf("usage of v1: %+v; want %+v", us, want)
	}
	if _, err := ReadReport(b.job.Cache, 0xff); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("report of an unknown pack: %v; want fs.ErrNotExist", err)
	}
}

func TestBisect(t *testing.T) {
	b := newBench(t)
	b.pack(0xa, "ok", "ok", "ok", "ok", "ok", "BAD", "ok", "ok")
	b.pack(0xb, "fine")
	b.pack(0xc, "PAIR1", "PAIR2")
	_, err := b.build()
	var be *BuildError
	if !errors.As(err, &be) || len(be.Failures) != 2 {
		t.Fatalf("build: %v; want two failures", err)
	}
	f := be.Failures[0]
	if f.Label != "v=5" || !strings.Contains(f.Message, "BAD is undefined") || strings.Contains(f.Message, "noise") {
		t.Errorf("first failure: %q, %q; want v=5 with nvcc's message alone", f.Label, f.Message)
	}
	if f := be.Failures[1]; f.Label != "" || !strings.Contains(f.Message, "two definitions") {
		t.Errorf("second failure: %q, %q; want the pack as a whole", f.Label, f.Message)
	}
	if !strings.Contains(err.Error(), "variant v=5 of toy/family") {
		t.Errorf("message: %v", err)
	}
	if path, _ := b.image(0xb); path == "" {
		t.Error("the sound pack has no image")
	}
	if path, _ := b.image(0xa); path != "" {
		t.Error("the failing pack has an image")
	}
	if n := b.calls(); n > 1+6+1+1+2 {
		t.Errorf("%d compilations; halving takes at most 11", n)
	}
}

func TestTimeout(t *testing.T) {
	b := newBench(t)
	b.job.Timeout = 300 * time.Millisecond
	b.pack(0xa, "ok", "SLOW")
	start := time.Now()
	_, err := b.build()
	var be *BuildError
	if !errors.As(err, &be) || len(be.Failures) != 1 || be.Failures[0].Label != "v=1" ||
		!strings.Contains(be.Failures[0].Message, "stopped after 300ms") {
		t.Errorf("build: %v; want v=1 stopped", err)
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("took %v: the compiler's children were waited for", d)
	}
}

func TestCancel(t *testing.T) {
	b := newBench(t)
	b.pack(0xa, "SLOW")
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if _, err := b.tk.Build(ctx, b.job, &b.out); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancelled build: %v; want the context's error", err)
	}
	if left, _ := filepath.Glob(filepath.Join(b.job.Cache, "work-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestFind(t *testing.T) {
	b := newBench(t)
	home := filepath.Dir(filepath.Dir(b.tk.NVCC))
	for _, tt := range []struct {
		release string
		allow   bool
		err     error
		note    string
	}{
		{"13.0", false, nil, ""},
		{"12.6", false, nil, "expected"},
		{"11.8", false, ErrVersion, ""},
		{"11.8", true, nil, "not supported"},
		{"14.1", false, ErrVersion, ""},
	} {
		t.Setenv("FAKE_RELEASE", tt.release)
		tk, err := Find(Search{Home: home, Allow: tt.allow})
		if !errors.Is(err, tt.err) || (err == nil) != (tt.err == nil) {
			t.Errorf("CUDA %s, allow %v: %v; want %v", tt.release, tt.allow, err, tt.err)
		}
		if err == nil && (!strings.Contains(tk.Note, tt.note) || (tt.note == "") != (tk.Note == "")) {
			t.Errorf("CUDA %s: note %q; want one with %q", tt.release, tk.Note, tt.note)
		}
		if err != nil && !strings.Contains(err.Error(), "--allow") {
			t.Errorf("CUDA %s: %v; want what to do about it", tt.release, err)
		}
	}
	t.Setenv("FAKE_RELEASE", "")

	// The order: .build/cuda, then CUDA_HOME, then PATH.
	root := t.TempDir()
	t.Setenv("CUDA_HOME", "")
	t.Setenv("CUDA_PATH", "")
	t.Setenv("PATH", filepath.Dir(b.tk.NVCC)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	if tk, err := Find(Search{Root: root}); err != nil || tk.NVCC != b.tk.NVCC {
		t.Errorf("on PATH: %v, %v", tk, err)
	}
	t.Setenv("CUDA_HOME", home)
	if err := os.MkdirAll(filepath.Join(root, ".build"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(home, filepath.Join(root, ".build", "cuda")); err != nil {
		t.Fatal(err)
	}
	if tk, err := Find(Search{Root: root}); err != nil || tk.NVCC != filepath.Join(root, ".build", "cuda", "bin", "nvcc") {
		t.Errorf("in .build/cuda: %v, %v", tk, err)
	}
	if _, err := Find(Search{Home: t.TempDir()}); !errors.Is(err, ErrNotFound) {
		t.Errorf("in an empty folder: %v; want ErrNotFound", err)
	}
}

// TestBlocks compares with the CUDA occupancy calculator's answers for
// compute capability 9.0 and 8.9.
func TestBlocks(t *testing.T) {
	for _, tt := range []struct {
		arch                       string
		registers, shared, threads int
		blocks                     int
		by                         string
	}{
		{"sm_90", 32, 0, 256, 8, "warps"},
		{"sm_90", 33, 0, 256, 6, "registers"},
		{"sm_90", 255, 0, 256, 1, "registers"},
		{"sm_90", 16, 0, 32, 32, "blocks"},
		{"sm_90", 32, 48 << 10, 256, 4, "shared"},
		{"sm_90", 32, 227 << 10, 1024, 1, "shared"},
		{"sm_89", 32, 0, 256, 6, "warps"},
	} {
		l, ok := limitsOf(tt.arch)
		if !ok {
			t.Fatalf("%s is not known", tt.arch)
		}
		if n, by := l.Blocks(tt.registers, tt.shared, tt.threads); n != tt.blocks || by != tt.by {
			t.Errorf("%s, %d registers, %d shared, %d threads: %d blocks by %s; want %d by %s",
				tt.arch, tt.registers, tt.shared, tt.threads, n, by, tt.blocks, tt.by)
		}
	}
	if _, ok := limitsOf("sm_52"); ok {
		t.Error("limits of sm_52 are claimed to be known")
	}
}
