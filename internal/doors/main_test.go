package main

import (
	"os"
	"path/filepath"
	"testing"
)

// What is committed is what the declarations say.
func TestFilesAreCurrent(t *testing.T) {
	all, err := files(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range all {
		found, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(path)))
		if err != nil {
			t.Fatal(err)
		}
		if string(found) != text {
			t.Errorf("%s differs from what the declarations say: run go run ./internal/doors", path)
		}
	}
}
