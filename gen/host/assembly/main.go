// Command assembly writes the vector kernels of runtime/host/kernels, with their Go
// declarations: those of amd64 using avo, those of arm64 by its package. Run from the repository's root:
//
//	go run ./gen/host/assembly
package main

import (
	"flag"
	"fmt"
	"go/format"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"

	"coalesce/gen/host/assembly/arm64"
	"coalesce/gen/host/assembly/assignment"
	"coalesce/gen/host/assembly/csg"
	"coalesce/gen/host/assembly/lapjv"
	"coalesce/gen/host/assembly/linear"
	"coalesce/gen/host/assembly/qubo"
)

// What writes kernels, by the folder of a problem and the instructions they need.
var (
	amd64Kernels = map[string]func(*build.Context){
		"csg/avx512":                    csg.AVX512,
		"csg/avx2":                      csg.AVX2,
		"csg/sse42":                     csg.SSE42,
		"assignment/avx512":             assignment.Kernels,
		"assignment/lapjv/avx512":       lapjv.AVX512,
		"assignment/lapjv/avx2":         lapjv.AVX2,
		"assignment/lapjv/avx512_small": lapjv.Small,
		"assignment/lapjv/avx2_small":   lapjv.SmallAVX2,
		"linear/avx2":                   linear.AVX2,
		"qubo/avx512":                   qubo.Kernels,
	}
	arm64Kernels = map[string]func(*arm64.File){
		"csg/neon": csg.NEON,
	}
)

const command = "go run ./gen/host/assembly"

func main() {
	dir := flag.String("dir", "runtime/host/kernels", "folder of the packages, one a problem")
	flag.Parse()
	if err := write(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "assembly:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	files, err := renderFiles()
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// renderFiles returns the generated files by their paths below runtime/host/kernels.
func renderFiles() (map[string][]byte, error) {
	files := map[string][]byte{}
	for name, kernels := range amd64Kernels {
		w := build.NewContext()
		kernels(w)
		file, err := w.Result()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := pass.Compile.Execute(file); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		config := printer.Config{Argv: strings.Fields(command), Pkg: path.Base(path.Dir(name))}
		text, err := printer.NewGoAsm(config).Print(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		stubs, err := printer.NewStubs(config).Print(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if stubs, err = format.Source(stubs); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files[name+"_amd64.s"], files[name+"_amd64.go"] = text, stubs
	}
	for name, kernels := range arm64Kernels {
		w := arm64.New(command, path.Dir(name))
		kernels(w)
		files[name+"_arm64.s"], files[name+"_arm64.go"] = w.Files()
	}
	return files, nil
}
