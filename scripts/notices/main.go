// Command notices writes THIRD_PARTY_NOTICES.md: the licences of Go and of all
// modules that the binaries link, from the module cache. It looks at the plain
// binary for every system it is built for, at that with MPI, and at the CUDA binary.
//
//	go run ./scripts/notices          writes the file
//	go run ./scripts/notices -check   fails where the file is stale
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const target = "THIRD_PARTY_NOTICES.md"

func main() {
	check := flag.Bool("check", false, "compare with what is there, write nothing")
	flag.Parse()
	if err := run(".", *check); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

func run(root string, check bool) error {
	text, err := notices(root)
	if err != nil {
		return err
	}
	path := filepath.Join(root, target)
	if !check {
		return os.WriteFile(path, text, 0o644)
	}
	there, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(there, text) {
		return fmt.Errorf("%s is stale: run go run ./scripts/notices", target)
	}
	return nil
}

// A module is a dependency as `go list` describes one.
type module struct {
	Path, Version, Dir string
	Main               bool
}

// builds are the systems and tags whose binaries are given away.
var builds = []struct{ system, tags string }{{"linux", ""}, {"darwin", ""}, {"windows", ""}, {"linux", "mpi"}, {"linux", "cuda"}}

// notices composes the file.
func notices(root string) ([]byte, error) {
	found := map[string]module{}
	for _, b := range builds {
		list, err := linked(root, b.system, b.tags)
		if err != nil {
			return nil, err
		}
		for _, m := range list {
			found[m.Path] = m
		}
	}
	goroot, err := output(root, nil, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	standard := module{Path: "The Go standard library and runtime", Dir: strings.TrimSpace(string(goroot))}

	var b bytes.Buffer
	b.WriteString("# Third-party notices\n\nWritten by `go run ./scripts/notices`. The binaries link what follows.\n")
	paths := slices.Sorted(func(yield func(string) bool) {
		for path := range found {
			if !yield(path) {
				return
			}
		}
	})
	list := []module{standard}
	for _, path := range paths {
		list = append(list, found[path])
	}
	for _, m := range list {
		if err := writeSection(&b, m); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// linked lists the modules besides this one that coalesce links.
func linked(root, system, tags string) ([]module, error) {
	cgo := "0"
	if tags != "" {
		cgo = "1"
	}
	// -e: the CUDA build's images may not have been made.
	text, err := output(root, []string{"GOOS=" + system, "GOARCH=amd64", "CGO_ENABLED=" + cgo},
		"list", "-e", "-deps", "-tags="+tags, "-json=Module,Error", "./cmd/coalesce")
	if err != nil {
		return nil, err
	}
	var list []module
	decoder := json.NewDecoder(bytes.NewReader(text))
	for {
		var p struct{ Module *module }
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if p.Module == nil || p.Module.Main {
			continue
		}
		if p.Module.Dir == "" {
			return nil, fmt.Errorf("module %s is not in the module cache: run go mod download", p.Module.Path)
		}
		list = append(list, *p.Module)
	}
}

// writeSection writes a module's licence files, word for word.
func writeSection(b *bytes.Buffer, m module) error {
	entries, err := os.ReadDir(m.Dir)
	if err != nil {
		return err
	}
	title := m.Path
	if m.Version != "" {
		title += " " + m.Version
	}
	fmt.Fprintf(b, "\n## %s\n", title)
	count := 0
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if e.IsDir() || !slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE"}, func(p string) bool { return strings.HasPrefix(name, p) }) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.Dir, e.Name()))
		if err != nil {
			return err
		}
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
		fmt.Fprintf(b, "\n%s:\n\n````\n%s\n````\n", e.Name(), bytes.TrimRight(text, "\n"))
		count++
	}
	if count == 0 {
		return fmt.Errorf("%s has no licence file in %s", m.Path, m.Dir)
	}
	return nil
}

func output(dir string, env []string, args ...string) ([]byte, error) {
	command := exec.Command("go", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), env...)
	var talk bytes.Buffer
	command.Stderr = &talk
	text, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w: %s", args[0], err, talk.String())
	}
	return text, nil
}
