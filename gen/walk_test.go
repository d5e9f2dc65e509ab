package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestWalk adds a family as CONTRIBUTING.md says to: a block in go.generate,
// bodies, a reference (the golden is TestGolden's). An overlay lays it over this
// module, in which nothing of gen, runtime or autotune is touched, so that the
// module's packages are compiled once for all tests. It runs every variant on the
// emulated device against the reference.
func TestWalk(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles kernels for the emulated device: left out with -short")
	}
	archive := readToy(t)
	dir := t.TempDir()
	for _, part := range []string{"go.mod", "go.generate", "templates"} {
		copyTree(t, filepath.Join("..", part), filepath.Join(dir, part))
	}
	manifest := filepath.Join(dir, "go.generate")
	block := file(archive, "go.generate")
	before, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	write(t, manifest, string(before)+"\n"+string(block))
	extract(t, archive, dir, func(name string) bool {
		return strings.HasPrefix(name, "templates/toy/") || strings.HasPrefix(name, "solvers/toy/")
	})
	code, _, talk := gen(t, dir, "--only", "toy/scale")
	want(t, "generate", code, 0, talk, "toy/scale: 6 variants")
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	added := map[string]string{} // files of the family, by path in this module
	for _, part := range []string{"generated/toy", "templates/toy", "solvers/toy"} {
		err := filepath.WalkDir(filepath.Join(dir, part), func(name string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				added[filepath.Join(root, strings.TrimPrefix(name, dir))] = name
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}

	t.Run("types", func(t *testing.T) {
		if errs := load(t, root, added, "./generated/toy"); len(errs) > 0 {
			t.Errorf("the generated package does not compile: %v", errs)
		}
	})
	t.Run("variants", func(t *testing.T) {
		overlay, err := json.Marshal(map[string]any{"Replace": added})
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "overlay.json"), string(overlay))
		binary := filepath.Join(dir, "toy.test")
		build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-overlay", filepath.Join(dir, "overlay.json"), "-o", binary, "./solvers/toy")
		build.Dir = root
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("go test -c ./solvers/toy: %v\n%s", err, out)
		}
		run := exec.CommandContext(t.Context(), binary, "-test.v")
		run.Dir = filepath.Join(dir, "solvers/toy")
		out, err := run.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Fatalf("tests of solvers/toy: %v\n%s", err, out)
		}
		if strings.Contains(string(out), "--- SKIP") {
			t.Skipf("the variants were generated but not run:\n%s", out)
		}
	})
	t.Run("guards", func(t *testing.T) {
		abi := filepath.Join(root, "runtime/device/device.go")
		text, err := os.ReadFile(abi)
		if err != nil {
			t.Fatal(err)
		}
		newer := strings.Replace(string(text), "const ABI = ", "const ABI = 1 + ", 1)
		if newer == string(text) {
			t.Fatal("runtime/device has no constant ABI")
		}
		added[abi] = filepath.Join(dir, "device.go")
		write(t, added[abi], newer)
		found := false
		for _, e := range load(t, root, added, "./generated/toy") {
			found = found || strings.Contains(e.Msg, "out of bounds")
		}
		if !found {
			t.Error("bindings compile against an ABI that they were not generated for")
		}
	})
}

// load type-checks a package below dir, with other files over those there. What it imports is known by the compiler's types.
func load(t *testing.T, dir string, over map[string]string, pattern string) []packages.Error {
	t.Helper()
	config := &packages.Config{
		Dir: dir, Context: t.Context(), Overlay: map[string][]byte{},
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesSizes |
			packages.NeedImports | packages.NeedExportFile,
	}
	for name, from := range over {
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		config.Overlay[name] = text
	}
	loaded, err := packages.Load(config, pattern)
	if err != nil {
		t.Fatal(err)
	}
	var errs []packages.Error
	for _, p := range loaded {
		errs = append(errs, p.Errors...)
	}
	return errs
}

// copyTree copies a file or folder, without tests.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	info, err := os.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	if info.IsDir() {
		entries, err := os.ReadDir(from)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			copyTree(t, filepath.Join(from, e.Name()), filepath.Join(to, e.Name()))
		}
		return
	}
	if strings.HasSuffix(from, "_test.go") {
		return
	}
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	write(t, to, string(text))
}
