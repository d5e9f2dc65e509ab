package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Other modules are generated for: their generated code imports their own packages, bodies include this module's headers, and
// host kernels are made of a Go file. A second run changes nothing, and diff finds a body that was changed.
func TestOtherModules(t *testing.T) {
	for example, want := range map[string][]string{
		"kernel":     {"example.org/heat/generated/heat", "Headers: templates.Files,", "go:embed */*/*.cuh"},
		"hostkernel": {"example.org/transpose/generated/matrix", "matrix_transpose_tile8_ordercolumns_float64_tile  = 8", "Transpose(block, blocks, host.Slice["},
	} {
		root := t.TempDir()
		for _, name := range []string{"go.mod", "go.generate"} {
			text, err := os.ReadFile(filepath.Join("..", "examples", example, name))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, name), text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.CopyFS(filepath.Join(root, "templates"), os.DirFS(filepath.Join("..", "examples", example, "templates"))); err != nil {
			t.Fatal(err)
		}
		run := func(args ...string) (int, string) {
			var out, talk bytes.Buffer
			code := Main(t.Context(), append([]string{"-C", root, "--compile=false"}, args...), &out, &talk)
			return code, out.String() + talk.String()
		}
		if code, text := run(); code != exitOK {
			t.Fatalf("%s: exit code %d: %s", example, code, text)
		}
		var all strings.Builder
		err := filepath.WalkDir(root, func(name string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			text, err := os.ReadFile(name)
			all.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, some := range want {
			if !strings.Contains(all.String(), some) {
				t.Errorf("%s: nothing generated has %q", example, some)
			}
		}
		if code, text := run("diff"); code != exitOK {
			t.Errorf("%s: diff after generate: exit code %d: %s", example, code, text)
		}
		bodies, err := filepath.Glob(filepath.Join(root, "templates", "*", "*", "*"))
		if err != nil || len(bodies) != 1 {
			t.Fatalf("bodies %v, %v", bodies, err)
		}
		text, err := os.ReadFile(bodies[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(bodies[0], bytes.Replace(text, []byte("n + "), []byte("n + 0 + "), 1), 0o666); err != nil {
			t.Fatal(err)
		}
		if code, _ := run("diff"); code != exitCheck {
			t.Errorf("%s: diff after a change of the body: exit code %d, expected %d", example, code, exitCheck)
		}
	}
}
