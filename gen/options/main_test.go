package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is committed is what the structs declare.
func TestFilesAreCurrent(t *testing.T) {
	all, err := files(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 4 {
		t.Errorf("found the declarations of %d packages, expected more", len(all))
	}
	for path, text := range all {
		found, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(found, text) {
			t.Errorf("%s differs from what the structs declare: run go run ./gen/options", path)
		}
	}
}

// A module whose struct declares an option wrongly gets an error with the field's place.
func TestMistakes(t *testing.T) {
	for field, want := range map[string]string{
		"A int `option:\"a\"`":                                      "found no comment",
		"// text\n\tA chan int `option:\"a\"`":                      "found the type chan int",
		"// text\n\tA int `option:\"lambda\"`":                      "is a keyword of Python",
		"// text\n\tA string `option:\"a\" words:\"no(\"`":          "words: ",
		"// text\n\tA string `option:\"a\" words:\"other.List()\"`": "expected one that the file imports",
		"A int `option:\"\"`":                                       "expected a struct with options",
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"go.mod":       "module coalesce\n\ngo 1.26\n",
			"solvers/s.go": "package solvers\n\ntype Options struct {\n\t" + field + "\n}\n",
		} {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := files(dir); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "s.go:4") && !strings.Contains(err.Error(), "s.go:5") {
			t.Errorf("%s: found the error %v, expected %q and its place", field, err, want)
		}
	}
}
