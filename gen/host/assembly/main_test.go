package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestCommittedFilesAreCurrent(t *testing.T) {
	files, err := renderFiles()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("../../../runtime/host/kernels", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("runtime/host/kernels/%s is stale; run: go run ./gen/host/assembly", name)
		}
	}
}
