// Gen is the kernel compiler: it reads go.generate and templates/, writes
// generated/ and compiles it where it finds nvcc.
//
//	go run ./gen                    write generated/, compile what changed
//	go run ./gen list [FAMILY…]     the variants, a line each
//	go run ./gen diff               what would change; fails if anything would
//	go run ./gen explain [FAMILY] VARIANT   parameters, files, and what ptxas said of it
//	go run ./gen occupancy          a table of that for each family's safe point
//	go run ./gen points FOLDER      texts of a family's points, for coalesce tune --space
//
// `go generate ./...` runs the first. Exit codes: 0 ok, 1 failed, 2 the command
// line was wrong, 3 diff found a difference (go run turns 2 and 3 into 1).
// Stages: manifest -> space -> cuda or host -> bind -> files -> nvcc; all but the
// last two are pure functions.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/mod/modfile"

	"coalesce/gen/manifest"
	"coalesce/gen/space"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
	exitCheck  = 3
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	// The second ctrl-C ends the process at once.
	context.AfterFunc(ctx, stop)
	code := Main(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// A command is one run: its flags and where it talks.
type command struct {
	root    string
	only    []string
	space   string
	where   string
	cuda    string
	allow   bool
	compile bool
	archs   []string
	points  string
	images  string
	ptxas   string

	module         string // path of the module of root
	spaces         []*space.Space
	narrow         *space.Constraint
	stdout, stderr io.Writer
}

// errUsage is wrapped by errors of the command line.
var errUsage = errors.New("usage")

// errDiffer ends diff where generate would change a file.
var errDiffer = errors.New("generated/ is not what go.generate and templates/ make: run go generate ./... to write them")

// Main runs the compiler and returns the exit code.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	err := run(ctx, args, stdout, stderr)
	switch {
	case err == nil, errors.Is(err, pflag.ErrHelp):
		return exitOK
	case errors.Is(err, errDiffer):
		fmt.Fprintln(stderr, err)
		return exitCheck
	case errors.Is(err, errUsage):
		fmt.Fprintln(stderr, err)
		return exitUsage
	}
	fmt.Fprintln(stderr, err)
	return exitFailed
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c := &command{stdout: stdout, stderr: stderr}
	flags := pflag.NewFlagSet("gen", pflag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.SortFlags = false
	flags.StringVarP(&c.root, "root", "C", "", "`folder` of go.generate (default: the nearest one upwards)")
	flags.StringSliceVar(&c.only, "only", nil, "`family` to generate, others are left alone; may be repeated")
	flags.StringVar(&c.space, "space", "committed", "which variants: `committed`, or full for every one that the constraints leave")
	flags.StringVar(&c.where, "where", "", "with --space full: the `constraint`, as in go.generate, that variants must satisfy")
	flags.BoolVar(&c.compile, "compile", true, "compile with nvcc where one is found")
	flags.StringVar(&c.cuda, "cuda", "", "`folder` of the CUDA toolkit (default: .build/cuda, $CUDA_HOME, $CUDA_PATH, $PATH, /usr/local/cuda)")
	flags.BoolVar(&c.allow, "allow", false, "take a CUDA version that is not supported")
	flags.StringSliceVar(&c.archs, "arch", nil, "`architecture` to compile for, such as sm_90; may be repeated")
	flags.StringVar(&c.points, "points", "", "`which` variants to compile: all, held (safe, winners and what hold in go.generate names) or safe (default: all for one architecture, held for several)")
	flags.StringVar(&c.images, "images", "", "`folder` for the images (default: "+images+", in another module "+other+")")
	flags.StringVar(&c.ptxas, "ptxas", "", "`path` of the ptxas of CUDA 12.9, to make images for drivers from 525 on")
	flags.Usage = func() {
		fmt.Fprintf(stderr, "usage: go run ./gen, in another module go tool gen, [flags] [generate | list [FAMILY…] | diff | explain [FAMILY] VARIANT | occupancy | points FOLDER]\n\n%s", flags.FlagUsages())
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return err
		}
		return fmt.Errorf("%w: %w (--help lists the flags)", errUsage, err)
	}
	verb, rest := "generate", flags.Args()
	if len(rest) > 0 {
		verb, rest = rest[0], rest[1:]
	}
	verbs := map[string]func(context.Context, string) error{
		"generate": c.generate, "list": c.list, "diff": c.diff, "explain": c.explain, "occupancy": c.occupancy, "points": c.writeTexts,
	}
	do, ok := verbs[verb]
	if !ok {
		names := []string{"generate", "list", "diff", "explain", "occupancy", "points"}
		return fmt.Errorf("%w: unknown command %q, expected one of %s%s", errUsage, verb, strings.Join(names, " "), didYouMean(verb, names))
	}
	takes := map[string][2]int{"explain": {1, 2}, "points": {1, 1}, "list": {0, math.MaxInt}}[verb]
	if len(rest) < takes[0] || len(rest) > takes[1] {
		return fmt.Errorf("%w: %s takes %s, found %d (--help shows them)", errUsage, verb, cmp.Or(map[string]string{"explain": "1 or 2 arguments", "points": "1 argument"}[verb], "no argument"), len(rest))
	}
	if verb == "list" {
		c.only, rest = append(c.only, rest...), nil
	}
	if c.space != "committed" && c.space != "full" {
		return fmt.Errorf("%w: --space %q, expected committed or full", errUsage, c.space)
	}
	if c.points == "" {
		c.points = "all"
		if len(c.archs) > 1 {
			c.points = "held"
		}
	}
	if c.points != "all" && c.points != "held" && c.points != "safe" {
		return fmt.Errorf("%w: --points %q, expected all, held or safe", errUsage, c.points)
	}
	for _, a := range c.archs {
		if !manifest.IsArch(a) {
			return fmt.Errorf("%w: --arch %q, expected such as sm_90", errUsage, a)
		}
	}
	if c.where != "" {
		if c.space != "full" {
			return fmt.Errorf("%w: --where without --space full", errUsage)
		}
		var err error
		if c.narrow, err = space.ParseConstraint(c.where, "--where"); err != nil {
			return fmt.Errorf("%w: %w", errUsage, err)
		}
	}
	if err := c.readManifest(); err != nil {
		return err
	}
	return do(ctx, strings.Join(rest, ":")) // FAMILY:VARIANT
}

func didYouMean(name string, names []string) string {
	if n := manifest.Nearest(name, names); n != "" {
		return fmt.Sprintf("; did you mean %q?", n)
	}
	return ""
}

// readManifest finds and reads the manifest.
func (c *command) readManifest() error {
	if c.root == "" {
		dir, err := os.Getwd()
		if err != nil {
			return err
		}
		for c.root = dir; ; c.root = filepath.Dir(c.root) {
			if _, err := os.Stat(filepath.Join(c.root, manifest.File)); err == nil {
				break
			}
			if c.root == filepath.Dir(c.root) {
				return fmt.Errorf("no %s in %s or above it", manifest.File, dir)
			}
		}
	}
	data, err := os.ReadFile(filepath.Join(c.root, manifest.File))
	if err != nil {
		return fmt.Errorf("read the manifest: %w", err)
	}
	if c.module, err = modulePath(c.root); err != nil {
		return err
	}
	if c.spaces, err = manifest.Parse(manifest.File, data); err != nil {
		return err
	}
	var names []string
	for _, s := range c.spaces {
		names = append(names, s.Family)
	}
	for _, family := range c.only {
		if !slices.Contains(names, family) {
			return fmt.Errorf("%w: family %q, expected one of %s%s", errUsage, family, strings.Join(names, " "), didYouMean(family, names))
		}
	}
	return nil
}

// modulePath is the path of the module whose root a folder is; empty where it has no go.mod.
func modulePath(root string) (string, error) {
	file := filepath.Join(root, "go.mod")
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	path := modfile.ModulePath(text)
	if err == nil && path == "" {
		err = fmt.Errorf("%s names no module", file)
	}
	return path, err
}

// runStages runs the pure stages.
func (c *command) runStages() (*Output, error) {
	return generate(os.DirFS(filepath.Join(c.root, "templates")), c.spaces, c.options())
}

func (c *command) options() Options {
	o := Options{Full: c.space == "full", Where: c.narrow, Only: c.only, Module: c.module}
	for _, s := range c.spaces {
		if _, err := os.Stat(filepath.Join(c.root, folder, filepath.FromSlash(s.Family)+".go")); err == nil {
			o.There = append(o.There, s.Family)
		}
	}
	return o
}

// generate writes the files that changed and compiles them.
func (c *command) generate(ctx context.Context, _ string) error {
	out, err := c.runStages()
	if err != nil {
		return err
	}
	changes, err := changesOf(c.root, out.Files, c.only)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return errors.New("interrupted: nothing was written")
	}
	if err := applyChanges(c.root, changes); err != nil {
		return err
	}
	written, deleted := 0, 0
	for _, x := range changes {
		if x.New == nil {
			deleted++
		} else {
			written++
		}
	}
	for _, f := range out.Families {
		fmt.Fprintf(c.stderr, "%s: %d variants\n", f.Space.Family, len(f.Points))
	}
	fmt.Fprintf(c.stderr, "%s: %d files, %d written, %d deleted\n", folder, len(out.Files), written, deleted)
	if !c.compile {
		return nil
	}
	return c.compilePacks(ctx, out)
}
