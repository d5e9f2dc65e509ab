package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestWalk adds a family as CONTRIBUTING.md says to: a block in go.generate,
// bodies, a reference (the golden is TestGolden's). It does so in a copy of
// the module, in which nothing of gen, runtime or autotune is touched, and
// runs every variant on the emulated device against the reference.
func TestWalk(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a copy of the runtime: left out with -short")
	}
	archive := readToy(t)
	dir := t.TempDir()
	for _, part := range []string{"go.mod", "go.sum", "go.generate", "templates", "runtime/device", "runtime/emulated", "runtime/group", "runtime/guard"} {
		copyTree(t, filepath.Join("..", filepath.FromSlash(part)), filepath.Join(dir, filepath.FromSlash(part)))
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
	// The copy has no other family: its list names only what is there.
	if err := os.Remove(filepath.Join(dir, "generated/families.go")); err != nil {
		t.Fatal(err)
	}

	t.Run("types", func(t *testing.T) {
		if errs := load(t, dir, "./generated/toy"); len(errs) > 0 {
			t.Errorf("the generated package does not compile: %v", errs)
		}
	})
	t.Run("variants", func(t *testing.T) {
		command := exec.CommandContext(t.Context(), "go", "test", "-trimpath", "-v", "./solvers/toy")
		command.Dir = dir
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("go test ./solvers/toy: %v\n%s", err, out)
		}
		if strings.Contains(string(out), "--- SKIP") {
			t.Skipf("the variants were generated but not run:\n%s", out)
		}
	})
	t.Run("guards", func(t *testing.T) {
		abi := filepath.Join(dir, "runtime/device/device.go")
		text, err := os.ReadFile(abi)
		if err != nil {
			t.Fatal(err)
		}
		newer := strings.Replace(string(text), "const ABI = ", "const ABI = 1 + ", 1)
		if newer == string(text) {
			t.Fatal("runtime/device has no constant ABI")
		}
		write(t, abi, newer)
		found := false
		for _, e := range load(t, dir, "./generated/toy") {
			found = found || strings.Contains(e.Msg, "out of bounds")
		}
		if !found {
			t.Error("bindings compile against an ABI that they were not generated for")
		}
	})
}

// load type-checks a package below dir.
func load(t *testing.T, dir, pattern string) []packages.Error {
	t.Helper()
	config := &packages.Config{
		Dir: dir, Context: t.Context(),
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedImports | packages.NeedDeps,
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
