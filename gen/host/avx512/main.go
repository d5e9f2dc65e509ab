// Command avx512 writes the AVX-512 kernels of runtime/host/kernels, with their Go
// declarations, using avo. Run from the repository's root:
//
//	go run ./gen/host/avx512
package main

import (
	"flag"
	"fmt"
	"go/format"
	"os"
	"path/filepath"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"

	"coalesce/gen/host/avx512/assignment"
	"coalesce/gen/host/avx512/csg"
	"coalesce/gen/host/avx512/qubo"
)

// kernels are, by problem, what writes them.
var kernels = map[string]func(*build.Context){
	"csg":        csg.Kernels,
	"assignment": assignment.Kernels,
	"qubo":       qubo.Kernels,
}

func main() {
	dir := flag.String("dir", "runtime/host/kernels", "folder of the packages, one a problem")
	flag.Parse()
	if err := write(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "avx512:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	files, err := render()
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

// render returns the generated files by their paths below runtime/host/kernels.
func render() (map[string][]byte, error) {
	files := map[string][]byte{}
	for problem, kernels := range kernels {
		w := build.NewContext()
		kernels(w)
		file, err := w.Result()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", problem, err)
		}
		if err := pass.Compile.Execute(file); err != nil {
			return nil, fmt.Errorf("%s: %w", problem, err)
		}
		config := printer.Config{Argv: []string{"go", "run", "./gen/host/avx512"}, Pkg: problem}
		text, err := printer.NewGoAsm(config).Print(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", problem, err)
		}
		stubs, err := printer.NewStubs(config).Print(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", problem, err)
		}
		if stubs, err = format.Source(stubs); err != nil {
			return nil, fmt.Errorf("%s: %w", problem, err)
		}
		files[problem+"/avx512_amd64.s"], files[problem+"/avx512_amd64.go"] = text, stubs
	}
	return files, nil
}
