// Package ondemand adds variants to families that the binary was built without. Their
// texts are rendered by
//
//	go run ./gen --only FAMILY --space full points DIR
//
// and compiled when they are loaded or before: by nvcc for a GPU, by the emulated device's own compiler
// there. The tuner tries them; what solves holds their images, and is built with them.
package ondemand

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"coalesce/runtime/device"
	"coalesce/runtime/emulated/texts"
	"coalesce/runtime/group"
	"coalesce/templates"
)

// Index is the file, below the folder, that lists the points.
const Index = "points.json"

// Schema is the first field of the index; its number is the major version.
const Schema = "points/1"

// index is the form of the file, which package gen writes.
type index struct {
	Schema string   `json:"schema"`
	Family string   `json:"family"`
	Hash   string   `json:"hash"` // of the family's bodies and headers, 16 hexadecimal digits
	Params []string `json:"params"`
	Points []point  `json:"points"`
}

type point struct {
	Label  string   `json:"label"`
	Symbol string   `json:"symbol"`
	Hash   string   `json:"hash"`
	Values []string `json:"values"`
	Study  bool     `json:"study,omitempty"`
	File   string   `json:"file"` // below the folder
}

// Points are the rendered texts of a family.
type Points struct {
	dir   string
	index index
	files map[uint64]string // files of the variants that Extend added, by hash

	headers fs.FS // that the family has besides the module's
}

// maxIndex is the longest index that is read, in bytes: a million variants.
const maxIndex = 1 << 29

func readIndex(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxIndex+1))
	if err == nil && len(data) > maxIndex {
		err = fmt.Errorf("%s: found more than %d bytes, expected at most that", path, maxIndex)
	}
	return data, err
}

// Open reads the index of a folder.
func Open(dir string) (*Points, error) {
	path := filepath.Join(dir, Index)
	data, err := readIndex(path)
	if err != nil {
		return nil, fmt.Errorf("open points: %w", err)
	}
	p := &Points{dir: dir, files: map[uint64]string{}}
	if err := json.Unmarshal(data, &p.index); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if major, _, _ := strings.Cut(p.index.Schema, "."); major != Schema {
		return nil, fmt.Errorf("%s: \"schema\" is %q, expected %q", path, p.index.Schema, Schema)
	}
	return p, nil
}

// Family is the name of the points' family.
func (p *Points) Family() string { return p.index.Family }

// Extend adds the points that f lacks. It is for the start of a program: nobody may use f
// meanwhile. The bodies of kernels must be those that f was made from.
func (p *Points) Extend(f *device.Family) error {
	path := filepath.Join(p.dir, Index)
	if want := fmt.Sprintf("%016x", f.Hash); f.Name != p.index.Family || p.index.Hash != want || !slices.Equal(p.index.Params, f.Params) {
		return fmt.Errorf("%s: found %s of the hash %s, expected %s of %s: render the points with the bodies of kernels that this binary was built from",
			path, p.index.Family, p.index.Hash, f.Name, want)
	}
	for _, x := range p.index.Points {
		hash, err := strconv.ParseUint(x.Hash, 16, 64)
		if err != nil || len(x.Values) != len(f.Params) || !filepath.IsLocal(filepath.FromSlash(x.File)) {
			return fmt.Errorf("%s: point %.80q: found the hash %.20q, %d values and the file %.80q, expected %d values and a file below the folder",
				path, x.Label, x.Hash, len(x.Values), x.File, len(f.Params))
		}
		if f.Variant(x.Label) != nil {
			continue
		}
		f.Variants = append(f.Variants, device.Variant{Label: x.Label, Symbol: x.Symbol, Hash: hash, Values: x.Values, Study: x.Study, Pack: len(f.Packs)})
		f.Packs = append(f.Packs, device.Pack{File: x.File, Hash: hash})
		p.files[hash] = x.File
	}
	f.Source = templates.Layers{os.DirFS(p.dir), f.Source}
	p.headers = f.Headers
	return nil
}

// Len is the number of variants that Extend added.
func (p *Points) Len() int { return len(p.files) }

// Added reports whether Extend added a variant of a hash.
func (p *Points) Added(hash uint64) bool { return p.files[hash] != "" }

// WithAdded is code that holds the added variants too, and compiles each when it is asked for.
func (p *Points) WithAdded(code device.Code) device.Code { return &compiling{code, p} }

type compiling struct {
	device.Code
	points *Points
}

func (c *compiling) CheckVariant(variant uint64, major, minor int) error {
	if c.points.Added(variant) {
		return nil
	}
	return c.Code.CheckVariant(variant, major, minor)
}

func (c *compiling) Image(variant uint64, major, minor int) (string, []byte, bool, error) {
	if !c.points.Added(variant) {
		return c.Code.Image(variant, major, minor)
	}
	name, code, err := c.points.Compile(context.Background(), variant, fmt.Sprintf("%d%d", major, minor))
	return name, code, false, err
}

// compileLimit is how long nvcc may take for a variant.
const compileLimit = 5 * time.Minute

// Compile returns the file of the image of an added variant for an architecture, "90" for sm_90.
// The image is the one in the folder, or nvcc makes it there now. Several goroutines and processes may call it.
func (p *Points) Compile(ctx context.Context, variant uint64, arch string) (name string, code []byte, err error) {
	name = fmt.Sprintf("%016x.sm_%s.fatbin", variant, arch)
	image := filepath.Join(p.dir, name)
	if code, err = os.ReadFile(image); err == nil {
		return name, code, nil
	}
	nvcc, err := compiler()
	if err != nil {
		return "", nil, err
	}
	work, err := os.MkdirTemp("", "coalesce-points-*")
	if err != nil {
		return "", nil, err
	}
	defer os.RemoveAll(work)
	for _, files := range []fs.FS{templates.Files, p.headers} { // a family's own lie over the others
		if files == nil {
			continue
		}
		if err := unpackTexts(files, filepath.Join(work, "templates")); err != nil {
			return "", nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, compileLimit)
	defer cancel()
	made := filepath.Join(work, name)
	cmd := group.Command(ctx, nvcc, "-fatbin", "-O3", "-std=c++17", "-gencode", "arch=compute_"+arch+",code=sm_"+arch,
		"-I", filepath.Join(work, "templates"), "-o", made, filepath.Join(p.dir, filepath.FromSlash(p.files[variant])))
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", nil, fmt.Errorf("compile %s: %w: %.2000s", p.files[variant], errors.Join(err, ctx.Err()), said)
	}
	if code, err = os.ReadFile(made); err != nil {
		return "", nil, err
	}
	half, err := os.CreateTemp(p.dir, name+".*.half")
	if err != nil {
		return "", nil, err
	}
	_, err = half.Write(code)
	if err = errors.Join(err, half.Chmod(0o644), half.Close()); err == nil {
		err = os.Rename(half.Name(), image)
	}
	if err != nil {
		os.Remove(half.Name())
	}
	return name, code, err
}

// unpackTexts writes texts, of which some may be packed, into a folder.
func unpackTexts(from fs.FS, to string) error {
	files := texts.Files{FS: from}
	return fs.WalkDir(from, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at := filepath.Join(to, filepath.FromSlash(name))
		if e.IsDir() {
			return os.MkdirAll(at, 0o777)
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(at, text, 0o666)
	})
}

// ErrNoCompiler is wrapped where no nvcc is found.
var ErrNoCompiler = errors.New("no nvcc")

// compiler finds nvcc: of $CUDA_HOME, .build/cuda, $PATH and /usr/local/cuda.
func compiler() (string, error) {
	for _, home := range []string{os.Getenv("CUDA_HOME"), filepath.Join(".build", "cuda"), "/usr/local/cuda"} {
		path := filepath.Join(home, "bin", "nvcc")
		if _, err := os.Stat(path); home != "" && err == nil {
			return filepath.Abs(path)
		}
	}
	path, err := exec.LookPath("nvcc")
	if err != nil {
		return "", fmt.Errorf("%w in $CUDA_HOME, .build/cuda, /usr/local/cuda and $PATH: expected the CUDA toolkit, which compiles variants that are not in the binary", ErrNoCompiler)
	}
	return path, nil
}
