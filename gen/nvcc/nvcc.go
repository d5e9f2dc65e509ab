// Package nvcc is the room of the CUDA compiler: it finds a toolkit, compiles
// packs in parallel into fatbins, keeps them in a cache by content, and names
// the variant and shows the message when a pack fails. It knows files and
// hashes, and nothing of what a variant means.
//
// The use, in order:
//
//	tk, err := nvcc.Find(nvcc.Search{Root: root})       // ErrNotFound: no compiler here
//	res, err := tk.Build(ctx, nvcc.Job{...}, os.Stderr) // *BuildError: which variants
//	rep, err := nvcc.ReadReport(cache, packHash)        // registers, shared, spills
package nvcc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// ErrNotFound is wrapped when no toolkit was found; the message says where it
// was looked for and what to run.
var ErrNotFound = errors.New("no CUDA compiler found")

// ErrVersion is wrapped when the toolkit's version is not one that is
// supported and Search.Allow is false.
var ErrVersion = errors.New("unsupported CUDA version")

// Search says where to look for a toolkit.
type Search struct {
	Root  string // repository root; its .build/cuda comes first
	Home  string // an explicit toolkit folder; nothing else is looked at then
	Allow bool   // take an unsupported version all the same
}

// A Toolkit is a CUDA compiler that was found and asked for its version.
type Toolkit struct {
	NVCC  string // path of the compiler
	Major int
	Minor int
	Full  string // "13.0.88", or "13.0" where nvcc prints no more
	Note  string // "" or a sentence for the user about this version
}

// A Pack is a translation unit to compile.
type Pack struct {
	Family   string    // for messages
	File     string    // path of the .cu file
	Hash     uint64    // over the text of all it includes; names the report
	Variants []Variant // the variants that File includes, in order
}

// A Variant is one included file of a pack.
type Variant struct {
	Label   string
	Symbol  string
	File    string         // path of the variant's .cu file
	Hash    uint64         // which the index names it by
	Threads map[string]int // most threads of a block, by entry point; 0 where that is unknown
	Safe    bool           // compiled apart from the others, for the lowest architecture as PTX too
	Held    bool           // a job with Some compiles it
	Least   int            // the lowest architecture that has all features it uses, such as 90 for sm_90; 0: any
}

// A Job is everything one Build compiles. Images of packs that are not in the
// job are stale and deleted, so a job names the packs of all families.
type Job struct {
	Packs    []Pack
	Include  []string      // include folders: templates
	Archs    []string      // default {"sm_90"}
	Some     bool          // compile the variants that are Held, not all
	PTXAS    *Assembler    // makes the machine code, for older drivers; nil: nvcc does
	Flags    []string      // further nvcc flags
	Images   string        // folder of images, runtime/bundle/images
	Cache    string        // folder of the cache, .build/cache
	Parallel int           // compilers at once; 0: one a core
	Timeout  time.Duration // for one pack; 0: an hour
	Keep     bool          // leave stale images alone (a build of some families only)
}

// Result counts the images of a Build. A pack has two for each architecture: its safe variants,
// and its others.
type Result struct {
	Compiled, Cached, Stale int
	Bytes                   int64 // of all images of the job, compressed
	Elapsed                 time.Duration
}

// A Failure is a variant (or, when no single variant fails by itself, a whole
// pack) that does not compile.
type Failure struct {
	Pack    Pack
	Label   string // "" when the pack fails only as a whole
	Message string // nvcc's, or the reason why nvcc did not run to its end
}

// BuildError lists the variants and packs that do not compile.
type BuildError struct{ Failures []Failure }

func (e *BuildError) Error() string {
	var b strings.Builder
	for i, f := range e.Failures {
		if i > 0 {
			b.WriteByte('\n')
		}
		what := "the pack as a whole"
		if f.Label != "" {
			what = "variant " + f.Label
		}
		fmt.Fprintf(&b, "%s: %s of %s does not compile:\n%s", f.Pack.File, what, f.Pack.Family, indent(f.Message))
	}
	return b.String()
}

func indent(s string) string {
	return "\t" + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n\t")
}

// Find looks for a toolkit in s.Home, or else in .build/cuda below s.Root,
// $CUDA_HOME, $CUDA_PATH, $PATH and /usr/local/cuda, and checks its version:
// 13 is proven, 12 expected to work, anything else refused unless s.Allow.
func Find(s Search) (*Toolkit, error) {
	exe := "nvcc"
	if runtime.GOOS == "windows" {
		exe += ".exe"
	}
	var tried []string
	try := func(home, what string) string {
		p := filepath.Join(home, "bin", exe)
		if st, err := os.Stat(p); err == nil && !st.IsDir() {
			return p
		}
		tried = append(tried, what)
		return ""
	}
	path := ""
	if s.Home != "" {
		if path = try(s.Home, s.Home); path == "" {
			return nil, fmt.Errorf("%w: %s has no bin/%s", ErrNotFound, s.Home, exe)
		}
	}
	if path == "" && s.Root != "" {
		path = try(filepath.Join(s.Root, ".build", "cuda"), ".build/cuda")
	}
	for _, env := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if path != "" {
			break
		}
		if home := os.Getenv(env); home != "" {
			path = try(home, "$"+env)
		} else {
			tried = append(tried, "$"+env)
		}
	}
	if path == "" {
		if p, err := exec.LookPath(exe); err == nil {
			path = p
		} else {
			tried = append(tried, "$PATH")
			path = try("/usr/local/cuda", "/usr/local/cuda")
		}
	}
	if path == "" {
		return nil, fmt.Errorf("%w in %s: run scripts/toolkit to install the pinned one, or set CUDA_HOME",
			ErrNotFound, strings.Join(tried, ", "))
	}
	tk := &Toolkit{NVCC: path}
	if err := tk.version(); err != nil {
		return nil, err
	}
	return tk, tk.check(s.Allow)
}

var releaseRE = regexp.MustCompile(`release (\d+)\.(\d+)(?:, V([0-9.]+))?`)

func (tk *Toolkit) version() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, tk.NVCC, "--version").CombinedOutput()
	if err != nil {
		return fmt.Errorf("ask %s for its version: %w: %s", tk.NVCC, err, strings.TrimSpace(string(out)))
	}
	m := releaseRE.FindSubmatch(out)
	if m == nil {
		return fmt.Errorf("ask %s for its version: no \"release N.N\" in %q", tk.NVCC, out)
	}
	tk.Major, _ = strconv.Atoi(string(m[1]))
	tk.Minor, _ = strconv.Atoi(string(m[2]))
	if tk.Full = string(m[3]); tk.Full == "" {
		tk.Full = fmt.Sprintf("%d.%d", tk.Major, tk.Minor)
	}
	return nil
}

func (tk *Toolkit) check(allow bool) error {
	switch {
	case tk.Major == 13:
		return nil
	case tk.Major == 12:
		tk.Note = fmt.Sprintf("CUDA %s is expected to work; 13.0 is what this was proven with", tk.Full)
		return nil
	case allow:
		tk.Note = fmt.Sprintf("CUDA %s is not supported; going on because you said so", tk.Full)
		return nil
	}
	return fmt.Errorf("%w: %s is CUDA %s, and 13 (proven) or 12 (expected) is needed: "+
		"run scripts/toolkit to install 13.0, or pass --allow to try this one", ErrVersion, tk.NVCC, tk.Full)
}
