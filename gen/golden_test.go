package main

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/rogpeppe/go-internal/diff"

	"coalesce/gen/manifest"
)

var update = flag.Bool("update", false, "rewrite the golden archives in testdata")

// toyArchive holds a family that is not of this module: inputs, and what
// becomes of them below generated/.
const toyArchive = "testdata/toy.txtar"

// readToy parses the archive.
func readToy(t *testing.T) *txtar.Archive {
	t.Helper()
	archive, err := txtar.ParseFile(toyArchive)
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

// below returns the archive's files below a folder, by path within it.
func below(archive *txtar.Archive, dir string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for _, f := range archive.Files {
		if name, ok := strings.CutPrefix(f.Name, dir+"/"); ok {
			fsys[name] = &fstest.MapFile{Data: f.Data}
		}
	}
	return fsys
}

func file(archive *txtar.Archive, name string) []byte {
	for _, f := range archive.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

// generateToy runs the pure pipeline over the archive's inputs.
func generateToy(t *testing.T, archive *txtar.Archive) map[string][]byte {
	t.Helper()
	spaces, err := manifest.Parse(manifest.File, file(archive, manifest.File))
	if err != nil {
		t.Fatal(err)
	}
	out, err := generate(below(archive, "templates"), spaces, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return out.Files
}

func TestGolden(t *testing.T) {
	archive := readToy(t)
	got := generateToy(t, archive)
	if *update {
		archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return strings.HasPrefix(f.Name, folder+"/") })
		for _, name := range slices.Sorted(maps.Keys(got)) {
			archive.Files = append(archive.Files, txtar.File{Name: name, Data: got[name]})
		}
		if err := os.WriteFile(toyArchive, txtar.Format(archive), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want := below(archive, folder)
	for name, text := range got {
		golden := want[strings.TrimPrefix(name, folder+"/")]
		if golden == nil {
			t.Errorf("%s is not in %s", name, toyArchive)
			continue
		}
		if d := diff.Diff("golden/"+name, golden.Data, "now/"+name, text); d != nil {
			t.Errorf("%s", d)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files, %s has %d", len(got), toyArchive, len(want))
	}
	if t.Failed() {
		t.Log("if the change is meant: go test ./gen -run TestGolden -update")
	}
}

// TestDeterminism: the same inputs make the same bytes.
func TestDeterminism(t *testing.T) {
	archive := readToy(t)
	first := generateToy(t, archive)
	for range 3 {
		again := generateToy(t, archive)
		for name, text := range first {
			if string(again[name]) != string(text) {
				t.Fatalf("%s differs from run to run", name)
			}
		}
		if len(again) != len(first) {
			t.Fatalf("%d files, then %d", len(first), len(again))
		}
	}
}

// extract writes the archive's files that keep takes below a fresh folder.
func extract(t *testing.T, archive *txtar.Archive, root string, keep func(name string) bool) {
	t.Helper()
	for _, f := range archive.Files {
		if !keep(f.Name) {
			continue
		}
		name := filepath.Join(root, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
