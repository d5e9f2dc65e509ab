// Package bundle carries the compiled images of all packs inside the CUDA
// binary, named by the packs' hashes. go generate ./... fills its folder
// images, which git ignores, and the build tag cuda embeds it; any other build
// carries none and says so.
package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// ErrNone is wrapped when the build has no images at all.
var ErrNone = errors.New("this build has no CUDA images")

// Image returns the fatbin of the pack with that hash. The error says what to
// run when there is none.
func Image(pack uint64) ([]byte, error) { return read(embedded(), pack) }

func read(fsys fs.FS, pack uint64) ([]byte, error) {
	if fsys == nil {
		return nil, fmt.Errorf("%w: build the CUDA binary with scripts/build-cuda", ErrNone)
	}
	data, err := fs.ReadFile(fsys, fmt.Sprintf("images/%016x.fatbin", pack))
	if errors.Is(err, fs.ErrNotExist) {
		n := 0
		if entries, err := fs.ReadDir(fsys, "images"); err == nil {
			n = len(entries)
		}
		return nil, fmt.Errorf("no image of pack %016x among the %d of this build: "+
			"it was built before the last go generate ./... ; run scripts/build-cuda: %w", pack, n, fs.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("image of pack %016x: %w", pack, err)
	}
	return data, nil
}

// A Description says what compiled the images of a build.
type Description struct {
	CUDA          string   `json:"cuda"`          // the compiler's version, such as "13.0.88"
	Architectures []string `json:"architectures"` // such as "sm_90", in the order they were asked for
	Flags         []string `json:"flags"`         // of the compiler, that its code depends on, such as "-O3"
}

// Compiler is "nvcc 13.0.88 -O3 -std=c++17"; empty where the flags were not described.
func (d Description) Compiler() string {
	if len(d.Flags) == 0 {
		return ""
	}
	return strings.Join(append([]string{"nvcc", d.CUDA}, d.Flags...), " ")
}

// Describe returns the description that the compiler of kernels left with the
// images. The error wraps ErrNone when the build has none.
func Describe() (Description, error) { return describe(embedded()) }

func describe(fsys fs.FS) (Description, error) {
	var d Description
	if fsys == nil {
		return d, ErrNone
	}
	text, err := fs.ReadFile(fsys, "images/build.json")
	if err != nil {
		return d, fmt.Errorf("description of the CUDA images: %w", err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return d, fmt.Errorf("description of the CUDA images: %w", err)
	}
	return d, nil
}
