package emulated

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"time"

	"coalesce/runtime/group"
)

// A toolchain compiles into a cache: every result is a folder named by the
// hash of its inputs, complete as soon as it exists.
type toolchain struct {
	cache    string
	compiler string   // path
	version  string   // its first line
	identity string   // all it says about itself
	flags    []string // of every unit
	header   string   // what units include first: emulated.h, or a precompiled one's path
	sanitize bool
	clang    bool
}

// headers are the files of cxx that units include.
var headers = []string{"emulated.h", "emulated_math.h", "emulated_atomic.h"}

func newToolchain(opts Options) (*toolchain, error) {
	names := []string{"g++", "c++", "clang++"}
	if opts.Compiler != "" {
		names = []string{opts.Compiler}
	}
	t := &toolchain{cache: opts.Cache, sanitize: opts.Sanitize}
	for _, n := range names {
		if p, err := exec.LookPath(n); err == nil {
			t.compiler = p
			break
		}
	}
	if t.compiler == "" {
		return nil, fmt.Errorf("%w: looked for %s on the path", ErrNoCompiler, strings.Join(names, ", "))
	}
	out, err := exec.Command(t.compiler, "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s --version: %v", ErrNoCompiler, t.compiler, err)
	}
	t.identity = string(out)
	t.version, _, _ = strings.Cut(t.identity, "\n")
	// A variant of assignment/core takes 0.76 s to compile with -O1 and 0.53 s with -Og, and its
	// launches as long: most of their time is the schedule's. Under the sanitizers, which are for tests of small instances, a unit takes
	// longer to compile than to run: 2.4 s with -O0 for 6.4 s with -O1 -g for a
	// variant of assignment/classical (g++ 12 on one core).
	optimise := "-Og"
	if opts.Sanitize {
		optimise = "-O0"
	}
	t.flags = []string{"-std=c++17", optimise, "-g1", "-w", "-pthread", "-fPIC", "-fno-rtti", "-fno-exceptions", "-fno-omit-frame-pointer", "-fsigned-char", "-ffp-contract=off", "-DCOALESCE_EMULATED=1"}
	t.clang = strings.Contains(t.identity, "clang")
	if opts.Sanitize {
		// A null or wrapped pointer shows when it is followed. Without the checks before
		// that, and with those of addresses as calls, a variant of assignment/core takes 1.0 s for 1.7 s.
		t.flags = append(t.flags, "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-sanitize=null,pointer-overflow")
		if !t.clang {
			t.flags = append(t.flags, "--param", "asan-instrumentation-with-call-threshold=0")
			// Red zones round shared arrays too.
			t.flags = append(t.flags, "-fsanitize-sections=emu_shared_*")
		}
	}
	if !t.clang {
		// A unit's shared arrays are its own, also where two units define
		// the same inline function.
		t.flags = append(t.flags, "-fno-weak", "-fno-gnu-unique")
	}
	return t, nil
}

// compileServer returns the path of the compiled child.
func (t *toolchain) compileServer() (string, error) {
	files, err := fs.Sub(sources, "cxx")
	if err != nil {
		return "", err
	}
	tree := map[string]string{}
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		b, err := fs.ReadFile(files, e.Name())
		if err != nil {
			return "", err
		}
		tree[e.Name()] = string(b)
	}
	flags := []string{"-std=c++17", "-O2", "-g", "-w", "-fno-rtti", "-fno-exceptions", "-fno-omit-frame-pointer", "-rdynamic", "-pthread"}
	if t.sanitize {
		flags = append(flags, "-fsanitize=address")
		if !t.clang {
			// Units are watched; the schedule's own accesses need not be.
			for _, what := range []string{"instrument-reads", "instrument-writes", "stack", "globals"} {
				flags = append(flags, "--param", "asan-"+what+"=0")
			}
		}
	}
	// Old compilers do not know the last flag of units; the first compilation
	// finds out, and the server's folder remembers.
	pattern := "-ftrivial-auto-var-init=pattern"
	dir, err := t.build(context.Background(), "server", tree, "server", append(flags, "server.cc", pattern, "-ldl"))
	if err == nil {
		t.flags = append(t.flags, pattern)
	} else if errors.Is(err, errCompile) && strings.Contains(err.Error(), pattern) {
		dir, err = t.build(context.Background(), "server", tree, "server", append(flags, "server.cc", "-ldl"))
	}
	if err != nil {
		return "", fmt.Errorf("%w: the server does not compile: %w", ErrNoCompiler, err)
	}
	return filepath.Join(dir, "server"), nil
}

// precompile makes units include a precompiled emulated.h, whose compilation takes half of a small
// unit's time. A compiler that does not do so reads the text.
func (t *toolchain) precompile() error {
	tree := map[string]string{}
	if err := t.addHeaders(tree); err != nil {
		return err
	}
	t.header = "emulated.h"
	if t.clang {
		return nil // takes them by another flag, and not of another folder's files
	}
	args := append(slices.Clone(t.flags), "-x", "c++-header", "emulated.h")
	dir, err := t.build(context.Background(), "header", tree, "emulated.h.gch", args)
	if errors.Is(err, errCompile) {
		return nil
	}
	if err != nil {
		return err
	}
	t.header = filepath.Join(dir, "emulated.h")
	return nil
}

func (t *toolchain) addHeaders(tree map[string]string) error {
	for _, h := range headers {
		b, err := sources.ReadFile("cxx/" + h)
		if err != nil {
			return err
		}
		tree[h] = string(b)
	}
	return nil
}

// compileUnit compiles tree["unit.cc"] to a shared object and returns its path.
func (t *toolchain) compileUnit(ctx context.Context, tree map[string]string) (string, error) {
	if err := t.addHeaders(tree); err != nil {
		return "", err
	}
	args := append(slices.Clone(t.flags), "-shared", "-include", t.header, "-I.", "-Itemplates", "unit.cc")
	if !t.clang {
		// What the child has loaded is left to the loader, C++'s library and the address sanitizer's
		// among it: to read their symbols takes the linker 40 ms of a sanitized unit's 150 ms
		// (csg/splits, g++ 12).
		args = append(args, "-nodefaultlibs")
		if t.sanitize {
			args = append(args, "-lubsan")
		}
		args = append(args, "-lm", "-lgcc")
	}
	dir, err := t.build(ctx, "unit", tree, "unit.so", args)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "unit.so"), nil
}

var errCompile = errors.New("compilation failed")

// compilerError is a line of the compiler with a place and an error.
var compilerError = regexp.MustCompile(`(?m)^\S+:\d+:(\d+:)? (fatal )?error: .*`)

// build writes tree into a fresh folder, runs the compiler there with
// "-o output" and moves the folder to its name by content. It returns at once
// where that name exists.
func (t *toolchain) build(ctx context.Context, kind string, tree map[string]string, output string, args []string) (string, error) {
	names := make([]string, 0, len(tree))
	for n := range tree {
		names = append(names, n)
	}
	sort.Strings(names)
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q\n", t.compiler, t.identity, args)
	for _, n := range names {
		fmt.Fprintf(h, "%q %d\n%s", n, len(tree[n]), tree[n])
	}
	final := filepath.Join(t.cache, kind+"-"+hex.EncodeToString(h.Sum(nil))[:24])
	if _, err := os.Stat(filepath.Join(final, output)); err == nil {
		return final, nil
	}
	if err := os.MkdirAll(t.cache, 0o755); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(t.cache, building)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	for _, n := range names {
		if !fs.ValidPath(n) {
			return "", fmt.Errorf("%q is not a path inside a folder", n)
		}
		file := filepath.Join(tmp, filepath.FromSlash(n))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(file, []byte(tree[n]), 0o644); err != nil {
			return "", err
		}
	}
	cmd := group.Command(ctx, t.compiler, append([]string{"-ffile-prefix-map=" + tmp + "=.", "-o", output}, args...)...)
	cmd.Dir = tmp
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		first := fmt.Sprintf("%s: %v", path.Base(t.compiler), err)
		if at := compilerError.FindString(string(out)); at != "" { // tables of failures have room for one line
			first = at
		}
		return "", fmt.Errorf("%w: %s\n%s", errCompile, first, firstLines(string(out), 30))
	}
	err = os.Rename(tmp, final)
	if err == nil {
		return final, nil
	}
	if _, missing := os.Stat(filepath.Join(final, output)); missing == nil {
		return final, nil // another process was faster
	}
	// What stands there was removed halfway.
	if err := os.RemoveAll(final); err != nil {
		return "", err
	}
	if err := os.Rename(tmp, final); err != nil {
		return "", err
	}
	return final, nil
}

// building begins the names of folders that are not whole: results on their
// way in and, renamed by pruneCache, on their way out.
const building = "building-"

// pruneCache removes the oldest quarter of the cache when it holds more than most
// folders, and what was left half built or half removed a day ago. What another
// process has open keeps working.
func pruneCache(cache string, limit int) {
	entries, err := os.ReadDir(cache)
	if err != nil {
		return
	}
	age := func(e os.DirEntry) time.Time {
		info, err := e.Info()
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	}
	var units []os.DirEntry
	for _, e := range entries {
		switch {
		case strings.HasPrefix(e.Name(), "unit-"):
			units = append(units, e)
		case strings.HasPrefix(e.Name(), building) && time.Since(age(e)) > 24*time.Hour:
			os.RemoveAll(filepath.Join(cache, e.Name()))
		}
	}
	if len(entries) <= limit {
		return
	}
	sort.Slice(units, func(i, j int) bool { return age(units[i]).Before(age(units[j])) })
	for _, e := range units[:len(units)/4] {
		gone := filepath.Join(cache, building+e.Name())
		if os.Rename(filepath.Join(cache, e.Name()), gone) == nil {
			os.RemoveAll(gone)
		}
	}
}

// firstLines returns the first lines of a text, those that say something.
func firstLines(text string, lines int) string {
	var keep []string
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, " \r\n")
		if strings.Trim(l, "= ") == "" {
			continue
		}
		if len(keep) == lines {
			keep = append(keep, "…")
			break
		}
		keep = append(keep, l)
	}
	return strings.Join(keep, "\n")
}
